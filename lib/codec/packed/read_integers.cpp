#include "lib/codec/packed/read_integers.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace dapple::detail::packed {

namespace {

/// Adds to each word the one `lag` before it, or the first one. Sums stay in registers.
template <std::size_t lag, class W>
void add_before(std::size_t n, W* words) noexcept {
  std::array<std::common_type_t<W, std::uint32_t>, lag> sums{};
  for (std::size_t k = 1; k < lag; ++k) sums[k] = words[0];
  std::size_t i = 0;
  for (; n - i >= lag; i += lag) {
    for (std::size_t k = 0; k < lag; ++k) words[i + k] = static_cast<W>(sums[k] += words[i + k]);
  }
  for (std::size_t k = 0; i < n; ++i, ++k) words[i] = static_cast<W>(words[i] + sums[k]);
}

}  // namespace

template <class W>
IntegerReader<W>::IntegerReader(const Source& source, ByteReader& in, std::uint32_t n,
                                unsigned size)
    : source_(source), n_(n), size_(size) {
  const std::uint64_t start = in.offset();
  const auto flags = in.le<std::uint8_t>("packed integers");
  base_bytes_ = in.le<std::uint8_t>("packed integers");
  mode_ = static_cast<Mode>(flags & 3);
  zstd_ = (flags & kZstdFlag) != 0;
  lag_ = static_cast<std::uint8_t>((flags >> kLagShift) + 1);
  if ((flags & 3) > 2 || lag_ > (mode_ == Mode::zigzag ? kMostLag : 1)) {
    in.fail(start, "packed integers are of an unknown mode");
  }
  if (base_bytes_ > size) in.fail(start + 1, "the bases of packed integers are too wide");
  reference_ = static_cast<W>(load_word(in.take(size, "packed integers").data(), size));
  if (mode_ == Mode::zigzag && reference_ != 0) {
    in.fail(start + 2, "the reference of integers in zigzag order is not 0");
  }
  const std::size_t per_piece = kGroup * (zstd_ ? kZstdPiece : kPlainPiece);
  ends_ = in.take((n + per_piece - 1) / per_piece * 4, "the pieces of packed integers");
  const std::uint64_t left = in.remaining();
  const std::uint64_t end =
      ends_.empty() ? 0 : load_le<std::uint32_t>(ends_.data() + ends_.size() - 4);
  if (end != left) {
    in.fail(in.offset() - 4, "packed integers do not end where their last piece does");
  }
  data_ = in.take(left, "packed integers");
}

template <class W>
void IntegerReader<W>::read(std::uint32_t begin, std::uint32_t end, W* out, Piece& kept) const {
  const std::size_t per_piece = kGroup * (zstd_ ? kZstdPiece : kPlainPiece);
  for (std::size_t at = begin; at < end;) {
    const std::size_t number = at / per_piece, first = number * per_piece;
    const std::size_t stop = std::min<std::size_t>(end, first + per_piece);
    const std::size_t n = std::min<std::size_t>(per_piece, n_ - first);
    read_piece(piece(number, kept), n, at - first, stop - first, out);
    out += stop - at;
    at = stop;
  }
}

template <class W>
std::span<const std::byte> IntegerReader<W>::bytes_of(std::uint32_t begin,
                                                      std::uint32_t end) const noexcept {
  if (begin >= end || ends_.empty()) return {};
  const std::size_t per_piece = kGroup * (zstd_ ? kZstdPiece : kPlainPiece);
  const std::size_t first = begin / per_piece, last = (end - 1) / per_piece;
  const std::size_t from = first == 0 ? 0 : load_le<std::uint32_t>(ends_.data() + first * 4 - 4);
  const std::size_t to = load_le<std::uint32_t>(ends_.data() + last * 4);
  return from <= to && to <= data_.size() ? data_.subspan(from, to - from)
                                          : std::span<const std::byte>();
}

/// The bytes of a piece, decompressed.
template <class W>
std::span<const std::byte> IntegerReader<W>::piece(std::size_t number, Piece& kept) const {
  const std::byte* const entry = ends_.data() + number * 4;
  const std::size_t begin = number == 0 ? 0 : load_le<std::uint32_t>(entry - 4);
  const std::size_t end = load_le<std::uint32_t>(entry);
  if (begin > end || end > data_.size())
    fail(entry, "a piece of packed integers ends outside them");
  const auto bytes = data_.subspan(begin, end - begin);
  if (!zstd_) return bytes;
  if (kept.of != bytes.data()) {
    kept.of = nullptr;
    kept.text.reset(kMostPiece + kSlack);
    kept.size = ZSTD_decompress(kept.text.data(), kMostPiece, bytes.data(), bytes.size());
    if (ZSTD_isError(kept.size) != 0) {
      source_.fail(bytes.data(), std::string("packed integers: the zstd data is damaged: ") +
                                     ZSTD_getErrorName(kept.size));
    }
    kept.of = bytes.data();
  }
  return {kept.text.data(), kept.size};
}

template <class W>
void IntegerReader<W>::read_piece(std::span<const std::byte> bytes, std::size_t n,
                                  std::size_t begin, std::size_t end, W* out) const {
  const std::size_t groups = (n + kGroup - 1) / kGroup, head_bytes = kGroupHead + base_bytes_;
  if (groups * head_bytes > bytes.size())
    fail(bytes.data(), "packed integers: a piece is too short");
  auto bodies = bytes.subspan(groups * head_bytes);
  for (std::size_t g = 0; g * kGroup < end; ++g) {
    const std::size_t first = g * kGroup;
    const Group group =
        group_at(bytes.data() + g * head_bytes, bodies, std::min(kGroup, n - first));
    bodies = bodies.subspan(group.bytes);
    if (first + kGroup <= begin) continue;
    const std::size_t from = std::max(begin, first) - first, to = std::min(end - first, group.n);
    if (from == 0 && to == kGroup) {
      read_group(group, out);
    } else {
      std::array<W, kGroup + 8> all;
      read_group(group, all.data());
      std::copy(all.begin() + from, all.begin() + to, out);
    }
    out += to - from;
  }
  if (end == n && !bodies.empty()) fail(bodies.data(), "packed integers: a piece is too long");
}

template <class W>
auto IntegerReader<W>::group_at(const std::byte* head, std::span<const std::byte> bodies,
                                std::size_t n) const -> Group {
  Group group{head,
              bodies.data(),
              n,
              0,
              load_le<std::uint8_t>(head),
              load_le<std::uint8_t>(head + 1),
              load_le<std::uint8_t>(head + 2)};
  if (group.width > size_ * 8 || group.high > size_ * 8 - group.width || group.exceptions > n ||
      (group.exceptions == 0) != (group.high == 0)) {
    fail(head, "packed integers: a group has impossible widths");
  }
  group.bytes =
      packed_bytes(n, group.width) + group.exceptions + packed_bytes(group.exceptions, group.high);
  if (group.bytes > bodies.size()) fail(head, "packed integers: a group does not fit its piece");
  return group;
}

/// Writes up to 7 words more than the group has, if it is not a full one.
template <class W>
void IntegerReader<W>::read_group(const Group& group, W* out) const {
  const std::byte* body = group.body;
  std::array<std::byte, kGroup * 17 + kSlack> copy;
  const std::byte* const end = source_.bytes.data() + source_.bytes.size();
  if (!zstd_ && static_cast<std::size_t>(end - body) < group.bytes + kSlack) {
    std::memcpy(copy.data(), body, group.bytes);
    std::memset(copy.data() + group.bytes, 0, kSlack);
    body = copy.data();
  }
  const W base = static_cast<W>(load_word(group.head + kGroupHead, base_bytes_));
  const W add = mode_ == Mode::zigzag   ? W{0}
                : mode_ == Mode::deltas ? reference_
                                        : static_cast<W>(reference_ + base);
  unpack(body, group.n, group.width, add, out);
  if (group.exceptions > 0) patch(group, body + packed_bytes(group.n, group.width), out);
  if (mode_ == Mode::offsets) return;
  if (mode_ == Mode::zigzag) {
    for (std::size_t i = 0; i < group.n; ++i)
      out[i] = static_cast<W>((out[i] >> 1) ^ (0 - (out[i] & 1)));
  }
  out[0] = base;
  switch (lag_) {
    case 1:
      return add_before<1>(group.n, out);
    case 2:
      return add_before<2>(group.n, out);
    case 3:
      return add_before<3>(group.n, out);
    default:
      return add_before<4>(group.n, out);
  }
}

template <class W>
void IntegerReader<W>::patch(const Group& group, const std::byte* positions, W* out) const {
  std::array<W, kGroup + 8> highs;
  unpack(positions + group.exceptions, group.exceptions, group.high, W{0}, highs.data());
  std::size_t most = 0;
  for (unsigned i = 0; i < group.exceptions; ++i) {
    const std::size_t position = load_le<std::uint8_t>(positions + i);
    most = std::max(most, position);
    W& word = out[position % kGroup];
    word = static_cast<W>(word + (highs[i] << group.width));
  }
  if (most >= group.n) fail(group.head, "packed integers: an exception is outside its group");
}

/// `at` is a byte of the payload, or of a piece that was compressed, which is blamed then.
template <class W>
void IntegerReader<W>::fail(const std::byte* at, const char* detail) const {
  const auto bytes = source_.bytes;
  const bool inside = at >= bytes.data() && at <= bytes.data() + bytes.size();
  source_.fail(inside ? at : data_.data(), detail);
}

template class IntegerReader<std::uint8_t>;
template class IntegerReader<std::uint32_t>;
template class IntegerReader<std::uint64_t>;

}  // namespace dapple::detail::packed
