// Blocks of dense arrays that are stored in chunks, as HDF5 and Zarr do.
#pragma once

#include <cstdint>
#include <string>

#include "lib/index/entries.h"
#include "lib/object/schema.h"

namespace dapple::detail::arrays {

/// Extents of a block, or of a chunk.
struct Tile {
  std::uint64_t rows, cols;
};

/// The extents of blocks for an array of rows x cols cells: a chunk or, where chunks are small,
/// several; without chunks (0, 0), a strip of rows.
Tile block_of(std::uint64_t rows, std::uint64_t cols, const Tile& chunk);

/// Dense blocks of that size that cover the array. Throws unsupported, naming the array, when there
/// are too many of them.
EntryTable blocks_of(const Schema& schema, const Tile& tile, const std::string& file,
                     const std::string& array);

}  // namespace dapple::detail::arrays
