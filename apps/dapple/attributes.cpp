#include "attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// The end of the value that starts at `at`: the comma, bracket or brace after it.
std::size_t end_of_value(std::string_view json, std::size_t at) {
  std::size_t depth = 0;
  bool quoted = false;
  for (; at < json.size(); ++at) {
    const char c = json[at];
    if (quoted) {
      at += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (depth == 0 && (c == ',' || c == ':' || c == '}')) {
      return at;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return json.size();
}

/// JSON is UTF-8, and other bytes would be replaced.
void require_utf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::type_error&) {
    throw UsageError(fmt::format("--attribute must be UTF-8, not '{}'", printable(text)));
  }
}

std::string_view without_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> members_of(std::string_view object) {
  std::vector<std::pair<std::string, std::string>> members;
  std::size_t at = object.find('{') + 1;
  while (at < object.size()) {
    const std::size_t colon = end_of_value(object, at);
    const std::string_view key = without_space(object.substr(at, colon - at));
    if (key.empty()) break;
    const std::size_t end = end_of_value(object, colon + 1);
    members.emplace_back(nlohmann::json::parse(key).get<std::string>(),
                         without_space(object.substr(colon + 1, end - colon - 1)));
    at = end + 1;
  }
  return members;
}

std::vector<std::string> member_lines(std::string_view object, bool on_terminal) {
  constexpr std::size_t kMost = 24, kWidth = 100;
  const auto members = members_of(object);
  std::vector<std::string> lines;
  for (const auto& [key, value] : members) {
    if (on_terminal && lines.size() == kMost) {
      lines.push_back(fmt::format("... and {} more; --json lists all", members.size() - kMost));
      break;
    }
    const std::string line = printable(fmt::format("{}: {}", key, on_one_line(value)));
    lines.push_back(on_terminal ? shortened(line, kWidth) : line);
  }
  return lines;
}

void add_attribute_flag(Command& command, std::vector<std::pair<std::string, std::string>>& given) {
  command.repeatable(
      "--attribute", "KEY=VALUE",
      [&given](const std::string& text) {
        const std::size_t equals = text.find('=');
        if (equals == text.npos || equals == 0) {
          throw UsageError(fmt::format("--attribute must be KEY=VALUE, not '{}'", text));
        }
        require_utf8(text);
        const std::string value = text.substr(equals + 1);
        given.emplace_back(text.substr(0, equals),
                           nlohmann::json::accept(value) ? value : json_string(value));
      },
      "add an attribute of the object, or give it another value: JSON, or else a string; may be "
      "repeated");
}

std::string with_members(std::string_view object,
                         const std::vector<std::pair<std::string, std::string>>& given) {
  auto members = members_of(object);
  for (const auto& [key_, value] : given) {
    const auto& key = key_;  // clang 14 captures no bindings
    const auto same = std::find_if(members.begin(), members.end(),
                                   [&](const auto& member) { return member.first == key; });
    if (same == members.end()) {
      members.emplace_back(key, value);
    } else {
      same->second = value;
    }
  }
  std::string text = "{";
  for (const auto& [key, value] : members) {
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", json_string(key), value);
  }
  return text + "}";
}

std::string on_one_line(std::string object) {
  // Strings have no line ends, only escapes of them.
  std::replace_if(
      object.begin(), object.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return object;
}

}  // namespace dapple::cli
