// How dense blocks of DAPHNE's runtime files are reached: what the opener finds out, and the driver
// uses. CSR matrices are those of lib/foreign/arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/object/store.h"

namespace dapple::detail::daphne {

/// Dense matrices, scalars, frames: bytes from one row to the next.
struct RowStep : DriverState {
  explicit RowStep(std::uint64_t step) noexcept : row_step(step) {}
  std::uint64_t row_step;
};

/// Gives the columns of a frame the labels of FILE.meta, if there is one with labels. Throws
/// corrupt when it speaks of another frame.
void take_labels_beside(const ByteSource& file, Schema& schema);

extern const Driver kDenseDriver;

}  // namespace dapple::detail::daphne
