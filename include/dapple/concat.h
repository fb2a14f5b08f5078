// Several matrices, or several frames, put together as one.
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

/// Along which axis objects follow each other.
enum class Axis : std::uint8_t { rows, columns };

/// An object whose cells are those of `parts`, one after the other along `axis`. Nothing is copied
/// or read: it shares the parts' maps, and reads, decodes and converts where they do. Its blocks
/// are their blocks, moved; a stored block of it has no payload of its own.
///
/// Where value types differ the whole has one that holds both; integers with floats are f64, where
/// reading an integer that f64 would round is type_mismatch (R6). Frames put together by
/// rows need the same labels in the same order; their dictionaries are merged, in the order of the
/// parts. All parts are matrices, or all are frames.
///
/// Throws invalid_argument for no parts, for shapes, labels or meanings that differ, and for a mix
/// of matrices and frames; unsupported for columns that can only be shown. O(blocks + words of the
/// dictionaries).
std::variant<Matrix, Frame> concat(std::span<const std::variant<Matrix, Frame>> parts, Axis axis);

}  // namespace dapple
