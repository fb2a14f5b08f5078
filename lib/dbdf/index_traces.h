// Where the index of a file stands, when its trailer does not tell any more.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/io/file.h"

namespace dapple::detail::dbdf {

/// The byte where the payload of an index starts, or once did: it is told by the position in front
/// of it, by shape and type, by its tag and by the trailer at the end of the file. Two of them are
/// enough, if tag or trailer is among them, and each may lack a few bits. The likeliest place, of
/// equals the last. The index block starts at byte `from` or behind it; what is in front is not
/// looked at. O(bytes from there on).
std::optional<std::uint64_t> find_damaged_index(const MappedFile& file, std::uint64_t from);

/// True when the file ends as with a trailer, but for a few bits.
bool ends_like_trailer(const MappedFile& file);

}  // namespace dapple::detail::dbdf
