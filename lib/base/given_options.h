// Options that are given as text are read here, by tables: those of formats, and those of C.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "dapple/format_options.h"

namespace dapple::detail {

// What options take, in words.
inline constexpr std::string_view kTruth = "true or false";
inline constexpr std::string_view kNumber64 = "a number from 0 to 18446744073709551615";
inline constexpr std::string_view kNumber32 = "a number from 0 to 4294967295";

/// All of `text` as decimal digits, or nothing.
template <class Number>
std::optional<Number> find_number(std::string_view text) noexcept {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The row of `table` with that name. Throws invalid_argument, with the name that was probably
/// meant, if there is none.
const OptionInfo& option_named(std::string_view name, std::span<const OptionInfo> table);

/// The values of the options in one table. What is given under other names makes no difference.
/// REQUIRES names of the table; values that an option does not take throw invalid_argument.
class GivenOptions {
 public:
  /// Both must outlive this.
  GivenOptions(std::span<const OptionInfo> table, const FormatOptions& given) noexcept
      : table_(table), given_(given) {}

  /// The last value; null if there is none.
  const std::string* text(std::string_view name) const;
  std::string text_or(std::string_view name, std::string_view otherwise) const;
  /// All values, in the order given.
  std::vector<std::string> texts(std::string_view name) const;
  std::optional<bool> truth(std::string_view name) const;

  template <class Number>
  std::optional<Number> number(std::string_view name) const {
    const std::string* const value = text(name);
    if (value == nullptr) return std::nullopt;
    const std::optional<Number> number = find_number<Number>(*value);
    if (!number) fail(name, *value);
    return number;
  }

  template <class Choice, std::size_t kSize>
  std::optional<Choice> choice(std::string_view name,
                               const std::pair<std::string_view, Choice> (&choices)[kSize]) const {
    const std::string* const value = text(name);
    if (value == nullptr) return std::nullopt;
    const auto* const found = std::find_if(std::begin(choices), std::end(choices),
                                           [&](const auto& one) { return one.first == *value; });
    if (found == std::end(choices)) fail(name, *value);
    return found->second;
  }

  /// Throws invalid_argument: says what the option takes.
  [[noreturn]] void fail(std::string_view name, std::string_view value) const;

 private:
  std::span<const OptionInfo> table_;
  const FormatOptions& given_;
};

}  // namespace dapple::detail
