// The sidecar index FILE.dpx: the block index of a dbdf file that must not be touched (rule 2.7),
// or where the rows of a CSV file start.
#pragma once

#include <filesystem>

#include "dapple/open.h"

namespace dapple {

/// FILE.dpx beside FILE.
std::filesystem::path sidecar_path(const std::filesystem::path& file);

/// Walks `file` once and publishes its index beside it, atomically; replaces an older one. Returns
/// false, and writes nothing, when the file has an index of its own, which a reader prefers; with
/// `even_if_indexed` the sidecar is written all the same.
/// The sidecar of a CSV file is used by those who open it with the same `options.csv`.
/// Throws what `open` throws; unsupported for formats that need no index; stale_index when the file
/// changes meanwhile. O(n log n) in blocks; reads headers only.
bool write_sidecar(const std::filesystem::path& file, const OpenOptions& options = {},
                   const TakeProgress& progress = {}, bool even_if_indexed = false);

}  // namespace dapple
