// What `dapple info` tells, for people and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "report.h"

namespace dapple::cli {

/// What is to be told of a copy by column; "" when there is none.
std::string_view copy_state(const std::variant<Matrix, Frame>& object);

/// How many words a category has; nothing where they are damaged.
std::optional<std::uint64_t> count_words(const Meaning& meaning);

/// What the objects of a file that holds several are called.
std::string_view title_of_contents(const BlockedObject& object);

/// One JSON object on one line; `bytes` are those of the file.
void print_info_json(const std::variant<Matrix, Frame>& object, std::uint64_t bytes, Output& out);

}  // namespace dapple::cli
