// Some bytes of a source as a source of their own: a member of an archive that is stored as it is.
#pragma once

#include <memory>
#include <string>

#include "dapple/region.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// Bytes [bytes.begin, bytes.end) of `whole`, used where they are. `name` is for messages. REQUIRES
/// that they are inside.
std::shared_ptr<ByteSource> window_source(std::shared_ptr<ByteSource> whole, Range bytes,
                                          std::string name);

}  // namespace dapple::detail
