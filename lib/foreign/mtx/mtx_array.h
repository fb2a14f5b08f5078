// Array files: all values of a dense matrix, column after column, as text.
#pragma once

#include <memory>

#include "lib/foreign/mtx/mtx_text.h"
#include "lib/object/store.h"

namespace dapple::detail::mtx {

/// Counts the values and notes where every 256th is; REQUIRES an array header. Throws as
/// `open_mtx`.
std::shared_ptr<const Store> open_array(std::shared_ptr<ByteSource> file, const Header& header);

}  // namespace dapple::detail::mtx
