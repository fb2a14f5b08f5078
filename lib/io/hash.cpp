#include "lib/io/hash.h"

#include <new>

// The only user of xxHash. On x86, the dispatching functions use the widest vectors of the
// processor, and are up to eight times as fast as those of the header alone.
#if (defined(__x86_64__) || defined(__i386__)) && !defined(DAPPLE_PLAIN_XXHASH)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

namespace dapple::detail {

std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Xxh3::Xxh3() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Xxh3::add(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Xxh3::value() const noexcept { return XXH3_64bits_digest(state_.get()); }

void Xxh3::Free::operator()(XXH3_state_s* state) const noexcept { XXH3_freeState(state); }

}  // namespace dapple::detail
