// Writing a Source as a dbdf file, with tiles of another shape.
#pragma once

#include <filesystem>

#include "dapple/convert.h"
#include "lib/compute/source.h"
#include "lib/dbdf/write/block_writer.h"

namespace dapple::detail::dbdf {

/// The tile shape for `source` when the caller gives none: `default_sparse_tile` where few values
/// are stored and all columns have one type, otherwise `default_tile`.
TileShape natural_tile(const Source& source);

/// Writes the cells of `source` as tiles; its row 0 becomes row `first_row` of the file.
void retile(const Source& source, BlockWriter& writer, KindChoice kind,
            std::uint64_t first_row = 0);

/// Publishes `source` as the file `path`. Memory: about 64 MiB and a tile for each thread. Throws
/// what reading and `TileWriter` throw.
WriteSummary write_dbdf(const Source& source, const std::filesystem::path& path,
                        const ConvertOptions& options);
/// How large that file would be.
WriteSummary measure_dbdf(const Source& source, const WriteOptions& options);

}  // namespace dapple::detail::dbdf
