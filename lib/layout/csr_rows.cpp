#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lib/layout/csr_rows.h"

namespace dapple::detail {

namespace {

/// What all ways to split entries are given.
template <class Col>
struct SplitTask {
  const std::byte* entries;
  std::uint32_t count;
  std::int64_t last;   // the column before the first
  std::int64_t width;  // of the block
  Col first;           // added to columns
  Col* cols;
  std::byte* values;
  std::size_t ahead;
};

/// False unless columns ascend from the last, below the width, and no value is zero.
template <class Col>
using Split = bool (*)(const SplitTask<Col>& task) noexcept;

template <std::size_t kSize, class Col>
bool split_each(const SplitTask<Col>& task) noexcept {
  bool sound = true;
  std::int64_t last = task.last;
  const std::byte* p = task.entries;
  for (std::uint32_t k = 0; k < task.count; ++k, p += 4 + kSize) {
    const auto col = load_le<std::uint32_t>(p);
    const auto value = load_le<BitsOfSize<kSize>>(p + 4);
    sound = (last < std::int64_t{col}) & (value != 0) & sound;
    last = col;
    task.cols[k] = task.first + col;
    store_le(task.values + k * kSize, value);
  }
  return sound && last < task.width;
}

#if defined(__x86_64__)

/// Which bytes of two loads the columns and the values of four entries are. The second load ends
/// with the last entry; where that leaves a gap, it starts with the third.
template <std::size_t kSize>
struct Places {
  static constexpr std::size_t kStride = 4 + kSize;
  static constexpr std::size_t kSecond = kSize == 8 ? 2 * kStride : 4 * kStride - 16;
  using Mask = std::array<std::uint8_t, 16>;

  alignas(16) Mask cols[2], values[2];

  consteval Places() {
    constexpr std::uint8_t kNone = 0x80;  // a byte that is zero
    for (Mask* const mask : {&cols[0], &cols[1], &values[0], &values[1]}) mask->fill(kNone);
    for (std::size_t i = 0; i < 4; ++i) {
      find(cols, 4 * i, kStride * i, 4);
      if (kSize < 8) find(values, kSize * i, kStride * i + 4, kSize);
    }
  }

 private:
  static consteval void find(Mask* masks, std::size_t to, std::size_t from, std::size_t n) {
    const bool first = from + n <= 16;
    for (std::size_t i = 0; i < n; ++i) {
      masks[first ? 0 : 1][to + i] = static_cast<std::uint8_t>(from + i - (first ? 0 : kSecond));
    }
  }
};

[[gnu::target("avx2"), gnu::always_inline]] inline __m128i load(const void* p) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}

/// The bytes of two loads that two masks name.
[[gnu::target("avx2"), gnu::always_inline]] inline __m128i pick(
    __m128i a, __m128i b, const std::array<std::uint8_t, 16> (&masks)[2]) noexcept {
  return _mm_or_si128(_mm_shuffle_epi8(a, load(masks[0].data())),
                      _mm_shuffle_epi8(b, load(masks[1].data())));
}

/// Which values are zero: all bits of them, of those that there are.
template <std::size_t kSize>
[[gnu::target("avx2"), gnu::always_inline]] inline __m128i zeros_in(__m128i values) noexcept {
  const __m128i zero = _mm_setzero_si128();
  if constexpr (kSize == 1) return _mm_cmpeq_epi8(values, zero);
  if constexpr (kSize == 2) return _mm_cmpeq_epi16(values, zero);
  if constexpr (kSize == 4) return _mm_cmpeq_epi32(values, zero);
  return _mm_cmpeq_epi64(values, zero);
}

/// Four columns, to which `first` is added.
template <class Col>
[[gnu::target("avx2"), gnu::always_inline]] inline void store(Col* to, __m128i cols,
                                                              Col first) noexcept {
  if constexpr (sizeof(Col) == 4) {
    const __m128i sum = _mm_add_epi32(cols, _mm_set1_epi32(static_cast<int>(first)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), sum);
  } else {
    const __m256i sum = _mm256_add_epi64(_mm256_cvtepu32_epi64(cols),
                                         _mm256_set1_epi64x(static_cast<long long>(first)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum);
  }
}

/// Four entries at a time, in a third of the instructions. REQUIRES width < 2^31.
template <std::size_t kSize, class Col>
[[gnu::target("avx2")]] bool split_fours(const SplitTask<Col>& task) noexcept {
  static constexpr Places<kSize> kPlaces;
  constexpr std::size_t kFour = 4 * kSize, kStride = Places<kSize>::kStride;
  SplitTask<Col> rest = task;
  __m128i before = _mm_set1_epi32(static_cast<int>(task.last)), rising = _mm_set1_epi32(-1);
  __m128i zeros = _mm_setzero_si128();
  for (; rest.count >= 4; rest.count -= 4) {
    __builtin_prefetch(rest.entries + task.ahead);
    const __m128i a = load(rest.entries), b = load(rest.entries + Places<kSize>::kSecond);
    const __m128i col = pick(a, b, kPlaces.cols);
    // A column of 2^31 or more is below the one before.
    rising = _mm_and_si128(rising, _mm_cmpgt_epi32(col, _mm_alignr_epi8(col, before, 12)));
    before = col;
    store(rest.cols, col, task.first);
    std::byte* const to = rest.values;
    if constexpr (kSize == 8) {
      for (std::size_t i = 0; i < 4; ++i)
        std::memcpy(to + 8 * i, rest.entries + i * kStride + 4, 8);
      zeros = _mm_or_si128(zeros, _mm_or_si128(zeros_in<8>(load(to)), zeros_in<8>(load(to + 16))));
    } else {
      const __m128i four = pick(a, b, kPlaces.values);
      std::memcpy(to, &four, kFour);
      zeros = _mm_or_si128(zeros, zeros_in<kSize>(four));
    }
    rest.entries += 4 * kStride;
    rest.cols += 4;
    rest.values += kFour;
  }
  constexpr int kValues = kFour < 16 ? (1 << kFour) - 1 : 0xffff;
  const bool sound =
      _mm_movemask_epi8(rising) == 0xffff && (_mm_movemask_epi8(zeros) & kValues) == 0;
  if (rest.count < task.count) rest.last = _mm_extract_epi32(before, 3);
  return sound & split_each<kSize>(rest);
}

#endif

template <class Col>
Split<Col> split_of(ValueType type, bool narrow) noexcept {
  return visit_bits(type, [narrow](auto tag) -> Split<Col> {
#if defined(__x86_64__)
    static const bool fours = __builtin_cpu_supports("avx2");
    if (fours && narrow) return split_fours<sizeof tag, Col>;
#endif
    static_cast<void>(narrow);
    return split_each<sizeof tag, Col>;
  });
}

}  // namespace

template <class Col>
bool split_row(const std::byte* entries, std::uint32_t count, std::uint32_t width, ValueType from,
               Col first, Col* cols, ValueType to, std::byte* values, std::size_t ahead) {
  constexpr std::uint32_t kMostNarrow = std::numeric_limits<std::int32_t>::max();
  const Split<Col> split = split_of<Col>(from, width <= kMostNarrow);
  if (from == to) return split({entries, count, -1, width, first, cols, values, ahead});
  // Other values take a second pass, over what the nearest cache holds.
  constexpr std::uint32_t kAtOnce = 512;
  alignas(64) std::byte near[kAtOnce * 8];
  const std::size_t from_size = size_of(from), to_size = size_of(to), stride = 4 + from_size;
  std::int64_t last = -1;
  for (std::uint32_t k = 0, n; k < count; k += n) {
    n = std::min(kAtOnce, count - k);
    if (!split({entries + k * stride, n, last, width, first, cols + k, near, ahead})) return false;
    convert_cells(from, near, from_size, to, values + k * to_size, to_size, n);
    last = static_cast<std::int64_t>(cols[k + n - 1] - first);
  }
  return true;
}

template bool split_row(const std::byte*, std::uint32_t, std::uint32_t, ValueType, std::uint32_t,
                        std::uint32_t*, ValueType, std::byte*, std::size_t);
template bool split_row(const std::byte*, std::uint32_t, std::uint32_t, ValueType, std::uint64_t,
                        std::uint64_t*, ValueType, std::byte*, std::size_t);

}  // namespace dapple::detail
