// Files that are compressed as a whole, with gzip or zstd.
#pragma once

#include <memory>

#include "lib/io/file.h"

namespace dapple::detail {

/// True when the file begins as gzip or zstd do.
bool is_compressed(const MappedFile& file);

/// The content of such a file, in an unnamed temporary file that messages call by the same name.
/// Several members or frames that follow each other are one content. Throws corrupt for compressed
/// bytes that are damaged or cut off, io. O(bytes); memory does not grow with them.
std::shared_ptr<MappedFile> decompress(const MappedFile& file);

}  // namespace dapple::detail
