// Finding the index of a file whose trailer is damaged or missing.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// The offset of an index payload, or of what is left of it. There are four traces: the position of
/// the block, its shape and type, its tag, and the trailer at the end of the file. Two of them are
/// enough if tag or trailer is among them, and a few bits of each may be wrong. Returns the place
/// with most traces, of equals the last. Searches from byte `from` on; O(bytes).
std::optional<std::uint64_t> find_damaged_index(const ByteSource& file, std::uint64_t from);

/// True when the file ends in a trailer's tag, apart from a few bits.
bool ends_like_trailer(const ByteSource& file);

}  // namespace dapple::detail::dbdf
