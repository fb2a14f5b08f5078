// The two kinds of Matrix Market files. Both throw as `parse_mtx`.
#pragma once

#include "lib/foreign/mtx/mtx.h"
#include "lib/foreign/mtx/mtx_text.h"

namespace dapple::detail::mtx {

/// All values of a dense matrix, column after column. REQUIRES an array header.
void parse_array(const Text& text, const Header& header, texts::Import& import);

/// One entry per line, in any order, as bands of rows. REQUIRES a coordinate header.
void parse_coordinate(const Text& text, const Header& header, unsigned threads,
                      texts::Import& import);

}  // namespace dapple::detail::mtx
