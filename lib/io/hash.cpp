#include "lib/io/hash.h"

#include <new>

// The only user of xxHash. On x86, the dispatching functions use the widest vectors of the
// processor, and are up to eight times as fast as those of the header alone.
#if (defined(__x86_64__) || defined(__i386__)) && !defined(DAPPLE_PLAIN_XXHASH)
#include <immintrin.h>
#include <xxh_x86dispatch.h>
#define DAPPLE_WIDE_XXHASH
#else
#include <xxhash.h>
#endif

namespace dapple::detail {

namespace {

#ifdef DAPPLE_WIDE_XXHASH
__attribute__((target("avx"))) void clear_upper_halves() noexcept { _mm256_zeroupper(); }

/// The functions of xxHash 0.8.1 return with the upper halves of vector registers in use. Until
/// somebody clears them, the thread's scalar code takes up to three times as long.
void after_wide_vectors() noexcept {
  if (__builtin_cpu_supports("avx")) clear_upper_halves();
}
#else
void after_wide_vectors() noexcept {}
#endif

}  // namespace

std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  const std::uint64_t hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
  after_wide_vectors();
  return hash;
}

Xxh3::Xxh3() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Xxh3::add(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  after_wide_vectors();
}

std::uint64_t Xxh3::value() const noexcept { return XXH3_64bits_digest(state_.get()); }

void Xxh3::Free::operator()(XXH3_state_s* state) const noexcept { XXH3_freeState(state); }

}  // namespace dapple::detail
