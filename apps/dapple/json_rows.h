// Rows as JSON, one a line.
#pragma once

#include <variant>

#include "cli.h"
#include "pages.h"

namespace dapple::cli {

/// Prints rows of a frame as objects, those of a matrix as arrays. Throws what reading throws.
void print_json_rows(const std::variant<Matrix, Frame>& object, const Selection& part,
                     const TextOptions& options, Console& console);

}  // namespace dapple::cli
