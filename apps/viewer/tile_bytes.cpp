#include "tile_bytes.h"

#include <array>
#include <bit>
#include <cmath>

namespace dapple::viewer {

namespace {

using picture::Dot;

constexpr std::size_t kHead = 5;
constexpr unsigned kRounded = 4, kWide = 8;  // of the byte with the flags

/// Which bytes of a number are kept: the upper ones of an f32, or of an f64.
struct Coding {
  bool wide = false;
  unsigned bytes = 2;

  std::uint64_t code(const Dot& dot) const noexcept {
    if (dot.state == Dot::State::number) return code(dot.value);
    const std::uint64_t why = dot.state == Dot::State::nan      ? 0
                              : dot.state == Dot::State::absent ? 1
                                                                : 2;
    return (first_nan() + why) << 48 >> dropped();
  }
  /// Rounded to nearest.
  std::uint64_t code(double value) const noexcept {
    const std::uint64_t bits =
        wide ? std::bit_cast<std::uint64_t>(value)
             : std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))} << 32;
    if (dropped() == 0) return bits;
    const std::uint64_t half = (std::uint64_t{1} << (dropped() - 1)) - 1;
    return (bits + half + (bits >> dropped() & 1)) >> dropped();
  }
  Dot dot(std::uint64_t code) const noexcept {
    const std::uint64_t bits = code << dropped();
    if (bits >> 48 == first_nan() + 1) return {};
    if (bits >> 48 == first_nan() + 2) return {0, Dot::State::unknown};
    const double value = wide ? std::bit_cast<double>(bits)
                              : std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
    return value == value ? Dot::of(value) : Dot{0, Dot::State::nan};
  }

 private:
  unsigned dropped() const noexcept { return 64 - 8 * bytes; }
  /// The upper half of a NaN's bits; those that follow it say why there is no number.
  std::uint64_t first_nan() const noexcept { return wide ? 0x7FF8 : 0x7FC0; }
};

constexpr Coding kCodings[] = {{false, 2}, {false, 3}, {false, 4}, {true, 3},
                               {true, 4},  {true, 5},  {true, 6},  {true, 8}};

/// How many different numbers there are among those added, up to `kMost`.
class Distinct {
 public:
  static constexpr std::size_t kMost = 256;  // a scale has no more colours

  void add(std::uint64_t number) noexcept {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
    if (count_ == kMost) return;
    for (std::size_t at = number * kOdd >> 54;; at = (at + 1) % slots_.size()) {
      if (slots_[at].used && slots_[at].number == number) return;
      if (slots_[at].used) continue;
      slots_[at] = {number, true};
      ++count_;
      return;
    }
  }
  std::size_t count() const noexcept { return count_; }

 private:
  struct Slot {
    std::uint64_t number = 0;
    bool used = false;
  };
  std::array<Slot, 1024> slots_;
  std::size_t count_ = 0;
};

struct Choice {
  Coding coding;
  bool rounded;
};

Choice choose(const picture::Picture& picture) {
  Distinct values;
  bool whole = true;
  for (const Dot& dot : picture.dots) {
    if (dot.state != Dot::State::number) continue;
    values.add(std::bit_cast<std::uint64_t>(dot.value));
    whole = whole && dot.value == std::trunc(dot.value);
  }
  for (const Coding& coding : kCodings) {
    Distinct codes;
    bool exact = true, fits = true;
    for (const Dot& dot : picture.dots) {
      if (dot.state != Dot::State::number) continue;
      const std::uint64_t code = coding.code(dot.value);
      const double back = coding.dot(code).value;
      codes.add(code);
      exact = exact && back == dot.value;
      fits = fits && std::isfinite(back) == std::isfinite(dot.value) &&
             (back == 0) == (dot.value == 0);
    }
    if (exact) return {coding, false};
    const bool may_round = !whole || coding.bytes > kCodings[0].bytes;
    if (fits && may_round && codes.count() >= values.count()) return {coding, true};
  }
  return {kCodings[std::size(kCodings) - 1], false};
}

}  // namespace

std::string tile_bytes(const picture::Picture& picture, TileFlags flags) {
  const auto [coding, rounded] = choose(picture);
  std::string bytes;
  for (const std::size_t number : {picture.width(), picture.height()}) {
    bytes += static_cast<char>(number & 0xFF);
    bytes += static_cast<char>(number >> 8);
  }
  bytes += static_cast<char>(flags | (rounded ? kRounded : 0) | (coding.wide ? kWide : 0) |
                             coding.bytes << 4);
  const std::size_t n = picture.dots.size();
  bytes.resize(kHead + coding.bytes * n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t code = coding.code(picture.dots[i]);
    for (std::size_t b = 0; b < coding.bytes; ++b) {
      bytes[kHead + b * n + i] = static_cast<char>(code >> 8 * (coding.bytes - 1 - b) & 0xFF);
    }
  }
  return bytes;
}

}  // namespace dapple::viewer
