// Makes the pyramid that is kept beside a file (PYRAMID.md).
#pragma once

#include <cstdint>
#include <string>

#include "kept.h"
#include "resources.h"

namespace dapple::viewer {

/// How many zooms to keep: all until the tiles of the next one are read in a moment, as long as
/// their pixels take `most` bytes together; at least those of Resources::zooms(). Throws corrupt,
/// io.
unsigned zooms_to_keep(const Resources& resources, std::uint64_t most);

/// The bytes to keep, of pictures of that many zooms: every cell is read once. Memory: these,
/// and 256 MiB for pixels. Throws what reading throws, std::bad_alloc.
std::string keep(const Resources& resources, const KeptSource& source, unsigned zooms,
                 const TakeProgress& progress);

}  // namespace dapple::viewer
