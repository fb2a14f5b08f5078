// Flags for reading particular formats.
#pragma once

#include <string_view>

#include "cli.h"
#include "dapple/open.h"

namespace dapple::cli {

void add_format_flags(Command& command, OpenOptions& options);

/// Throws UsageError when a flag was given that is only for files of another format.
void require_flags_of(std::string_view format, const OpenOptions& options);

}  // namespace dapple::cli
