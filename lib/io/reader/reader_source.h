// A caller's RangeReader as a source.
#pragma once

#include <memory>
#include <string>

#include "dapple/range_reader.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// A source of what `reader` reads, both ends of which are read at once: there are headers and
/// indexes. `name` is for messages. Throws io, invalid_argument without a reader, and what the
/// reader throws.
std::shared_ptr<ByteSource> reader_source(std::shared_ptr<const RangeReader> reader,
                                          std::string name);

}  // namespace dapple::detail
