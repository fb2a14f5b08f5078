// What a writer refuses before it writes: options, labels and meanings that no file can have, and
// blocks that the object has no place for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dapple/block.h"
#include "dapple/writer.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// Throws invalid_argument for an alignment that is no power of two, or too large, and for tiles
/// without cells.
void require_sound(const WriteOptions& options);

/// Gives the object the attributes and names that the options have in place of its own; none in the
/// plain layout. Throws invalid_argument for another number of names than of rows or columns, and
/// for names of the columns of a frame; corrupt for its own when they are damaged.
void take_given(const WriteOptions& options, Schema& schema, const std::string& file);

/// The header. Throws invalid_argument for a label that it cannot hold.
std::vector<std::byte> checked_header(const Schema& schema);

/// The declared type of a block's cells. Throws invalid_argument for a block without cells, or of
/// columns of several types (R8); out_of_range when it is not inside the object (R2).
ValueType type_of_block(const Schema& schema, BlockPos pos, TileShape shape);

/// Calls `f`, and makes its errors name the file that is being written.
template <class F>
auto naming(const std::string& file, const F& f) {
  try {
    return f();
  } catch (const Error& e) {
    throw e.retold(file, e.offset(), e.detail());
  }
}

}  // namespace dapple::detail::dbdf
