// Where objects are opened from: the table of sources.
#pragma once

#include <memory>
#include <string>

#include "dapple/open.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// Opens what has this name: the path of a file, or an address. Throws io and unsupported.
std::shared_ptr<ByteSource> open_source(const std::string& name, const OpenOptions& options);

}  // namespace dapple::detail
