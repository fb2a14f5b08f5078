// A caller's RangeReader as a source, or one of a caller's ObjectStore.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dapple/range_reader.h"
#include "lib/io/byte_source.h"
#include "lib/io/piece_cache.h"

namespace dapple::detail {

/// A source of what `reader` reads, both ends of which are read at once: there are headers and
/// indexes. `name` is for messages. What the reader has a lasting name for is kept in `cache`.
/// Throws io, invalid_argument without a reader, and what the reader throws.
std::shared_ptr<ByteSource> reader_source(std::shared_ptr<const RangeReader> reader,
                                          std::string name, const CacheFolder& cache);

/// The object of that name in a store, others of which are beside it; nullptr when there is none.
/// Throws as above.
std::shared_ptr<ByteSource> find_in_store(std::shared_ptr<const ObjectStore> store,
                                          const std::string& name, const CacheFolder& cache);
/// The names of the folders directly in one of a store, in order.
std::vector<std::string> folders_in_store(const ObjectStore& store, const std::string& folder);

}  // namespace dapple::detail
