// The oracles are std::to_chars for writing and strtod for reading, both without fast paths.
#include "lib/base/text.h"

#include <algorithm>
#include <bit>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail;

namespace {

template <Value T>
std::string text_of(T value) {
  char room[kNumberRoom];
  return {room, write_number(room, value)};
}

template <class T>
std::string plain_text(T value) {
  char room[64];
  return {room, std::to_chars(room, room + sizeof room, value).ptr};
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// What reading `text` as T gives: the value and the number of characters, or the error.
template <Value T>
struct Answer {
  NumberError error = NumberError::none;
  T value{};
  std::size_t used = 0;
};

template <Value T>
Answer<T> read(const std::string& text) {
  // Exactly as long as the text, so that a sanitizer sees a byte too many being read. Static,
  // because g++ 12 takes the difference of pointers below for a use after the end of its life.
  static std::unique_ptr<char[]> exact;
  exact = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), exact.get());
  Answer<T> answer;
  const NumberText number = read_number<T>(exact.get(), exact.get() + text.size(), answer.value);
  answer.error = number.error;
  answer.used = static_cast<std::size_t>(number.end - exact.get());
  return answer;
}

template <Value T>
bool reads_as(const std::string& text, T value) {
  const Answer<T> answer = read<T>(text);
  return answer.error == NumberError::none && answer.used == text.size() &&
         same_bits(answer.value, value);
}

/// Floats that lie where conversions go wrong, and many that do not.
std::vector<double> floats() {
  std::vector<double> values = {0.0,
                                -0.0,
                                1.0,
                                5e-324,
                                2.2250738585072014e-308,
                                1.7976931348623157e308,
                                0.1,
                                0.3,
                                1e22,
                                1e23,
                                9007199254740992.0,
                                9007199254740993.0,
                                0.001,
                                0.0009999999999999998,
                                1048576.0,
                                1048575.99999999,
                                100000.0,
                                1e5 + 0.5,
                                123456789012.0};
  for (int e = -1074; e < 1024; ++e) {  // powers of two and their neighbours
    const double power = std::ldexp(1.0, e);
    values.push_back(power);
    values.push_back(std::nextafter(power, 0.0));
    values.push_back(std::nextafter(power, std::numeric_limits<double>::infinity()));
  }
  for (int e = -30; e <= 30; ++e) values.push_back(std::pow(10.0, e));
  test::Rng rng(20240501);
  for (int i = 0; i < 200'000; ++i) {
    const double any = std::bit_cast<double>(rng.bits());
    if (std::isfinite(any)) values.push_back(any);
    const auto digits = static_cast<double>(rng.below(std::uint64_t{1} << rng.below(54)));
    values.push_back(digits / std::pow(10.0, static_cast<double>(rng.below(12))));
    values.push_back(std::ldexp(static_cast<double>(rng.bits() >> 11), -53));
    values.push_back(static_cast<double>(rng.below(1'000'000)) * std::pow(10.0, rng.below(17)));
  }
  const std::size_t half = values.size();
  for (std::size_t i = 0; i < half; ++i) values.push_back(-values[i]);
  return values;
}

}  // namespace

TEST_CASE("text: floats are written as std::to_chars writes them") {
  std::size_t wrong = 0;
  for (const double value : floats()) {
    if (text_of(value) != plain_text(value)) ++wrong;
    const auto narrow = static_cast<float>(value);
    if (std::isfinite(narrow) && text_of(narrow) != plain_text(narrow)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("text: what is written reads back to the same bits") {
  std::size_t wrong = 0;
  for (const double value : floats()) {
    if (!reads_as(text_of(value), value)) ++wrong;
    const auto narrow = static_cast<float>(value);
    if (std::isfinite(narrow) && !reads_as(text_of(narrow), narrow)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("text: special floats have plain names") {
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(text_of(-std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(text_of(std::bit_cast<double>(0x7ff4000000000123u)) == "nan");
  CHECK(text_of(std::numeric_limits<float>::quiet_NaN()) == "nan");
  CHECK(text_of(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(text_of(-std::numeric_limits<float>::infinity()) == "-inf");
  CHECK(text_of(0.0) == "0");
  CHECK(text_of(-0.0) == "-0");
  CHECK(text_of(-0.0f) == "-0");
  CHECK(text_of(2.0) == "2");
  CHECK(text_of(0.1f) == "0.1");
  CHECK(text_of(1e300) == "1e+300");
}

TEST_CASE("text: integers are written plainly, to the ends of their ranges") {
  CHECK(text_of(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(text_of(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(text_of(std::int8_t{-128}) == "-128");
  CHECK(text_of(std::uint8_t{65}) == "65");
}

TEST_CASE("text: cells in text without value types read back to the same f64") {
  const auto text = [](auto value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    std::string out;
    append_number(value_type_of<decltype(value)>(), bits, out);
    return out;
  };
  CHECK(text(0.1f) == "0.10000000149011612");
  CHECK(text(0.1) == "0.1");
  CHECK(text(-0.0f) == "-0");
  CHECK(text(-std::numeric_limits<float>::quiet_NaN()) == "nan");
  CHECK(text(std::int16_t{-77}) == "-77");
  std::string missing;
  const Column column{"x", ValueType::f32, {.missing = kMissingF32}};
  append_text(column, std::bit_cast<std::uint32_t>(0.1f), missing);
  append_text(column, kMissingF32, missing);
  CHECK(missing == "0.10000000149011612");
  char room[kNumberRoom];
  CHECK(std::string(room, write_cell(room, 0.1f, true)) == "0.1");
}

TEST_CASE("text: floats are read correctly rounded, whatever their number of digits") {
  test::Rng rng(7);
  std::size_t wrong = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string text = rng.chance(50) ? "-" : "";
    const auto digits = [&](std::uint64_t n) {
      for (; n > 0; --n) text += static_cast<char>('0' + rng.below(10));
    };
    digits(1 + rng.below(rng.chance(5) ? 60 : 12));
    if (rng.chance(70)) {
      text += '.';
      digits(rng.below(rng.chance(5) ? 60 : 12));
    }
    if (rng.chance(40)) {
      text += rng.chance(50) ? "e" : "E";
      if (rng.chance(60)) text += rng.chance(50) ? "-" : "+";
      digits(1 + rng.below(3));
    }
    const double exact = std::strtod(text.c_str(), nullptr);
    const Answer<double> got = read<double>(text);
    const float exact_narrow = std::strtof(text.c_str(), nullptr);
    const Answer<float> got_narrow = read<float>(text);
    const auto agrees = [&](const auto& answer, auto value) {
      if (std::isinf(value)) return answer.error == NumberError::out_of_range;
      return answer.error == NumberError::none && same_bits(answer.value, value);
    };
    if (!agrees(got, exact) || got.used != text.size()) ++wrong;
    if (!agrees(got_narrow, exact_narrow)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("text: the spellings of a float") {
  CHECK(reads_as(".5", 0.5));
  CHECK(reads_as("5.", 5.0));
  CHECK(reads_as("+1.5e2", 150.0));
  CHECK(reads_as("-0", -0.0));
  CHECK(reads_as("-0.0", -0.0));
  CHECK(reads_as("0e999999999999999999999", 0.0));
  CHECK(reads_as("1e-99999999999999999999", 0.0));
  CHECK(reads_as("-1e-400", -0.0));
  CHECK(reads_as("0.001e-9223372036854775808", 0.0));
  CHECK(reads_as("1e-46", 0.0f));
  CHECK(reads_as("INF", std::numeric_limits<double>::infinity()));
  CHECK(reads_as("-Infinity", -std::numeric_limits<double>::infinity()));
  CHECK(reads_as("NaN", std::numeric_limits<double>::quiet_NaN()));
  CHECK(reads_as("-nan", std::copysign(std::numeric_limits<double>::quiet_NaN(), -1.0)));
  CHECK(read<double>("1e").used == 1);  // the number ends in front of an e without digits
  CHECK(read<double>("1e+").used == 1);
  CHECK(read<double>("1.2.3").used == 3);
  CHECK(read<double>("0x10").used == 1);
  CHECK(read<double>("12abc").used == 2);
  CHECK(read<double>("nan(1)").used == 3);
  CHECK(read<double>("infinit").used == 3);
  for (const char* text : {"", "-", "+", ".", "-.", "e5", "--1", "+-1", "-+1", " 1", "na", "x"}) {
    CAPTURE(text);
    CHECK(read<double>(text).error == NumberError::no_number);
    CHECK(read<float>(text).error == NumberError::no_number);
  }
  for (const char* text :
       {"1e309", "-1.8e308", "1e99999999999999999999", "0.001e312", "12e9223372036854775807"}) {
    CAPTURE(text);
    CHECK(read<double>(text).error == NumberError::out_of_range);
  }
  const std::string long_digits(400, '9');
  CHECK(read<double>(long_digits).error == NumberError::out_of_range);
  CHECK(read<double>(long_digits + "e-100").error == NumberError::none);
  CHECK(read<double>(long_digits + "e-9").error == NumberError::out_of_range);
  CHECK(reads_as("0." + std::string(400, '0') + "1e401", 1.0));
}

TEST_CASE("text: integers are read to the ends of their ranges and no further") {
  CHECK(reads_as("-9223372036854775808", std::numeric_limits<std::int64_t>::min()));
  CHECK(reads_as("18446744073709551615", std::numeric_limits<std::uint64_t>::max()));
  CHECK(reads_as("+127", std::int8_t{127}));
  CHECK(reads_as("-0", std::uint16_t{0}));
  CHECK(reads_as("0000000000000000000000000000042", std::int32_t{42}));
  CHECK(read<std::int64_t>("9223372036854775808").error == NumberError::out_of_range);
  CHECK(read<std::int64_t>("-9223372036854775809").error == NumberError::out_of_range);
  CHECK(read<std::uint64_t>("18446744073709551616").error == NumberError::out_of_range);
  CHECK(read<std::uint64_t>("99999999999999999999999").error == NumberError::out_of_range);
  CHECK(read<std::uint8_t>("-1").error == NumberError::out_of_range);
  CHECK(read<std::int8_t>("128").error == NumberError::out_of_range);
  CHECK(read<std::int8_t>("-129").error == NumberError::out_of_range);
  CHECK(read<std::int32_t>("1.5").used == 1);
  for (const char* text : {"", "-", "+", "x", ".5", "--1", "nan"}) {
    CAPTURE(text);
    CHECK(read<std::int32_t>(text).error == NumberError::no_number);
  }
  std::int16_t cell = 0;
  const std::string text = "-77";
  read_number(text.data(), text.data() + 3, ValueType::i16, reinterpret_cast<std::byte*>(&cell));
  CHECK(cell == -77);
}

TEST_CASE("text: the locale changes nothing") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) {
    test::skip("no locale with a decimal comma");
    return;
  }
  CHECK(text_of(0.5) == "0.5");
  CHECK(text_of(1.0 / 3) == "0.3333333333333333");
  CHECK(reads_as("0.3333333333333333", 1.0 / 3));
  CHECK(read<double>("0,5").used == 1);
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("text: shown text is safe to print and short") {
  CHECK(shown("abc") == "'abc'");
  CHECK(shown("") == "''");
  CHECK(shown("a\n\x1b\xc3") == "'a\\x0a\\x1b\\xc3'");
  CHECK(shown(std::string(41, 'x')) == "'" + std::string(40, 'x') + "...'");
}

TEST_CASE(
    "text: shown text is as it is where it can be printed, and never cut inside a character") {
  const std::string cafe = "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80";
  CHECK(shown(cafe) == "'" + cafe + "'");
  // C1 controls, the ends of a line and a paragraph, marks of direction, a byte order mark.
  CHECK(shown("\xc2\x85|\xe2\x80\xa8|\xe2\x80\xae|\xe2\x81\xa7|\xd8\x9c|\xef\xbb\xbf") ==
        "'\\xc2\\x85|\\xe2\\x80\\xa8|\\xe2\\x80\\xae|\\xe2\\x81\\xa7|\\xd8\\x9c|\\xef\\xbb\\xbf'");
  // Latin-1, overlong, a surrogate, and a character whose end is missing.
  CHECK(shown("\xe9t\xc0\xaf\xed\xa0\x80\xe2\x82") ==
        "'\\xe9t\\xc0\\xaf\\xed\\xa0\\x80\\xe2\\x82'");
  std::string forty;
  for (int i = 0; i < 40; ++i) forty += "\xe2\x82\xac";
  CHECK(shown(forty) == "'" + forty + "'");
  CHECK(shown(forty + "\xe2\x82\xac") == "'" + forty + "...'");
}
