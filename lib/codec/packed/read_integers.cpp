#include "lib/codec/packed/read_integers.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace dapple::detail::packed {

template <Word W>
IntegerReader<W>::IntegerReader(const Source& source, ByteReader& in, std::uint32_t n,
                                unsigned size)
    : source_(source), n_(n), size_(size) {
  const std::uint64_t start = in.offset();
  const auto flags = in.le<std::uint8_t>("packed integers");
  base_bytes_ = in.le<std::uint8_t>("packed integers");
  mode_ = static_cast<Mode>(flags & 3);
  zstd_ = (flags & kZstdFlag) != 0;
  if (flags > 7 || (flags & 3) > 2) in.fail(start, "packed integers are of an unknown mode");
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

template <Word W>
void IntegerReader<W>::read(std::uint32_t begin, std::uint32_t end, W* out) {
  const std::size_t per_piece = kGroup * (zstd_ ? kZstdPiece : kPlainPiece);
  for (std::size_t at = begin; at < end;) {
    const std::size_t number = at / per_piece, first = number * per_piece;
    const std::size_t stop = std::min<std::size_t>(end, first + per_piece);
    read_piece(number, at - first, stop - first, out);
    out += stop - at;
    at = stop;
  }
}

template <Word W>
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
template <Word W>
std::span<const std::byte> IntegerReader<W>::piece(std::size_t number) {
  const std::byte* const entry = ends_.data() + number * 4;
  const std::size_t begin = number == 0 ? 0 : load_le<std::uint32_t>(entry - 4);
  const std::size_t end = load_le<std::uint32_t>(entry);
  if (begin > end || end > data_.size())
    fail(entry, "a piece of packed integers ends outside them");
  const auto bytes = data_.subspan(begin, end - begin);
  if (!zstd_) return bytes;
  if (text_of_ != number) {
    text_of_ = ~std::size_t{0};
    text_.reset(kMostPiece + kSlack);
    text_size_ = ZSTD_decompress(text_.data(), kMostPiece, bytes.data(), bytes.size());
    if (ZSTD_isError(text_size_) != 0) {
      source_.fail(bytes.data(), std::string("packed integers: the zstd data is damaged: ") +
                                     ZSTD_getErrorName(text_size_));
    }
    text_of_ = number;
  }
  return {text_.data(), text_size_};
}

template <Word W>
void IntegerReader<W>::read_piece(std::size_t number, std::size_t begin, std::size_t end, W* out) {
  const auto bytes = piece(number);
  const std::size_t per_piece = kGroup * (zstd_ ? kZstdPiece : kPlainPiece);
  const std::size_t n = std::min(per_piece, n_ - number * per_piece);
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

template <Word W>
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
template <Word W>
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
  const W add = mode_ == Mode::offsets ? reference_ + base : mode_ == Mode::deltas ? reference_ : 0;
  unpack(body, group.n, group.width, add, out);
  if (group.exceptions > 0) patch(group, body + packed_bytes(group.n, group.width), out);
  if (mode_ == Mode::offsets) return;
  if (mode_ == Mode::zigzag) {
    for (std::size_t i = 0; i < group.n; ++i) out[i] = (out[i] >> 1) ^ (0 - (out[i] & 1));
  }
  out[0] = base;
  for (std::size_t i = 1; i < group.n; ++i) out[i] += out[i - 1];
}

template <Word W>
void IntegerReader<W>::patch(const Group& group, const std::byte* positions, W* out) const {
  std::array<W, kGroup + 8> highs;
  unpack(positions + group.exceptions, group.exceptions, group.high, W{0}, highs.data());
  std::size_t most = 0;
  for (unsigned i = 0; i < group.exceptions; ++i) {
    const std::size_t position = load_le<std::uint8_t>(positions + i);
    most = std::max(most, position);
    out[position % kGroup] += highs[i] << group.width;
  }
  if (most >= group.n) fail(group.head, "packed integers: an exception is outside its group");
}

/// `at` is a byte of the payload, or of a piece that was compressed, which is blamed then.
template <Word W>
void IntegerReader<W>::fail(const std::byte* at, const char* detail) const {
  const auto bytes = source_.bytes;
  const bool inside = at >= bytes.data() && at <= bytes.data() + bytes.size();
  source_.fail(inside ? at : data_.data(), detail);
}

template class IntegerReader<std::uint32_t>;
template class IntegerReader<std::uint64_t>;

}  // namespace dapple::detail::packed
