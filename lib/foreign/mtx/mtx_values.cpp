#include "lib/foreign/mtx/mtx_values.h"

#include "lib/base/bytes.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::size_t kChunk = 64;
constexpr std::uint64_t kMostInChunk = kChunk / 2;  // a value and what separates it take two bytes

std::size_t bytes_left(const char* p, const char* end) noexcept {
  return static_cast<std::size_t>(end - p);
}

/// REQUIRES that p[-1] can be read.
bool starts_value(const char* p) noexcept { return !is_space(p[0]) && is_space(p[-1]); }

struct Counts {
  std::uint8_t values = 0;  // that start here
  bool comment = false;     // a percent sign is among the bytes
};

/// Of kChunk bytes. Three loops over bytes alone, because compilers vectorise those (twice as fast
/// as one loop that does it all). REQUIRES that p[-1] can be read.
Counts count_chunk(const char* p) noexcept {
  const char* const from = p - 1;
  std::uint8_t space[kChunk + 1];
  for (std::size_t i = 0; i < kChunk + 1; ++i) space[i] = is_space(from[i]);
  std::uint8_t values = 0, percent = 0;
  for (std::size_t i = 0; i < kChunk; ++i) {
    values = static_cast<std::uint8_t>(values + (space[i] & (space[i + 1] ^ 1)));
  }
  for (std::size_t i = 0; i < kChunk; ++i) {
    percent = static_cast<std::uint8_t>(percent | (p[i] == '%'));
  }
  return {values, percent != 0};
}

/// The value that `n` values follow after the one at `p`.
const char* skip_values(const char* p, const char* end, std::uint64_t n, bool comments) noexcept {
  if (comments) {
    for (; n > 0 && p != end; --n) {
      while (p != end && !is_space(*p)) ++p;
      p = find_value(p, end, comments);
    }
    return p;
  }
  if (n == 0 || p == end) return p;
  ++p;
  for (; n > kMostInChunk && bytes_left(p, end) >= kChunk; p += kChunk) n -= count_chunk(p).values;
  for (; p != end; ++p) {
    if (starts_value(p) && --n == 0) break;
  }
  return p;
}

[[noreturn]] void fail_less(const Text& text, const std::string& seen, std::uint64_t count) {
  throw Error(Errc::corrupt, text.file, text.offset(text.end),
              "the file ends after " + seen + " of " + counted(count, "value"));
}

[[noreturn]] void fail_more(const Text& text, const char* p, std::uint64_t count) {
  text.fail(Errc::corrupt, p,
            "the file goes on after the " + counted(count, "value") + " that its header announces");
}

/// Finds positions in chunks; false when there is a comment between the values.
bool find_in_chunks(const Text& text, const char* p, std::uint64_t count, Positions& positions) {
  std::uint64_t seen = 0, next = 0;
  const auto look_closely = [&](const char* end) {
    for (; p != end; ++p) {
      if (!starts_value(p)) continue;
      if (seen == count) fail_more(text, p, count);
      if (seen == next) {
        positions.bytes.push_back(text.offset(p));
        next += Positions::kStep;
      }
      ++seen;
    }
  };
  while (bytes_left(p, text.end) >= kChunk) {
    const Counts here = count_chunk(p);
    if (here.comment) return false;
    if (seen + here.values > std::min(next, count)) {
      look_closely(p + kChunk);
    } else {
      seen += here.values;
      p += kChunk;
    }
  }
  for (const char* q = p; q != text.end; ++q) {
    if (*q == '%') return false;
  }
  look_closely(text.end);
  if (seen < count) fail_less(text, std::to_string(seen), count);
  return true;
}

void find_one_by_one(const Text& text, const char* p, std::uint64_t count, Positions& positions) {
  p = find_value(p, text.end, true);
  for (std::uint64_t seen = 0; seen < count; ++seen) {
    if (p == text.end) fail_less(text, std::to_string(seen), count);
    if (seen % Positions::kStep == 0) positions.bytes.push_back(text.offset(p));
    p = skip_values(p, text.end, 1, true);
  }
  if (p != text.end) fail_more(text, p, count);
}

}  // namespace

const char* find_value(const char* p, const char* end, bool comments) noexcept {
  for (;;) {
    while (p != end && is_space(*p)) ++p;
    if (!comments || p == end || *p != '%') return p;
    p = next_line(p, end);
  }
}

Positions find_values(const Text& text, std::uint64_t data, std::uint64_t count) {
  const char* const p = text.base + data;
  // A value and its line end take two bytes; the last line end may be missing.
  const std::uint64_t most = (static_cast<std::uint64_t>(text.end - p) + 1) / 2;
  if (count > most) fail_less(text, "at most " + std::to_string(most), count);
  Positions positions;
  positions.bytes.reserve(count / Positions::kStep + 1);
  if (!find_in_chunks(text, p, count, positions)) {
    positions.bytes.clear();
    positions.comments = true;
    find_one_by_one(text, p, count, positions);
  }
  return positions;
}

void ValueReader::seek(std::uint64_t number) {
  if (p_ == nullptr || number < number_ || number - number_ >= Positions::kStep) {
    const std::uint64_t step = number / Positions::kStep;
    if (step >= positions_.bytes.size()) {
      p_ = text_.end;
      return;
    }
    p_ = text_.base + positions_.bytes[step];
    number_ = step * Positions::kStep;
  }
  p_ = skip_values(p_, text_.end, number - number_, positions_.comments);
  number_ = number;
}

void ValueReader::fail_type(ValueType wanted, bool rounds) const {
  text_.fail(Errc::type_mismatch, last_,
             shown(token_at(last_, text_.end)) +
                 (rounds ? " is not exact as " : " is out of range for ") +
                 std::string(name(wanted)),
             rounds ? Remedy::allow_loss : Remedy::none);
}

}  // namespace dapple::detail::mtx
