// Finding where fields of delimited text end, 64 characters at a time.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstdint>
#include <optional>

#include "lib/foreign/csv/csv_text.h"

namespace dapple::detail::csv {

/// Finds one field after the other. Not thread-safe.
class FieldWindow {
 public:
  /// Reads nothing at or after `end`.
  FieldWindow(const char* end, char delimiter) noexcept
      : end_(end), delimiter_(delimiter), start_(end) {}

  /// As `find_field`. REQUIRES p <= end.
  std::optional<Field> field(const char* p) noexcept {
    if (p != end_ && *p == '"') return quoted_field(p + 1);
    const char* const stop = find_end(p);
    return Field{{p, static_cast<std::size_t>(stop - p)}, stop};
  }

  /// The quote that closes a field whose text starts at `p`; the end if there is none.
  const char* closing_quote(const char* p, bool& doubled) noexcept {
    for (;; p += 2) {
      p = find_quote(p);
      if (p == end_ || p + 1 == end_ || p[1] != '"') return p;
      doubled = true;
    }
  }

 private:
  static constexpr std::ptrdiff_t kWidth = 64;

  std::optional<Field> quoted_field(const char* text) noexcept {
    bool doubled = false;
    const char* const q = closing_quote(text, doubled);
    if (q == end_ || !at_field_end(q + 1, end_, delimiter_)) return std::nullopt;
    return Field{{text, static_cast<std::size_t>(q - text)}, q + 1, true, doubled};
  }

  /// The first delimiter or line end at or after `p`, or the end.
  const char* find_end(const char* p) noexcept {
    return find(p, stops_, [this](char c) { return c == delimiter_ || c == '\n' || c == '\r'; });
  }

  const char* find_quote(const char* p) noexcept {
    return find(p, quotes_, [](char c) { return c == '"'; });
  }

  /// The first character at or after `p` whose bit in `found` is set, and of which `is` is true.
  template <class Is>
  const char* find(const char* p, const std::uint64_t& found, const Is& is) noexcept {
    while (p != end_) {
      const auto offset = static_cast<std::uint64_t>(p - start_);  // huge when p < start_
      if (offset < kWidth) {
        const std::uint64_t from_here = found >> offset;
        if (from_here != 0) return p + __builtin_ctzll(from_here);
        p = start_ + kWidth;
      }
      if (look(p)) continue;
      while (p != end_ && !is(*p)) ++p;
      break;
    }
    return p;
  }

  /// Moves the window to `p`; false when it would reach beyond the text.
  bool look(const char* p) noexcept {
#if defined(__SSE2__)
    if (end_ - p < kWidth) return false;
    start_ = p;
    stops_ = quotes_ = 0;
    for (int i = 0; i < kWidth; i += 16) {
      const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
      const auto is = [sixteen](char c) { return _mm_cmpeq_epi8(sixteen, _mm_set1_epi8(c)); };
      const auto bits = [i](__m128i equal) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(equal)))
               << i;
      };
      stops_ |= bits(_mm_or_si128(is(delimiter_), _mm_or_si128(is('\n'), is('\r'))));
      quotes_ |= bits(is('"'));
    }
    return true;
#else
    static_cast<void>(p);
    return false;
#endif
  }

  const char* end_;
  char delimiter_;
  const char* start_;         // of the window
  std::uint64_t stops_ = 0;   // bit i: character i is a delimiter or part of a line end
  std::uint64_t quotes_ = 0;  // bit i: character i is a quote
};

}  // namespace dapple::detail::csv
