// Attributes: a JSON object of the user's that belongs to a matrix or frame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dapple::detail {

inline constexpr std::uint64_t kMostAttributes = std::uint64_t{1} << 20;  // bytes

/// What keeps the text from being attributes, as part of a sentence; "" when it is a JSON object
/// within these bounds, and those of `Json`.
std::string fault_of_attributes(std::string_view json);

/// True for attributes without a member. REQUIRES a text without a fault.
bool is_empty_object(std::string_view json) noexcept;

/// Those of the transpose: "dimension_names", what rows and columns are called together, are the
/// other way round; everything else is as it was. REQUIRES "" or a text without a fault.
std::string turned_attributes(std::string json);

}  // namespace dapple::detail
