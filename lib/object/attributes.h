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

}  // namespace dapple::detail
