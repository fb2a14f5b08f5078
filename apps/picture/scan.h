// Pictures from the cells themselves, read once.
#pragma once

#include <variant>

#include "blocks_in.h"
#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/open.h"
#include "raster.h"

namespace dapple::picture {

using Object = std::variant<Matrix, Frame>;

inline const BlockedObject& base(const Object& object) {
  return std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
}

struct ScanOptions {
  std::string file{};    // to blame in errors
  unsigned threads = 1;  // 0: one per processor
  TakeProgress progress{};
};

/// Adds every cell of the raster's window to its pixel, in one pass over the blocks, which are read
/// in their stored types, unless one pixel shows all of a block and the file has statistics of it.
/// Throws what reading blocks throws. Memory: the raster's once more for
/// each thread, at most.
void draw_cells(const Object& object, const BlocksIn& blocks, Raster& raster,
                const ScanOptions& options = {});

/// Adds some cells of dense blocks, a few from the middle of every pixel, and the counts of the
/// others. Meant for rasters of few pixels. `object` is best opened with OpenOptions::read_ahead
/// off beside that of `blocks`, and of the same file. Throws as above.
void draw_samples(const Object& object, const BlocksIn& blocks, Raster& raster);

}  // namespace dapple::picture
