// The driver of objects that were put together: each block is read where it is stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "dapple/concat.h"
#include "lib/compute/concat_columns.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// One of the objects that are put together.
struct Piece {
  std::shared_ptr<const Store> store;
  std::uint64_t first_row = 0, first_col = 0;  // in the whole
  /// Of each column of a frame, one for all of a matrix; none: all stay what they are.
  std::vector<Recode> recode;
};

/// What the driver of the whole calls its format. The state is a ConcatState.
inline constexpr std::string_view kConcatFormat = "concat";

struct ConcatState final : DriverState {
  std::vector<Piece> pieces;
  Axis axis = Axis::rows;

  /// The piece that holds this row or column of the whole.
  const Piece& at(std::uint64_t row, std::uint64_t col) const noexcept {
    const auto behind =
        std::upper_bound(pieces.begin(), pieces.end(), axis == Axis::rows ? row : col,
                         [this](std::uint64_t x, const Piece& piece) {
                           return x < (axis == Axis::rows ? piece.first_row : piece.first_col);
                         });
    return *(behind - 1);
  }
};

/// The object of this schema that the pieces make.
std::shared_ptr<const Store> store_of(std::vector<Piece> pieces, Schema schema, Axis axis);

/// Reads blocks of the whole, whose entries have the number of the block in its piece as offset.
/// The state of its store is a ConcatState of these pieces.
const Driver& concat_driver(const std::vector<Piece>& pieces, bool frame);

}  // namespace dapple::detail
