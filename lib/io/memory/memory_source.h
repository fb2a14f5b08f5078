// Bytes in memory as a source.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lib/io/byte_source.h"

namespace dapple::detail {

/// A source of bytes that somebody else owns: `keep` does, or if it is null the caller, who must
/// not change them while the source or a view of it lives. `name` is for messages.
std::shared_ptr<ByteSource> memory_source(std::span<const std::byte> bytes, std::string name,
                                          std::shared_ptr<const void> keep = nullptr);

}  // namespace dapple::detail
