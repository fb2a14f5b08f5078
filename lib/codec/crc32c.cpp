#include "lib/codec/crc32c.h"

#include <array>

#include "lib/base/bytes.h"

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace dapple::detail {

namespace {

constexpr auto kTable = [] {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}();

#ifdef __x86_64__
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::span<const std::byte> bytes) noexcept {
  std::uint64_t crc = ~std::uint32_t{0};
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) crc = _mm_crc32_u64(crc, load_le<std::uint64_t>(p));
  auto last = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++p) last = _mm_crc32_u8(last, std::to_integer<std::uint8_t>(*p));
  return ~last;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const std::byte b : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<std::uint32_t>(b)) & 0xff];
  }
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2") != 0) return by_instruction(bytes);
#endif
  return crc32c_by_table(bytes);
}

}  // namespace dapple::detail
