// Several matrices, or several frames, as one.
//
//   const auto year = dapple::concat(months, dapple::Axis::rows);
//   dapple::convert(year, {}, "year.dbdf");
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "dapple/frame.h"
#include "dapple/matrix.h"

namespace dapple {

/// The axis along which objects are concatenated.
enum class Axis : std::uint8_t { rows, columns };

/// A virtual object that concatenates `parts` along `axis`. Nothing is copied or read: the result
/// shares the maps of the parts and keeps them open. Its blocks are theirs at new positions: they
/// are read and decoded as usual, but `Block::payload` is empty and views of stored values throw
/// type_mismatch.
///
/// Where value types differ, the result has the narrowest that holds both. If there is none, it is
/// i64 for integers and f64 with floats; reading a value that it does not hold throws type_mismatch
/// (R6). Frames that are concatenated by rows need the same labels in the same order; their
/// dictionaries are merged in the order of the parts, and are ordered if all are, in one order;
/// times get the finest of their units, and reading one that does not fit it throws type_mismatch.
/// All parts must be matrices, or all frames.
///
/// Throws invalid_argument for no parts, for shapes, labels or meanings that differ, and for a mix
/// of matrices and frames; unsupported for text columns. O(blocks + words of the dictionaries);
/// O(rows) for columns of integers whose missing cells are marked differently.
std::variant<Matrix, Frame> concat(std::span<const std::variant<Matrix, Frame>> parts, Axis axis);

}  // namespace dapple
