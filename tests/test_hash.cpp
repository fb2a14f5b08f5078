// What hashing leaves in registers.

#include <cstddef>
#include <vector>

#include "lib/io/hash.h"
#include "tests/check.h"
#include "tests/support.h"

#ifdef __x86_64__
#include <cpuid.h>

namespace {

/// True when the upper halves of vector registers are in use (XINUSE, by XGETBV with ECX = 1).
bool upper_halves_in_use() {
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & 4) != 0;
}

bool processor_tells() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx") && __get_cpuid_count(13, 1, &a, &b, &c, &d) && (a & 4) != 0;
}

}  // namespace

using namespace dapple;

TEST_CASE("hash: leaves no vector register in use, which would slow down scalar code") {
  if (!processor_tells()) {
    return test::skip("this processor does not tell which registers are in use");
  }
  for (const std::size_t size : {std::size_t{100}, std::size_t{1000}, std::size_t{1} << 20}) {
    const std::vector<std::byte> bytes(size, std::byte{7});
    CAPTURE(size);
    const std::uint64_t whole = detail::xxh3(bytes);
    CHECK_FALSE(upper_halves_in_use());
    detail::Xxh3 pieces;
    pieces.add(bytes);
    CHECK_FALSE(upper_halves_in_use());
    CHECK(pieces.value() == whole);
    CHECK_FALSE(upper_halves_in_use());
  }
}

#endif
