// Splitting the entries of sparse blocks into arrays of indices and values, and joining them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "lib/base/ask_ahead.h"

namespace dapple::detail::dbdf {

/// Copies the columns and values of `count` entries of a CSR block, and prefetches a page ahead.
template <std::size_t kSize>
inline void split_csr_entries(const std::byte* entries, std::uint32_t count, std::uint32_t* cols,
                              std::byte* values) noexcept {
  constexpr std::size_t stride = 4 + kSize;
  std::uint32_t i = 0;
#if defined(__SSE2__)
  if constexpr (kSize == 8) {
    // Four entries are three vectors: c0 v0 v0 c1, v1 v1 c2 v2, v2 c3 v3 v3. A fifth faster.
    const auto load = [](const std::byte* p) {
      return _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    };
    const auto store = [](void* p, __m128 four) {
      _mm_storeu_si128(static_cast<__m128i*>(p), _mm_castps_si128(four));
    };
    for (; count - i >= 4; i += 4) {
      const std::byte* const p = entries + i * stride;
      ask_ahead(p);
      const __m128 a = load(p), b = load(p + 16), c = load(p + 32);
      const __m128 last_cols = _mm_shuffle_ps(b, c, _MM_SHUFFLE(1, 1, 2, 2));    // c2 c2 c3 c3
      const __m128 third_value = _mm_shuffle_ps(b, c, _MM_SHUFFLE(0, 0, 3, 3));  // v2 v2 v2 v2
      store(cols + i, _mm_shuffle_ps(a, last_cols, _MM_SHUFFLE(2, 0, 3, 0)));
      store(values + i * kSize, _mm_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 2, 1)));
      store(values + (i + 2) * kSize, _mm_shuffle_ps(third_value, c, _MM_SHUFFLE(3, 2, 2, 0)));
    }
  }
#endif
  if (i == 0) ask_ahead(entries, count * stride);
  for (; i < count; ++i) {
    std::memcpy(cols + i, entries + i * stride, 4);
    std::memcpy(values + i * kSize, entries + i * stride + 4, kSize);
  }
}

/// Joins columns and values into `count` entries of a CSR block.
template <std::size_t kSize>
inline void join_csr_entries(const std::uint32_t* cols, const std::byte* values,
                             std::uint32_t count, std::byte* entries) noexcept {
  for (std::uint32_t i = 0; i < count; ++i, entries += 4 + kSize) {
    std::memcpy(entries, cols + i, 4);
    std::memcpy(entries + 4, values + i * kSize, kSize);
  }
}

/// The same for a COO block, which stores no columns if it has only one.
template <std::size_t kSize, bool kWithCol>
inline void split_coo_entries(const std::byte* entries, std::uint32_t count, std::uint32_t* rows,
                              std::uint32_t* cols, std::byte* values) noexcept {
  constexpr std::size_t stride = (kWithCol ? 8 : 4) + kSize;
  std::uint32_t i = 0;
#if defined(__SSE2__)
  if constexpr (kSize == 8 && kWithCol) {
    // An entry is a vector: r c v v.
    const auto load = [](const std::byte* p) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    };
    const auto store = [](void* p, __m128i v) { _mm_storeu_si128(static_cast<__m128i*>(p), v); };
    for (; count - i >= 4; i += 4) {
      const std::byte* const p = entries + i * stride;
      ask_ahead(p);
      const __m128i a = load(p), b = load(p + 16), c = load(p + 32), d = load(p + 48);
      const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);  // r r c c
      store(rows + i, _mm_unpacklo_epi64(ab, cd));
      store(cols + i, _mm_unpackhi_epi64(ab, cd));
      store(values + i * kSize, _mm_unpackhi_epi64(a, b));
      store(values + (i + 2) * kSize, _mm_unpackhi_epi64(c, d));
    }
  }
#endif
  if (i == 0) ask_ahead(entries, count * stride);
  for (; i < count; ++i) {
    const std::byte* const p = entries + i * stride;
    std::memcpy(rows + i, p, 4);
    if constexpr (kWithCol) {
      std::memcpy(cols + i, p + 4, 4);
    } else {
      cols[i] = 0;
    }
    std::memcpy(values + i * kSize, p + stride - kSize, kSize);
  }
}

}  // namespace dapple::detail::dbdf
