// Cells on a terminal: aligned, with row and column numbers, in panels that fit its width.
#pragma once

#include "output.h"
#include "pages.h"

namespace dapple::cli {

void print_screen(const CellPages& pages, Output& out);

}  // namespace dapple::cli
