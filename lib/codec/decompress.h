// Files that are compressed as a whole with gzip or zstd.
#pragma once

#include <memory>

#include "lib/io/byte_source.h"

namespace dapple::detail {

/// True when the file starts like a gzip or zstd file.
bool is_compressed(const ByteSource& file);

/// Decompresses one to an unnamed temporary file that has the same name in messages.
/// Consecutive members or frames are concatenated. Throws corrupt when the compressed data is
/// damaged or truncated, io. O(bytes), in constant memory.
std::shared_ptr<ByteSource> decompress(const ByteSource& file);

}  // namespace dapple::detail
