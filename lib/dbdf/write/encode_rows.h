// The bytes of a block of sparse rows, piece by piece: what is hashed and written while it is in a
// core's cache is read from there, and a block of any size takes no memory of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/dbdf/write/encode.h"
#include "lib/io/piece_buffer.h"

namespace dapple::detail::dbdf {

/// Puts the bytes of rows under a plan whose value type holds them, behind what the buffer has.
class RowEncoder {
 public:
  /// Arguments must outlive this.
  RowEncoder(const CsrCells& cells, const Plan& plan, PieceBuffer& out)
      : cells_(cells), plan_(plan), out_(out) {}

  /// Puts those of the rows that are here, from `begin` to before `end`. REQUIRES that all before
  /// them were put.
  void put(std::uint32_t begin, std::uint32_t end);
  /// Puts what stands behind the last of them.
  void finish();

 private:
  /// Values that are converted at once, whatever rows they are of: a call for the few of one row
  /// costs more than to convert them.
  static constexpr std::uint64_t kBatch = 1024;

  template <std::size_t kSize>
  void put_csr(std::uint32_t i);
  template <std::size_t kSize, bool kWithCol>
  void put_coo(std::uint32_t i);
  template <std::size_t kSize>
  void put_dense(std::uint32_t i);
  /// Rows without entries, up to before `row`.
  void put_empty_rows(std::uint32_t row);

  /// The values from `k` on as the plan's type, exact by the survey. `count` is how many are
  /// wanted, and behind the call how many are there: at least one. REQUIRES that `k` ascends from
  /// call to call.
  template <std::size_t kSize>
  const std::byte* values_at(std::uint64_t k, std::uint64_t& count);

  const CsrCells& cells_;
  const Plan& plan_;
  PieceBuffer& out_;
  std::uint32_t next_row_ = 0;                                       // of the block
  std::array<std::byte, kBatch * sizeof(std::uint64_t)> converted_;  // one batch of values
  std::uint64_t converted_begin_ = 0, converted_end_ = 0;            // which they are
};

}  // namespace dapple::detail::dbdf
