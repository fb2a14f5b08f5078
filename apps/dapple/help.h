// What 'dapple help TOPIC' says where TOPIC is no verb.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dapple::cli {

/// A line for each format.
std::string formats_text();

/// About "formats", or the format of that name; nothing for any other.
std::optional<std::string> topic_text(std::string_view topic);
std::vector<std::string_view> topic_names();

}  // namespace dapple::cli
