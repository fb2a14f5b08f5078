// The flags that shape the blocks of a dbdf file, for every verb that writes one.
#pragma once

#include <string_view>

#include "cli.h"
#include "dapple/convert.h"

namespace dapple::cli {

/// The flags, and which were given, since most formats have no blocks to shape.
struct WriteFlags {
  WriteOptions options;
  std::string_view first;  // the first flag given, other than --kind
  bool kind = false;       // --kind was given, which is for daphne, too
  bool align = false;      // --align was given
};

/// --pack alone.
void add_pack_flag(Command& command, WriteFlags& flags);

/// --tile, --kind, --no-narrow, --align, --pack and --plain. `flags` must outlive the command.
void add_write_flags(Command& command, WriteFlags& flags);

/// Throws UsageError when a flag was given that does not apply to `format`.
void require_flags_for(const FormatInfo& format, const WriteFlags& flags);

}  // namespace dapple::cli
