// The sidecar index FILE.dpx: the block index of a file that must not be touched (rule 2.7).
#pragma once

#include <filesystem>

#include "dapple/open.h"

namespace dapple {

/// FILE.dpx beside FILE.
std::filesystem::path sidecar_path(const std::filesystem::path& file);

/// Walks `file` once and publishes its index beside it, atomically; replaces an older one.
/// Throws what `open` throws; unsupported for formats whose opening needs no index; stale_index
/// when the file changes meanwhile.
void write_sidecar(const std::filesystem::path& file, const OpenOptions& options = {},
                   const TakeProgress& progress = {});

}  // namespace dapple
