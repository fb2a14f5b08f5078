// Flags that say how one format is to be understood. A new format adds a function of its own here.
#pragma once

#include <string_view>

#include "cli.h"
#include "dapple/open.h"

namespace dapple::cli {

void add_format_flags(Command& command, OpenOptions& options);

/// Throws UsageError when a flag was given that changes what is read, but only in files of another
/// format. Flags that say how to read text are harmless elsewhere.
void require_flags_of(std::string_view format, const OpenOptions& options);

}  // namespace dapple::cli
