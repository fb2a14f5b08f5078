// Appending rows to a file.
#pragma once

#include <filesystem>
#include <memory>

#include "dapple/convert.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

/// Copies the blocks of a dbdf file above row `end` with their statistics and row counts, in file
/// order, before any other is put. REQUIRES a writer of an object with a header of the same size.
void take_over(const Store& store, std::uint64_t end, BlockWriter& writer);

/// Publishes `whole`, whose first rows are those of `old`, at `path`, from which `old` was opened.
/// The blocks of `old` are copied byte for byte, shared if the file system can, unless their
/// numbers mean something else in `whole`: then everything is written anew. Throws what
/// `write_dbdf` throws; stale_index when the file has changed since it was opened.
WriteSummary append_dbdf(const std::shared_ptr<const Store>& old,
                         const std::shared_ptr<const Store>& whole,
                         const std::filesystem::path& path, const ConvertOptions& options);

}  // namespace dapple::detail::dbdf
