// Where objects are opened from: the table of sources.
#pragma once

#include <memory>
#include <string>

#include "dapple/open.h"
#include "lib/io/byte_source.h"
#include "lib/io/piece_cache.h"

namespace dapple::detail {

/// Where pieces of what is far away are kept.
inline CacheFolder cache_of(const OpenOptions& options) {
  return {options.cache, options.cache_bytes};
}

/// Opens what has this name: the path of a file, an address, or a folder: a data set in its latest
/// state, a member of a collection or a Zarr hierarchy. An address is one of a folder if its path
/// ends in a slash, or in .zarr. What comes out of a named pipe is copied first. Throws io,
/// unsupported, and not_recognised for any other folder.
std::shared_ptr<ByteSource> open_source(const std::string& name, const OpenOptions& options);

/// The same for what a store of the caller's has under this name.
std::shared_ptr<ByteSource> open_in_store(const std::shared_ptr<const ObjectStore>& store,
                                          const std::string& name, const OpenOptions& options);

}  // namespace dapple::detail
