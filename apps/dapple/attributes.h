// The user's attributes of an object as text: a JSON object, changed and shown without making
// values of it, so that every number keeps its digits.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli.h"

namespace dapple::cli {

/// The members of a JSON object, in its order: keys as text, values as JSON. REQUIRES that the
/// library gave the object.
std::vector<std::pair<std::string, std::string>> members_of(std::string_view object);

/// "key: value" for each, printable; on a terminal of the first ones, and cut short.
std::vector<std::string> member_lines(std::string_view object, bool on_terminal);

/// --attribute KEY=VALUE, any number of times. Adds each to `given`, its value as JSON.
void add_attribute_flag(Command& command, std::vector<std::pair<std::string, std::string>>& given);

/// The object with these members added, or in the place of those with the same key.
std::string with_members(std::string_view object,
                         const std::vector<std::pair<std::string, std::string>>& given);

/// The object on one line.
std::string on_one_line(std::string object);

}  // namespace dapple::cli
