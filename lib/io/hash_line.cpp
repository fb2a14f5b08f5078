#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/io/hash.h"

namespace dapple::detail {

// With a length that is known, a few multiplications here. In the shared library they would lie
// behind a table of functions and on pages of their own, which an opening finds cold.
std::uint64_t xxh3_line(const std::byte* line, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(line, kHashedOfLine, seed);
}

}  // namespace dapple::detail
