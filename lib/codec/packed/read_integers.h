// Reads any part of a stream of packed integers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/array.h"
#include "lib/codec/packed/bit_kernels.h"
#include "lib/codec/packed/format.h"

namespace dapple::detail::packed {

/// Borrows its bytes. One thread: the piece that was decompressed last is kept.
template <Word W>
class IntegerReader {
 public:
  IntegerReader() = default;
  /// `n` integers of `size` bytes, in the rest of `in`. Throws corrupt.
  IntegerReader(const Source& source, ByteReader& in, std::uint32_t n, unsigned size);

  /// Integers [begin, end), of which the lowest `size` bytes count. REQUIRES end <= n. Throws
  /// corrupt.
  void read(std::uint32_t begin, std::uint32_t end, W* out);
  /// The bytes that `read` will look at.
  std::span<const std::byte> bytes_of(std::uint32_t begin, std::uint32_t end) const noexcept;

 private:
  struct Group {
    const std::byte* head;
    const std::byte* body;
    std::size_t n, bytes;
    unsigned width, exceptions, high;
  };
  std::span<const std::byte> piece(std::size_t number);
  void read_piece(std::size_t number, std::size_t begin, std::size_t end, W* out);
  Group group_at(const std::byte* head, std::span<const std::byte> bodies, std::size_t n) const;
  void read_group(const Group& group, W* out) const;
  void patch(const Group& group, const std::byte* positions, W* out) const;
  [[noreturn]] void fail(const std::byte* at, const char* detail) const;

  Source source_{};
  std::uint32_t n_ = 0;
  unsigned size_ = 0, base_bytes_ = 0;
  Mode mode_ = Mode::offsets;
  bool zstd_ = false;
  W reference_ = 0;
  std::span<const std::byte> ends_, data_;
  Array<std::byte> text_;  // of a piece that was compressed
  std::size_t text_of_ = ~std::size_t{0}, text_size_ = 0;
};

}  // namespace dapple::detail::packed
