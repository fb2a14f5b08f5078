// Array files: all values of a dense matrix, column after column, as text.
#pragma once

#include "lib/foreign/mtx/mtx_text.h"
#include "lib/foreign/text/import.h"

namespace dapple::detail::mtx {

/// Parses the values; REQUIRES an array header. Throws as `parse_mtx`.
void parse_array(const Text& text, const Header& header, texts::Import& import);

}  // namespace dapple::detail::mtx
