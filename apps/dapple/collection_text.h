// The table of contents of a collection.
#pragma once

#include "cli.h"
#include "input.h"

namespace dapple::cli {

/// Prints the members, unless one was chosen or the input is no collection; then returns false.
/// Throws when they do not fit their axes, after they are printed.
bool print_collection(const Input& input, Console& console);

}  // namespace dapple::cli
