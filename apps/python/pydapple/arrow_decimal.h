// Decimals of Arrow, as the numbers that cells hold.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace pydapple {

/// An integer of 4 to 32 bytes for each cell, of which the last digits, if any, are after the
/// point.
class ArrowDecimal {
 public:
  /// Of the format "d:PRECISION,SCALE" or "d:PRECISION,SCALE,BITS"; nothing of others.
  static std::optional<ArrowDecimal> of_format(std::string_view format) noexcept {
    if (!format.starts_with("d:")) return std::nullopt;
    std::array<int, 3> given{0, 0, 128};
    const char *p = format.data() + 2, *const end = format.data() + format.size();
    for (int& number : given) {
      const auto [stop, error] = std::from_chars(p, end, number);
      if (error != std::errc()) return std::nullopt;
      if (stop == end) break;
      p = stop + 1;
    }
    const int bits = given[2];
    if (bits != 32 && bits != 64 && bits != 128 && bits != 256) return std::nullopt;
    if (given[1] < -kMostDigits || given[1] > kMostDigits) return std::nullopt;
    return ArrowDecimal(given[1], static_cast<std::size_t>(bits) / 8);
  }

  /// All of them are integers.
  bool is_whole() const noexcept { return scale_ <= 0; }

  /// Cell `k` of those that are whole; nothing where an i64 does not hold it.
  std::optional<std::int64_t> integer(const void* cells, std::int64_t k) const noexcept {
    std::optional<Wide> value = load(cells, k);
    for (int i = scale_; value && i < 0; ++i) {
      if (__builtin_mul_overflow(*value, 10, &*value)) return std::nullopt;
    }
    if (!value || *value != static_cast<std::int64_t>(*value)) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  }

  /// The f64 nearest to cell `k`; nothing where that does not keep every digit.
  std::optional<double> real(const void* cells, std::int64_t k) const noexcept {
    std::optional<Wide> digits = load(cells, k);
    int scale = scale_;
    for (; digits && *digits % 10 == 0 && *digits != 0; --scale) *digits /= 10;
    constexpr std::int64_t kMost = 99'999'999'999'999'999;  // an f64 tells 17 digits apart
    if (!digits || *digits > kMost || *digits < -kMost) return std::nullopt;
    const auto integer = static_cast<std::int64_t>(*digits);
    std::array<char, 40> text;
    char* const end = text.data() + text.size();
    char* p = std::to_chars(text.data(), end, integer).ptr;
    *p++ = 'e';
    p = std::to_chars(p, end, -scale).ptr;
    double number = 0;
    std::from_chars(text.data(), p, number);
    constexpr std::int64_t kSure = 999'999'999'999'999;  // std::numeric_limits<double>::digits10
    if (integer > kSure || integer < -kSure) {
      p = std::to_chars(text.data(), end, number, std::chars_format::scientific).ptr;
      p = std::remove(text.data(), std::find(text.data(), p, 'e'), '.');
      std::int64_t kept = 0;
      std::from_chars(text.data(), p, kept);
      if (kept != integer) return std::nullopt;
    }
    return number;
  }

 private:
  __extension__ using Wide = __int128;
  static constexpr int kMostDigits = 76;  // of Arrow's widest ones

  ArrowDecimal(int scale, std::size_t bytes) noexcept : scale_(scale), bytes_(bytes) {}

  /// The digits of cell `k` as an integer, unless it takes more than 16 bytes.
  std::optional<Wide> load(const void* cells, std::int64_t k) const noexcept {
    const auto* const cell =
        static_cast<const unsigned char*>(cells) + static_cast<std::size_t>(k) * bytes_;
    const unsigned char sign = (cell[bytes_ - 1] & 0x80) != 0 ? 0xff : 0;
    Wide value = sign != 0 ? -1 : 0;
    std::memcpy(&value, cell, bytes_ < sizeof value ? bytes_ : sizeof value);
    for (std::size_t i = sizeof value; i < bytes_; ++i) {
      if (cell[i] != sign) return std::nullopt;
    }
    if ((value < 0) != (sign != 0)) return std::nullopt;
    return value;
  }

  int scale_;          // digits after the point
  std::size_t bytes_;  // of a cell
};

}  // namespace pydapple
