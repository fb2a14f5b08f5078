#include "tile_bytes.h"

#include <bit>

namespace dapple::viewer {

namespace {

using picture::Dot;

constexpr std::uint16_t kNan = 0x7FC0, kAbsent = 0x7FC1, kUnknown = 0x7FC2;
constexpr std::size_t kHead = 5;

std::uint16_t half(const Dot& dot) {
  if (dot.state == Dot::State::nan) return kNan;
  if (dot.state == Dot::State::absent) return kAbsent;
  if (dot.state == Dot::State::unknown) return kUnknown;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(dot.value));
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

Dot dot_of(std::uint16_t half) {
  if (half == kAbsent) return {};
  if (half == kUnknown) return {0, Dot::State::unknown};
  const auto value = std::bit_cast<float>(std::uint32_t{half} << 16);
  return value == value ? Dot::of(static_cast<double>(value)) : Dot{0, Dot::State::nan};
}

}  // namespace

std::string tile_bytes(const picture::Picture& picture, TileFlags flags) {
  std::string bytes;
  for (const std::size_t number : {picture.width(), picture.height()}) {
    bytes += static_cast<char>(number & 0xFF);
    bytes += static_cast<char>(number >> 8);
  }
  bytes += static_cast<char>(flags);
  std::string low;
  for (const Dot& dot : picture.dots) {
    const std::uint16_t value = half(dot);
    bytes += static_cast<char>(value >> 8);
    low += static_cast<char>(value & 0xFF);
  }
  return bytes + low;
}

std::optional<picture::Picture> read_tile(std::string_view bytes, picture::Axis rows,
                                          picture::Axis cols, picture::What what) {
  const std::size_t n = rows.pixels() * cols.pixels();
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() < kHead || (bytes.size() - kHead) / 2 != n || bytes.size() % 2 == 0 ||
      (byte(0) | byte(1) << 8) != static_cast<int>(cols.pixels()) || byte(4) != kExact) {
    return std::nullopt;
  }
  picture::Picture picture{std::move(rows), std::move(cols), what, {}};
  picture.dots.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    picture.dots.push_back(
        dot_of(static_cast<std::uint16_t>(byte(kHead + i) << 8 | byte(kHead + n + i))));
  }
  return picture;
}

}  // namespace dapple::viewer
