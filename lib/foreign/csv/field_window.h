// Finding where fields of delimited text end, 64 characters at a time.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lib/foreign/csv/csv_text.h"

namespace dapple::detail::csv {

/// Finds one field after the other. Not thread-safe.
class FieldWindow {
 public:
  /// Reads nothing at or after `end`.
  FieldWindow(const char* end, char delimiter) noexcept
      : end_(end), delimiter_(delimiter), start_(end) {}

  /// Goes to `p`. REQUIRES p <= end.
  void seek(const char* p) noexcept {
    const auto offset = static_cast<std::uint64_t>(p - start_);  // huge when p < start_
    if (offset >= kWidth) return look(p);
    stops_ &= ~std::uint64_t{0} << offset;
  }

  /// Where the field ends that starts at `p`: at a delimiter, a line end or the end of the text.
  /// Null when its closing quote is missing or is not its last character. REQUIRES that the window
  /// is at `p`, by `seek` or because the field before it ended there.
  const char* end_of(const char* p) noexcept {
    if (p == end_ || *p != '"') return next_stop();
    const char* const quote = closing_quote(p + 1);
    if (quote == end_) return nullptr;
    seek(quote + 1);
    const char* const stop = next_stop();
    return stop == quote + 1 ? stop : nullptr;
  }

  /// The quote that closes a field whose text starts at `p`; the end if there is none.
  const char* closing_quote(const char* p) noexcept {
    for (;; p += 2) {
      p = find_quote(p);
      if (p == end_ || p + 1 == end_ || p[1] != '"') return p;
    }
  }

 private:
  static constexpr std::uint64_t kWidth = 64;

  static std::uint64_t lowest(std::uint64_t bits) noexcept {
    return static_cast<std::uint64_t>(__builtin_ctzll(bits));
  }

  /// The next delimiter or line end, or the end of the text.
  const char* next_stop() noexcept {
    while (stops_ == 0) look(start_ + kWidth);
    const char* const stop = start_ + lowest(stops_);
    stops_ &= stops_ - 1;
    return stop;
  }

  const char* find_quote(const char* p) noexcept {
    for (;; p = start_ + kWidth) {
      seek(p);
      const std::uint64_t found = quotes_ >> (p - start_);
      if (found != 0) return p + lowest(found);
      if (end_ - start_ <= static_cast<std::ptrdiff_t>(kWidth)) return end_;
    }
  }

  /// Moves the window to `p`.
  void look(const char* p) noexcept {
    start_ = p;
    if (end_ - p >= static_cast<std::ptrdiff_t>(kWidth)) return classify(p);
    char rest[kWidth] = {};
    const auto n = static_cast<std::size_t>(end_ - p);
    std::copy_n(p, n, rest);
    classify(rest);
    const std::uint64_t end = std::uint64_t{1} << n;
    stops_ = (stops_ & (end - 1)) | end;
    quotes_ &= end - 1;
  }

  void classify(const char* p) noexcept {
    stops_ = quotes_ = 0;
#if defined(__SSE2__)
    for (int i = 0; i < static_cast<int>(kWidth); i += 16) {
      const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
      const auto is = [sixteen](char c) { return _mm_cmpeq_epi8(sixteen, _mm_set1_epi8(c)); };
      const auto bits = [i](__m128i equal) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(equal)))
               << i;
      };
      stops_ |= bits(_mm_or_si128(is(delimiter_), _mm_or_si128(is('\n'), is('\r'))));
      quotes_ |= bits(is('"'));
    }
#else
    for (std::uint64_t i = 0; i < kWidth; ++i) {
      const bool stop = p[i] == delimiter_ || p[i] == '\n' || p[i] == '\r';
      stops_ |= std::uint64_t{stop} << i;
      quotes_ |= std::uint64_t{p[i] == '"'} << i;
    }
#endif
  }

  const char* end_;
  char delimiter_;
  const char* start_;        // of the window
  std::uint64_t stops_ = 1;  // bit i: character i is a delimiter or part of a line end, or the text
                             // ends there; those before the next field are gone
  std::uint64_t quotes_ = 0;  // bit i: character i is a quote
};

}  // namespace dapple::detail::csv
