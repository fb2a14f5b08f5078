// Reads any part of a stream of packed integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/array.h"
#include "lib/codec/packed/bit_kernels.h"
#include "lib/codec/packed/format.h"

namespace dapple::detail::packed {

/// The piece that was decompressed last, for one thread.
struct Piece {
  const std::byte* of = nullptr;  // the compressed bytes
  Array<std::byte> text;
  std::size_t size = 0;
};

/// Borrows its bytes. Any thread. W may be narrower than integers are, which are given modulo its
/// size.
template <class W>
class IntegerReader {
 public:
  IntegerReader() = default;
  /// `n` integers of `size` bytes, in the rest of `in`. Throws corrupt.
  IntegerReader(const Source& source, ByteReader& in, std::uint32_t n, unsigned size);

  /// Integers [begin, end), of which the lowest `size` bytes count. REQUIRES end <= n. Throws
  /// corrupt.
  void read(std::uint32_t begin, std::uint32_t end, W* out, Piece& kept) const;
  /// False where integers are added up, which is faster in words.
  bool apart() const noexcept { return mode_ == Mode::offsets; }
  /// The bytes that `read` will look at.
  std::span<const std::byte> bytes_of(std::uint32_t begin, std::uint32_t end) const noexcept;

 private:
  struct Group {
    const std::byte* head;
    const std::byte* body;
    std::size_t n, bytes;
    unsigned width, exceptions, high;
  };
  std::span<const std::byte> piece(std::size_t number, Piece& kept) const;
  void read_piece(std::span<const std::byte> bytes, std::size_t n, std::size_t begin,
                  std::size_t end, W* out) const;
  Group group_at(const std::byte* head, std::span<const std::byte> bodies, std::size_t n) const;
  void read_group(const Group& group, W* out) const;
  void patch(const Group& group, const std::byte* positions, W* out) const;
  [[noreturn]] void fail(const std::byte* at, const char* detail) const;

  Source source_{};
  std::uint32_t n_ = 0;
  unsigned size_ = 0, base_bytes_ = 0;
  Mode mode_ = Mode::offsets;
  std::uint8_t lag_ = 1;
  bool zstd_ = false;
  W reference_ = 0;
  std::span<const std::byte> ends_, data_;
};

}  // namespace dapple::detail::packed
