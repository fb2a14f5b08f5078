// Coordinate files: one entry per line, in any order, as strips of rows.
#pragma once

#include <memory>

#include "lib/foreign/mtx/mtx_text.h"
#include "lib/object/store.h"

namespace dapple::detail::mtx {

/// Reads the entries; REQUIRES a coordinate header. Throws as `open_mtx`.
std::shared_ptr<const Store> open_coordinate(std::shared_ptr<ByteSource> file, const Header& header,
                                             unsigned threads);

}  // namespace dapple::detail::mtx
