// The flags that shape the blocks of a dbdf file, for every verb that writes one.
#pragma once

#include <string_view>

#include "cli.h"
#include "dapple/convert.h"

namespace dapple::cli {

/// Flags that shape blocks, and whether any was given: other formats have no blocks to shape.
struct WriteFlags {
  WriteOptions options;
  std::string_view first;  // the first of them that was given, --kind not counted
  bool kind = false;       // --kind, which holds for runtime files too
};

/// --tile, --kind, --no-narrow, --align and --plain. `flags` must outlive the command.
void add_write_flags(Command& command, WriteFlags& flags);

/// Throws UsageError when a flag was given that `format` has no use for.
void require_flags_for(const FormatInfo& format, const WriteFlags& flags);

}  // namespace dapple::cli
