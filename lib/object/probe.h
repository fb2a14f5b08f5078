// What a format looks at to tell whether a file is its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lib/io/file.h"

namespace dapple::detail {

/// What a format is recognised by.
struct Probe {
  const MappedFile& file;
  std::span<const std::byte> head;  // the first bytes, at most 4096
  std::string extension;            // of the path, lower case, with its dot; empty when the head
                                    // begins like dapple's own format
};

/// How sure a format is that a file is its own; the surest wins. A dialect that only the sizes of
/// everything in the file tell from its parent format answers `by_size`.
enum class Match : std::uint8_t { no, by_name, by_content, by_size };

}  // namespace dapple::detail
