#include "lib/base/given_options.h"

#include "dapple/error.h"
#include "lib/base/closest.h"
#include "lib/base/text.h"

namespace dapple::detail {

const OptionInfo& option_named(std::string_view name, std::span<const OptionInfo> table) {
  for (const OptionInfo& option : table) {
    if (option.name == name) return option;
  }
  const auto meant = closest(name, table.size(), [&](std::uint64_t i) { return table[i].name; });
  throw Error(Errc::invalid_argument,
              "there is no option " + shown(name) +
                  (meant ? "; did you mean '" + std::string(table[*meant].name) + "'?" : ""));
}

const std::string* GivenOptions::text(std::string_view name) const {
  const auto [begin, end] = given_.equal_range(name);
  return begin == end ? nullptr : &std::prev(end)->second;
}

std::string GivenOptions::text_or(std::string_view name, std::string_view otherwise) const {
  const std::string* const value = text(name);
  return value != nullptr ? *value : std::string(otherwise);
}

std::vector<std::string> GivenOptions::texts(std::string_view name) const {
  std::vector<std::string> values;
  const auto [begin, end] = given_.equal_range(name);
  std::for_each(begin, end, [&](const auto& one) { values.push_back(one.second); });
  return values;
}

std::optional<bool> GivenOptions::truth(std::string_view name) const {
  constexpr std::pair<std::string_view, bool> kTruths[] = {{"true", true}, {"false", false}};
  return choice(name, kTruths);
}

void GivenOptions::fail(std::string_view name, std::string_view value) const {
  const OptionInfo& option = option_named(name, table_);
  throw Error(Errc::invalid_argument,
              "the option '" + std::string(name) + "' must be " + std::string(option.takes) +
                  ", not " + shown(value),
              option.name);
}

}  // namespace dapple::detail
