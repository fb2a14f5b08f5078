#include "lib/codec/packed/write_integers.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "lib/base/vectors.h"

namespace dapple::detail::packed {

namespace {

unsigned bytes_of(std::uint64_t word) noexcept {
  return static_cast<unsigned>((std::bit_width(word) + 7) / 8);
}

/// The least and the greatest of words, each less `zero`.
template <Word W>
struct Extent {
  W low, high;
};
template <Word W>
DAPPLE_VECTORS Extent<W> extent_of(const W* in, std::size_t n, W zero, W mask) noexcept {
  Extent<W> found{mask, 0};
  for (std::size_t i = 0; i < n; ++i) {
    const W word = (in[i] - zero) & mask;
    found.low = std::min(found.low, word);
    found.high = std::max(found.high, word);
  }
  return found;
}

/// The length of each word in bits; gives the greatest.
template <Word W>
DAPPLE_VECTORS unsigned bit_lengths(const W* __restrict words, std::size_t n,
                                    std::uint8_t* __restrict out) noexcept {
  W all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::uint8_t>(std::bit_width(words[i]));
    all |= words[i];
  }
  return static_cast<unsigned>(std::bit_width(all));
}

/// How many of the lengths are each of 0 to `longest`: a few vectors for each of them take less
/// than adding one after the other.
DAPPLE_VECTORS void count_lengths(const std::array<std::uint8_t, kGroup>& length_of,
                                  unsigned longest, std::uint16_t* counts) noexcept {
  for (unsigned length = 0; length <= longest; ++length) {
    const auto wanted = static_cast<std::uint8_t>(length);
    std::uint8_t found = 0;
    for (const std::uint8_t one : length_of)
      found = static_cast<std::uint8_t>(found + (one == wanted));
    counts[length] = found;
  }
}

/// Turns words into what is packed: differences from the reference, the base of their group, or the
/// word before. All of it is modulo 2^(8 size).
template <Word W>
class Transform {
 public:
  Transform(const Integers<W>& integers, IntegerPlan plan)
      : in_(integers),
        mode_(plan.mode),
        lag_(plan.lag),
        mask_(static_cast<W>(low_bits(integers.size * 8))) {
    if (integers.words.empty()) return;
    if (mode_ == Mode::offsets) {
      reference_ = integers.is_signed ? least(W{1} << (integers.size * 8 - 1), 0, in_.words.size())
                                      : least(0, 0, in_.words.size());
    } else if (mode_ == Mode::deltas) {
      reference_ = least_delta();
    }
    base_bytes_ = mode_ == Mode::offsets ? offset_base_bytes() : first_base_bytes();
  }

  W reference() const noexcept { return reference_; }
  unsigned base_bytes() const noexcept { return base_bytes_; }

  /// Transforms the words [first, first + n); gives the base.
  W group(std::size_t first, std::size_t n, W* out) const noexcept {
    const W* const in = in_.words.data() + first;
    if (mode_ == Mode::offsets) {
      const W base = base_bytes_ == 0 ? W{0} : (least(reference_, first, n) - reference_) & mask_;
      const W add = reference_ + base;
      for (std::size_t i = 0; i < n; ++i) out[i] = (in[i] - add) & mask_;
      return base;
    }
    out[0] = 0;
    for (std::size_t i = 1; i < std::min(lag_, n); ++i)
      out[i] = (in[i] - in[0] - reference_) & mask_;
    for (std::size_t i = lag_; i < n; ++i) out[i] = (in[i] - in[i - lag_] - reference_) & mask_;
    if (mode_ == Mode::zigzag) {
      const unsigned top = in_.size * 8 - 1;
      for (std::size_t i = 1; i < n; ++i) {
        out[i] = ((out[i] << 1) ^ (0 - (out[i] >> top))) & mask_;
      }
    }
    return in[0] & mask_;
  }

 private:
  /// The least word where `zero` counts as the least there is.
  W least(W zero, std::size_t first, std::size_t n) const noexcept {
    return (extent_of(in_.words.data() + first, n, zero, mask_).low + zero) & mask_;
  }
  W least_delta() const noexcept {
    const W middle = W{1} << (in_.size * 8 - 1);
    W found = mask_;
    for (std::size_t first = 0; first < in_.words.size(); first += kGroup) {
      const std::size_t last = std::min(in_.words.size(), first + kGroup);
      for (std::size_t i = first + 1; i < last; ++i) {
        found = std::min<W>(found, (in_.words[i] - in_.words[i - 1] + middle) & mask_);
      }
    }
    return in_.words.size() < 2 ? W{0} : (found - middle) & mask_;
  }
  /// Groups get a base of their own if it saves more than it takes.
  unsigned offset_base_bytes() const noexcept {
    W most = 0;
    std::size_t with = 0, without = 0;
    for (std::size_t first = 0; first < in_.words.size(); first += kGroup) {
      const std::size_t n = std::min(kGroup, in_.words.size() - first);
      const auto [low, high] = extent_of(in_.words.data() + first, n, reference_, mask_);
      most = std::max(most, low);
      with += static_cast<std::size_t>(std::bit_width(high - low));
      without += static_cast<std::size_t>(std::bit_width(high));
    }
    const std::size_t groups = (in_.words.size() + kGroup - 1) / kGroup;
    const bool pays = (without - with) * (kGroup / 8) > groups * bytes_of(most);
    return pays ? bytes_of(most) : 0;
  }
  unsigned first_base_bytes() const noexcept {
    W most = 0;
    for (std::size_t i = 0; i < in_.words.size(); i += kGroup) most |= in_.words[i] & mask_;
    return bytes_of(most);
  }

  const Integers<W>& in_;
  const Mode mode_;
  const std::size_t lag_;
  const W mask_;
  W reference_ = 0;
  unsigned base_bytes_ = 0;
};

/// Appends a head to `heads` and a body to `bodies`. `words` are overwritten.
template <Word W>
void write_group(W* words, std::size_t n, unsigned step, Bytes& heads, Bytes& bodies) {
  std::array<std::uint8_t, kGroup> length_of{};
  const unsigned longest = bit_lengths(words, n, length_of.data());
  std::array<std::uint16_t, 65> lengths{};
  count_lengths(length_of, longest, lengths.data());
  lengths[0] = static_cast<std::uint16_t>(lengths[0] - (kGroup - n));  // words that are not there
  const GroupWidth best = best_width(lengths, n, step);
  for (const unsigned field : {best.width, best.exceptions, best.high}) {
    heads.push_back(static_cast<std::byte>(field));
  }
  const std::size_t at = bodies.size(), packed = packed_bytes(n, best.width);
  bodies.resize(at + best.bytes);
  std::byte* const body = bodies.data() + at;
  pack(words, n, best.width, body);
  if (best.exceptions == 0) return;
  std::array<std::uint8_t, kGroup> places;
  std::size_t found = 0;
  // Eight lengths at once: none is above 64, so that only those above the width reach the top bit.
  constexpr std::uint64_t ones = 0x0101010101010101, tops = ones << 7;
  for (std::size_t i = 0; i < n; i += 8) {
    const auto eight = load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(&length_of[i]));
    for (auto above = (eight + ones * (127 - best.width)) & tops; above != 0; above &= above - 1) {
      places[found++] =
          static_cast<std::uint8_t>(i + static_cast<unsigned>(std::countr_zero(above)) / 8);
    }
  }
  for (std::size_t i = 0; i < found; ++i) words[i] = words[places[i]] >> best.width;
  std::memcpy(body + packed, places.data(), found);
  pack(words, found, best.high, body + packed + found);
}

void append_compressed(const Bytes& text, int level, Bytes& out) {
  const std::size_t at = out.size();
  out.resize(at + ZSTD_compressBound(text.size()));
  const std::size_t size =
      ZSTD_compress(out.data() + at, out.size() - at, text.data(), text.size(), level);
  // With that much room, only memory can be short.
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  out.resize(at + size);
}

}  // namespace

void append_word(Bytes& out, std::uint64_t word, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::byte>(word >> (8 * i)));
}

GroupWidth best_width(std::span<const std::uint16_t, 65> lengths, std::size_t n, unsigned step) {
  unsigned longest = 64;
  while (longest > 0 && lengths[longest] == 0) --longest;
  const unsigned widest = (longest + step - 1) / step * step;
  GroupWidth best{widest, 0, 0, packed_bytes(n, widest)};
  std::size_t exceptions = 0;
  unsigned length = longest;
  for (unsigned width = widest; width >= step;) {
    width -= step;
    for (; length > width; --length) exceptions += lengths[length];
    const unsigned high = longest - width;
    const std::size_t bytes = packed_bytes(n, width) + exceptions + packed_bytes(exceptions, high);
    if (bytes < best.bytes) best = {width, static_cast<unsigned>(exceptions), high, bytes};
  }
  return best;
}

template <Word W>
bool write_integers(const Integers<W>& integers, IntegerPlan plan, Bytes& out) {
  const std::size_t n = integers.words.size();
  const std::size_t per_piece = kGroup * (plan.zstd ? kZstdPiece : kPlainPiece);
  const Transform<W> transform(integers, plan);
  out.push_back(static_cast<std::byte>(static_cast<unsigned>(plan.mode) |
                                       (plan.zstd ? kZstdFlag : 0U) |
                                       (plan.lag - 1U) << kLagShift));
  out.push_back(static_cast<std::byte>(transform.base_bytes()));
  append_word(out, transform.reference(), integers.size);
  std::size_t end_at = out.size();
  out.resize(end_at + (n + per_piece - 1) / per_piece * 4);
  const std::size_t data = out.size();
  Bytes heads, bodies;
  for (std::size_t first = 0; first < n; first += per_piece) {
    heads.clear();
    bodies.clear();
    for (std::size_t at = first; at < std::min(n, first + per_piece); at += kGroup) {
      std::array<W, kGroup> words;
      const std::size_t count = std::min(kGroup, n - at);
      const W base = transform.group(at, count, words.data());
      write_group(words.data(), count, plan.zstd ? 8 : 1, heads, bodies);
      append_word(heads, base, transform.base_bytes());
    }
    heads.insert(heads.end(), bodies.begin(), bodies.end());
    if (plan.zstd) {
      append_compressed(heads, plan.level, out);
    } else {
      out.insert(out.end(), heads.begin(), heads.end());
    }
    if (out.size() - data > std::numeric_limits<std::uint32_t>::max()) return false;
    store_le(out.data() + end_at, static_cast<std::uint32_t>(out.size() - data));
    end_at += 4;
  }
  return true;
}

template bool write_integers(const Integers<std::uint32_t>&, IntegerPlan, Bytes&);
template bool write_integers(const Integers<std::uint64_t>&, IntegerPlan, Bytes&);

}  // namespace dapple::detail::packed
