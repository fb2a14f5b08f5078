// How the blocks of DAPHNE's runtime files are reached: what the opener finds out, and the codecs
// use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/region.h"
#include "lib/object/store.h"

namespace dapple::detail::daphne {

/// Dense matrices, scalars, frames: bytes from one row to the next.
struct RowStep : CodecState {
  explicit RowStep(std::uint64_t step) noexcept : row_step(step) {}
  std::uint64_t row_step;
};

/// CSR matrices: where the arrays are. They lie inside the file.
struct CsrArrays : CodecState {
  std::uint64_t nnz = 0;
  std::uint64_t columns_at = 0;
  std::uint64_t values_at = 0;
  std::uint64_t end = 0;  // of the last value

  /// Positions of the entries of rows [begin, end) in the arrays of columns and values. Throws
  /// corrupt when the two offsets do not ascend, or leave the arrays.
  Range row_range(const MappedFile& file, std::uint64_t begin, std::uint64_t end_row) const;
};

/// Gives the columns of a frame the labels of FILE.meta, if there is one with labels. Throws
/// corrupt when it speaks of another frame.
void take_labels_beside(const MappedFile& file, Schema& schema);

extern const Codec kDenseCodec;
extern const Codec kCsrCodec;

}  // namespace dapple::detail::daphne
