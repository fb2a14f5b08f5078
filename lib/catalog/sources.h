// Where objects are opened from: the table of sources.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "dapple/open.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// Opens what has this name: the path of a file, an address, or a folder: a data set in its latest
/// state, a collection or a Zarr hierarchy. Throws io, unsupported, and not_recognised for any
/// other folder.
std::shared_ptr<ByteSource> open_source(const std::string& name, const OpenOptions& options);

}  // namespace dapple::detail
