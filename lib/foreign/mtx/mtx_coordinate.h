// Coordinate files: one entry per line, in any order, as bands of rows.
#pragma once

#include "lib/foreign/mtx/mtx_text.h"
#include "lib/foreign/text/import.h"

namespace dapple::detail::mtx {

/// Parses the entries; REQUIRES a coordinate header. Throws as `parse_mtx`.
void parse_coordinate(const Text& text, const Header& header, unsigned threads,
                      texts::Import& import);

}  // namespace dapple::detail::mtx
