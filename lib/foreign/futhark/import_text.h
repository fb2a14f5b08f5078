// The elements of text, parsed once into blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/dbdf/write/block_writer.h"
#include "lib/foreign/futhark/element.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/object/store.h"

namespace dapple::detail::futhark {

/// A piece of a text value that becomes a block.
struct TextTile {
  TileStart start;
  std::uint64_t end = 0;  // of its text
  BlockPos pos;
  std::uint32_t rows = 0, cols = 0;
  ElementType element = ElementType::i32;
};

/// Parses the tiles, which a scanner has found good, with so many threads. Throws io when the file
/// changes meanwhile, and what writing throws.
void import_tiles(const ByteSource& file, const std::vector<TextTile>& tiles, Dialect dialect,
                  unsigned threads, BlockWriter& writer);

/// Copies the blocks of binary values, which are in the same object.
void import_blocks(const Store& binary, BlockWriter& writer);

}  // namespace dapple::detail::futhark
