// The sidecar index FILE.dpx: the block index of a dbdf file that must not be touched, or the types
// and row positions of a CSV file.
#pragma once

#include <filesystem>

#include "dapple/open.h"

namespace dapple {

/// The path of the sidecar, FILE.dpx for FILE.
std::filesystem::path sidecar_path(const std::filesystem::path& file);

struct SidecarOptions {
  TakeProgress progress = {};    // in bytes of the file
  bool even_if_indexed = false;  // write it even if the file has an index of its own
  bool statistics = false;       // also write statistics of each block, which reads all values
  unsigned threads = 1;          // for the statistics; 0: one per processor
};

/// Scans `file` once and publishes its index beside it, atomically, replacing an older one. Returns
/// false, and writes nothing, when the file itself has everything that is wanted, which readers
/// prefer. The sidecar of a CSV file is used when it is opened with the same `options.csv`. Throws
/// what `open` throws, unsupported for formats that need no index, stale_index when the file
/// changes meanwhile. O(n log n) in blocks, reading only headers unless statistics are wanted; all
/// of a CSV file.
bool write_sidecar(const std::filesystem::path& file, const OpenOptions& options = {},
                   const SidecarOptions& sidecar = {});

}  // namespace dapple
