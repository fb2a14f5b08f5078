// The sidecar index FILE.dpx: the block index of a dbdf file that must not be touched (rule 2.7),
// or where the rows of a CSV file start.
#pragma once

#include <filesystem>

#include "dapple/open.h"

namespace dapple {

/// FILE.dpx beside FILE.
std::filesystem::path sidecar_path(const std::filesystem::path& file);

struct SidecarOptions {
  TakeProgress progress = {};    // in bytes of the file
  bool even_if_indexed = false;  // write it beside a file that has an index of its own
  bool statistics = false;       // also of the values of each block, all of which are read
  unsigned threads = 1;          // that read them; 0: one per processor
};

/// Walks `file` once and publishes its index beside it, atomically; replaces an older one. Returns
/// false, and writes nothing, when the file has all that is wanted itself, which a reader prefers.
/// The sidecar of a CSV file is used by those who open it with the same `options.csv`.
/// Throws what `open` throws; unsupported for formats that need no index; stale_index when the file
/// changes meanwhile. O(n log n) in blocks; reads headers only, unless statistics are wanted.
bool write_sidecar(const std::filesystem::path& file, const OpenOptions& options = {},
                   const SidecarOptions& sidecar = {});

}  // namespace dapple
