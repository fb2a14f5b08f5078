// A comparison with a number as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dapple/where.h"

namespace dapple::detail {

enum class Relation : std::uint8_t { equal, unequal, below, at_most, above, at_least };

/// The cells for which `cell R number` holds, exactly, however many digits an integer has. Nothing
/// for a number that is no integer, and beyond the range of f64. Unequal is taken for equal.
/// REQUIRES a text that `read_number` reads to its end as f64.
std::optional<Condition> number_condition(Relation relation, std::string_view text);

}  // namespace dapple::detail
