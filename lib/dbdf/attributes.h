// The user's attributes of an object, as the content of a hint (FORMAT.md, "Attributes").
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/dbdf/hints.h"

namespace dapple::detail::dbdf {

inline constexpr char kAttributesTag[9] = "DPL-ATTR";

/// The content for this JSON text.
std::vector<std::byte> emit_attributes(std::string_view json);

/// The JSON text in a hint with this tag. Throws corrupt when it does not match its hash, or is no
/// JSON object within the bounds. O(bytes).
std::string read_attributes(const ByteSource& file, const Hint& hint);

}  // namespace dapple::detail::dbdf
