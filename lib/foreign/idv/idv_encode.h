// Vectors of numbers as a VBuffer block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dapple/value_type.h"
#include "lib/object/store.h"

namespace dapple::detail::idv {

/// Collects vectors of `size` slots row by row; each is stored dense or sparse, whatever takes
/// fewer bytes. REQUIRES size >= 1. One thread.
class VectorEncoder {
 public:
  VectorEncoder(ValueType type, std::uint64_t size) noexcept : type_(type), size_(size) {}

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
  std::vector<std::int32_t> counts_;
  std::vector<std::int32_t> indices_;
  std::vector<std::byte> values_;
};

}  // namespace dapple::detail::idv
