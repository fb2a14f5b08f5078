// How formats recognise their files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lib/io/byte_source.h"

namespace dapple::detail {

/// What a recogniser may look at.
struct Probe {
  const ByteSource& file;
  std::span<const std::byte> head;  // the first bytes, at most 4096
  std::string extension;            // of the path, lower case, with its dot; empty when the head
                                    // begins like dapple's own format
};

/// How sure a format is that a file is its own; the surest wins. `by_size` is for a dialect that
/// differs from its parent format only in the sizes of what is in the file.
enum class Match : std::uint8_t { no, by_name, by_content, by_size };

}  // namespace dapple::detail
