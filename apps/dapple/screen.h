// Cells on a terminal: aligned, with row and column numbers, in panels that fit its width.
#pragma once

#include <functional>
#include <vector>

#include "output.h"
#include "pages.h"

namespace dapple::cli {

/// Calls `before` with each page before it is printed.
void print_screen(const CellPages& pages, Output& out,
                  const std::function<void(const std::vector<PageColumn>&)>& before);

}  // namespace dapple::cli
