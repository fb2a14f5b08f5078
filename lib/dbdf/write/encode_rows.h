// Encoding a block of sparse rows piece by piece, so that its bytes are hashed and written while
// they are in the cache, and a block of any size takes constant memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dapple/region.h"
#include "lib/dbdf/write/block_plan.h"
#include "lib/io/piece_buffer.h"
#include "lib/object/block_stats.h"

namespace dapple::detail::dbdf {

/// Appends the bytes of rows to a buffer. The plan's value type must hold their values exactly.
class RowEncoder {
 public:
  /// The arguments must outlive this.
  RowEncoder(const CsrCells& cells, const Plan& plan, PieceBuffer& out)
      : cells_(cells), plan_(plan), out_(out) {}

  /// Puts rows [begin, end) of those held. REQUIRES that all rows before them were put.
  void put(std::uint32_t begin, std::uint32_t end);
  /// Puts the empty rows after the last one held.
  void finish();

 private:
  /// Values that are converted at once, across rows: a call for the few values of one row would
  /// cost more than their conversion.
  static constexpr std::uint64_t kBatch = 1024;

  template <std::size_t kSize>
  void put_csr(std::uint32_t i);
  template <std::size_t kSize, bool kWithCol>
  void put_coo(std::uint32_t i);
  template <std::size_t kSize>
  void put_dense(std::uint32_t i);
  /// Puts the rows without entries before `row`.
  void put_empty_rows(std::uint32_t row);

  /// The values from `k` on in the plan's type. `count` is how many are wanted, and becomes how
  /// many are returned, at least one. REQUIRES that `k` ascends from call to call.
  template <std::size_t kSize>
  const std::byte* values_at(std::uint64_t k, std::uint64_t& count);

  const CsrCells& cells_;
  const Plan& plan_;
  PieceBuffer& out_;
  std::uint32_t next_row_ = 0;                                       // of the block
  std::array<std::byte, kBatch * sizeof(std::uint64_t)> converted_;  // values
  std::uint64_t converted_begin_ = 0, converted_end_ = 0;            //   [begin, end) of `cells_`
};

/// Values are looked at right after they were encoded, when they are in the cache: a pass of its
/// own over them halves the speed of writing. References must outlive the object.
class EncodedStats {
 public:
  /// Unless `wanted`, nothing is looked at and nothing known.
  EncodedStats(const CsrCells& cells, const Plan& plan, bool wanted);

  /// Rows up to `end` have been encoded.
  void reach(std::uint32_t end);
  /// Of the values that the whole block stores. REQUIRES that all rows were reached; once.
  const BlockStats& finish();

 private:
  BlockStats of(Range entries) const;

  const CsrCells& cells_;
  const Plan& plan_;
  bool wanted_;
  std::uint64_t done_ = 0;  // entries
  BlockStats stats_;
};

}  // namespace dapple::detail::dbdf
