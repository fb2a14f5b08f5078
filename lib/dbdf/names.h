// The names of rows and columns, as the content of hints (FORMAT.md, "Names").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/dbdf/hints.h"
#include "lib/object/names.h"

namespace dapple::detail::dbdf {

inline constexpr char kRowNamesTag[9] = "DPL-RNAM";
inline constexpr char kColNamesTag[9] = "DPL-CNAM";

/// The content with this tag. Throws corrupt. O(bytes).
std::vector<std::byte> emit_names(const char* tag, const Names& names);

/// The names in a hint with this tag, `count` of them. Throws corrupt. O(1); unless
/// hashes are to be looked at, O(bytes) then.
std::shared_ptr<const NameTable> read_names(const std::shared_ptr<const ByteSource>& file,
                                            const Hint& hint, const char* tag, std::uint64_t count);

}  // namespace dapple::detail::dbdf
