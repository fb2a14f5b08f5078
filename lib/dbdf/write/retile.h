// Writing a Source as a DAPHNE binary file: its cells, cut anew into tiles.
#pragma once

#include <filesystem>

#include "dapple/convert.h"
#include "lib/compute/source.h"
#include "lib/dbdf/write/block_writer.h"

namespace dapple::detail::dbdf {

/// The tile for `source` when the caller names none: `default_tile`, or, for sparse objects, one
/// so much larger that a tile still holds some ten thousand stored values.
TileShape natural_tile(const Source& source);

/// Puts the cells of `source` as tiles, its row 0 at row `first_row` of the file.
void retile(const Source& source, BlockWriter& writer, KindChoice kind,
            std::uint64_t first_row = 0);

/// Publishes `source` as the file `path`. Memory: about 64 MiB and what a tile takes, for each
/// thread. Throws what reading and `TileWriter` throw.
WriteSummary write_dbdf(const Source& source, const std::filesystem::path& path,
                        const ConvertOptions& options);

}  // namespace dapple::detail::dbdf
