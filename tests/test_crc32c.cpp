// CRC-32C, by the processor and by a table, against the definition: one bit after the other.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "lib/codec/crc32c.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// The remainder of the bits, the lowest of each byte first, by the polynomial 0x1edc6f41.
std::uint32_t naive(std::span<const std::byte> bytes) {
  std::uint32_t remainder = 0xffffffff;
  for (const std::byte byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const std::uint32_t next = std::to_integer<std::uint32_t>(byte) >> bit & 1;
      const bool subtract = ((remainder & 1) ^ next) != 0;
      remainder >>= 1;
      if (subtract) remainder ^= 0x82f63b78;
    }
  }
  return ~remainder;
}

}  // namespace

TEST_CASE("crc32c: any bytes, from any address on") {
  constexpr std::string_view kKnown = "123456789";  // of RFC 3720 and others
  CHECK(detail::crc32c(std::as_bytes(std::span(kKnown))) == 0xe3069283);
  CHECK(detail::crc32c({}) == 0);
  test::Rng rng(1);
  std::vector<std::byte> bytes(700);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.below(256));
  for (std::size_t n = 0; n < 600; ++n) {
    const auto some = std::span(bytes).subspan(rng.below(100), n);
    const std::uint32_t right = naive(some);
    REQUIRE(detail::crc32c(some) == right);
    REQUIRE(detail::crc32c_by_table(some) == right);
  }
}
