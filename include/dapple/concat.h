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
#include "dapple/open.h"

namespace dapple {

/// The axis along which objects are concatenated.
enum class Axis : std::uint8_t { rows, columns };

struct ConcatOptions {
  /// Integers are rounded where floats join them and no type holds both exactly; otherwise reading
  /// one that would be is a type_mismatch.
  bool allow_loss = false;
  /// Where not all words of an ordered category can be put into one order, the column has none, and
  /// `note` says so. True: that throws invalid_argument.
  bool keep_order = false;
  TakeNote note{};
};

/// A virtual object that concatenates `parts` along `axis`. Nothing is copied or read: the result
/// shares the maps of the parts and keeps them open. Its blocks are theirs at new positions: they
/// are read and decoded as usual, but `Block::payload` is empty, views of stored values throw
/// type_mismatch, and nothing tells where in which file they are.
///
/// Where value types differ, the result has the narrowest that holds both. If there is none, it is
/// i64 for integers and f64 with floats; reading a value that it does not hold throws type_mismatch
/// (R6). Frames that are concatenated by rows need the same labels in the same order; times get the
/// finest of their units, and reading one that does not fit it throws type_mismatch. Dictionaries
/// are merged in the order of the parts; whether they are those of a category or of text is up to
/// the first. Those of ordered categories become one order if the orders together tell which of any
/// two words comes first; unordered parts then must have no other words. A column of which every
/// cell is missing or NaN, and CSV that is a line of labels alone, join columns of any kind. All
/// parts must be matrices, or all frames.
///
/// Names along the axis follow each other, "" for those of a part that has none; across it, all
/// parts that have names have the same. Attributes are those of the first part, and `note` tells of
/// others.
///
/// Throws invalid_argument for no parts, for shapes, labels, names or meanings that differ, and for
/// a mix of matrices and frames; unsupported for text columns. O(blocks + words of the
/// dictionaries); O(rows) for columns of integers whose missing cells are marked differently, and
/// for those that may be all missing.
std::variant<Matrix, Frame> concat(std::span<const std::variant<Matrix, Frame>> parts, Axis axis,
                                   const ConcatOptions& options = {});

}  // namespace dapple
