// Plain numbers in text, found many at a time, against a look at each character.

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "lib/base/number_window.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using detail::NumberWindow;
using detail::PlainNumber;

namespace {

/// What the window may know: it looks at 64 characters, and at none close to the end.
constexpr std::size_t kWindow = 64, kSlack = 16;

std::string random_text(test::Rng& rng, std::size_t size) {
  constexpr std::string_view kCharacters = "0123456789.-,;\n e+\"\x80\xB0\xFF";
  std::string text;
  while (text.size() < size) {
    const auto digits = [&](std::uint64_t most) {
      for (std::uint64_t n = rng.below(most + 1); n > 0; --n) text += kCharacters[rng.below(10)];
    };
    switch (rng.below(8)) {
      case 0:
        text += kCharacters[rng.below(kCharacters.size())];
        break;
      case 1:
        digits(90);
        break;
      default:
        if (rng.chance(30)) text += '-';
        digits(10);
        if (rng.chance(70)) text += '.';
        digits(10);
        text += ',';
    }
  }
  return text;
}

/// The number at `p`, one character after the other.
PlainNumber naive(std::string_view p) {
  PlainNumber number;
  number.minus = !p.empty() && p[0] == '-' ? 1 : 0;
  std::size_t at = number.minus, points = 0, digits = 0;
  number.point = std::string_view::npos;
  for (; at < p.size() && (p[at] == '.' || (p[at] >= '0' && p[at] <= '9')); ++at) {
    if (p[at] != '.') {
      ++digits;
    } else if (points++ == 0) {
      number.point = at;
    }
  }
  if (points == 0) number.point = at;
  number.length = at;
  return points > 1 || digits == 0 ? PlainNumber{} : number;
}

template <class T>
void check_value(const char* p, const PlainNumber& number) {
  T value{}, expected{};
  if (!NumberWindow::read(p, number, value)) {
    // Only where it is a long one, or T has no place for it.
    const bool few = number.whole_digits() <= 8 && number.places() <= 8 &&
                     number.whole_digits() + number.places() <= 15;
    if (std::is_same_v<T, double>) CHECK(!few);
    if (std::is_same_v<T, std::int64_t>) CHECK((!few || number.has_point()));
    return;
  }
  if (number.minus != 0 && std::is_unsigned_v<T>) {
    CHECK(value == 0);  // minus zero, which std::from_chars reads to signed types alone
    return;
  }
  const auto end = std::from_chars(p, p + number.length, expected);
  REQUIRE(end.ec == std::errc());
  CHECK(end.ptr == p + number.length);
  CHECK(std::memcmp(&value, &expected, sizeof value) == 0);
}

/// `read_at` against the reader that looks at one character after the other.
template <class T>
void check_read_at(NumberWindow& window, const char* p, const char* end) {
  T value{}, expected{};
  const detail::NumberText text = detail::read_number(p, end, expected);
  const detail::NumberText got = window.read_at(p, value);
  CHECK(got.end == text.end);
  CHECK(got.error == text.error);
  if (text.error == detail::NumberError::none) {
    CHECK(std::memcmp(&value, &expected, sizeof value) == 0);
  }
}

}  // namespace

TEST_CASE("number window: any place of any text, visited in any order, is as a naive look says") {
  test::Rng rng(30);
  for (int round = 0; round < 40; ++round) {
    const std::string text = random_text(rng, round < 10 ? rng.below(200) : 2000);
    const char* const end = text.data() + text.size();
    NumberWindow window(end);
    std::size_t at = 0;
    for (int step = 0; step < 3000; ++step) {
      CAPTURE(text.substr(at, 80));
      const PlainNumber expected = naive(std::string_view(text).substr(at));
      const PlainNumber found = window.at(text.data() + at);
      check_read_at<double>(window, text.data() + at, end);
      check_read_at<float>(window, text.data() + at, end);
      check_read_at<std::int64_t>(window, text.data() + at, end);
      check_read_at<std::uint16_t>(window, text.data() + at, end);
      if (found.length > 0) {
        CHECK(found.length == expected.length);
        CHECK(found.point == expected.point);
        CHECK(found.minus == expected.minus);
        check_value<double>(text.data() + at, found);
        check_value<float>(text.data() + at, found);
        check_value<std::int64_t>(text.data() + at, found);
        check_value<std::uint8_t>(text.data() + at, found);
        check_value<std::uint32_t>(text.data() + at, found);
#if defined(__SSE2__)
      } else if (text.size() - at >= kWindow + kSlack) {
        CHECK((expected.length == 0 || expected.length >= kWindow));
#endif
      }
      at = rng.chance(10) ? rng.below(text.size() + 1)
                          : std::min(text.size(), at + std::max<std::size_t>(found.length, 1));
    }
  }
}

TEST_CASE("number window: what looks like a number and is none") {
  for (const std::string_view text : {"", "-", ".", "-.", "1.2.3", "--1", "+1", "e5", " 1"}) {
    CAPTURE(text);
    const std::string padded = std::string(text) + "," + std::string(200, ' ');
    NumberWindow window(padded.data() + padded.size());
    CHECK(window.at(padded.data()).length == 0);
  }
}

TEST_CASE("number window: a field that is a plain number, or is none") {
  test::Rng rng(32);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = random_text(rng, 100);
    const char* const p = text.data();
    const std::size_t size = rng.below(40);
    const std::string_view field(p, size);
    CAPTURE(field);
    const PlainNumber expected = naive(field);
    const PlainNumber found = detail::plain_number(p, size, p + text.size());
    CHECK(detail::plain_number(p, size, p + kWindow - 1).length == 0);
    if (found.length > 0) {
      CHECK(found.length == size);
      CHECK(found.point == expected.point);
      CHECK(found.minus == expected.minus);
#if defined(__SSE2__)
    } else if (size < 32) {
      CHECK((expected.length == 0 || expected.length < size));
#endif
    }
    CHECK((found.length == 0 || expected.length == size));
  }
}

#if defined(__SSE2__)
TEST_CASE("number window: ends of digits, and two numbers at once, are as a naive look says") {
  test::Rng rng(31);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(rng, 80);
    const char* const p = text.data();
    CHECK_FALSE(detail::DigitBits::may_look(p, p + kWindow + 7));
    REQUIRE(detail::DigitBits::may_look(p, p + kWindow + 8));
    detail::DigitBits bits(p);
    CAPTURE(text);
    for (std::size_t i = 0; i < kWindow; ++i) {
      if (p[i] < '0' || p[i] > '9') CHECK(bits.next_end() == i);
    }
    CHECK(bits.next_end() == kWindow - 1);
  }
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t n = rng.below(9), m = rng.below(9);
    std::string first, second;
    while (first.size() < n) first += static_cast<char>('0' + rng.below(10));
    while (second.size() < m) second += static_cast<char>('0' + rng.below(10));
    const std::string p = first + ",7.123456", q = second + "9\n-123456";
    const detail::TwoNumbers two = detail::read_two(p.data(), n, q.data(), m);
    CHECK(two.first == (n == 0 ? 0 : std::stoull(first)));
    CHECK(two.second == (m == 0 ? 0 : std::stoull(second)));
    CHECK(detail::read_eight(q.data(), m) == two.second);
  }
}
#endif
