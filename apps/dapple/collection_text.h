// The table of contents of a collection.
#pragma once

#include "cli.h"
#include "dapple/error.h"
#include "input.h"

namespace dapple::cli {

/// Prints the members, unless one was chosen or the input is no collection; then returns false.
/// Throws when they do not fit their axes, after they are printed.
bool print_collection(const Input& input, Console& console);

/// Prints the text of a member that is JSON, for whose sake opening the input has failed; false
/// when that had another reason. Throws io, corrupt.
bool print_json_member(const Input& input, const Error& failed, Console& console);

}  // namespace dapple::cli
