// Cells on a terminal: aligned, with row and column numbers, in panels that fit its width.
#pragma once

#include <variant>

#include "dapple/convert.h"
#include "output.h"

namespace dapple::cli {

/// Prints the selected cells page by page in bounded memory. Throws what reading throws.
void print_cells(const std::variant<Matrix, Frame>& object, const Selection& part,
                 const ReadOptions& options, Output& out);

}  // namespace dapple::cli
