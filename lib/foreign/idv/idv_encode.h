// Vectors as a VBuffer block, truth values and texts as blocks of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/value_type.h"
#include "lib/foreign/idv/idv_codec.h"
#include "lib/object/store.h"

namespace dapple::detail::idv {

/// Collects vectors of `size` slots row by row; each is stored dense or sparse, whatever takes
/// fewer bytes. REQUIRES size >= 1. One thread.
class VectorEncoder {
 public:
  /// `bits`: of Booleans, one bit each. REQUIRES u8 then.
  VectorEncoder(ValueType type, std::uint64_t size, bool bits = false) noexcept
      : type_(type), size_(size), bits_(bits) {}

  /// A row of `size` values that follow each other.
  void add(const std::byte* values);
  /// A row of which only these cells, ascending, are not positive zero.
  void add(std::span<const StoredCell> cells);

  /// Appends the block of the rows so far, and forgets them.
  void finish(std::vector<std::byte>& out);

 private:
  bool smaller_sparse(std::uint64_t stored) const noexcept;
  void put_value(std::uint64_t bits);

  ValueType type_;
  std::uint64_t size_;
  bool bits_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int32_t> indices_;
  std::vector<std::byte> values_;
};

/// An item of two numbers: a date with zone or a row identifier.
struct Pair {
  std::uint64_t first = 0, second = 0;
};

/// As VectorEncoder, of items of two numbers. REQUIRES the layout `zoned` or `wide`.
class PairEncoder {
 public:
  PairEncoder(Layout layout, std::uint64_t size) noexcept : layout_(layout), size_(size) {}

  /// A row. REQUIRES `size` items.
  void add(std::span<const Pair> items);

  /// Appends the block of the rows so far, and forgets them.
  void finish(std::vector<std::byte>& out);

 private:
  Layout layout_;
  std::uint64_t size_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int32_t> indices_;
  std::vector<Pair> items_;
};

/// Booleans, each a byte of 0 or 1, one bit each. Throws invalid_argument for any other.
void put_bits(std::vector<std::byte>& out, std::span<const std::byte> values);

/// Collects texts, then puts them as one block.
class TextEncoder {
 public:
  /// Throws invalid_argument for a text that is not UTF-8, or the 2^31st UTF-16 unit.
  void add(std::string_view text);
  void add_missing();

  /// Appends the block of the texts so far, and forgets them.
  void finish(std::vector<std::byte>& out);

 private:
  std::vector<std::uint32_t> ends_;  // in UTF-16 units
  std::uint64_t units_ = 0;
  std::string text_;
};

/// Appends the block of one dense vector of these texts, as metadata has it.
void put_text_vector(std::vector<std::byte>& out, std::uint64_t n, TextEncoder& texts);

}  // namespace dapple::detail::idv
