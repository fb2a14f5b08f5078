// Which values of a Futhark file are opened, and as what, as far as callers say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/given_options.h"

namespace dapple::detail::futhark {

inline constexpr OptionInfo kOptions[] = {
    {"futhark.type", OptionKind::list, "a type as Futhark declares it, '[][]f32'",
     "told from the text", "the type of a value, such as '[][]f32'"},
    {"futhark.value", OptionKind::number, kNumber64, "", "which of several values, counted from 0"},
    {"futhark.frame", OptionKind::truth, kTruth, "false",
     "all values, which are vectors of one length, as a frame"},
    {"futhark.first", OptionKind::truth, kTruth, "false", "the first of several values"},
};

struct Options {
  /// The type of each value as the Futhark program declares it, "[][]f32", or lists such as
  /// "[]i32, f64". Empty: told from the text, as `futhark dataset` does.
  std::vector<std::string> types{};
  std::optional<std::uint64_t> value{};
  bool frame = false;
  bool first = false;
};

/// Throws invalid_argument.
inline Options read_options(const FormatOptions& given) {
  const GivenOptions all(kOptions, given);
  return {.types = all.texts("futhark.type"),
          .value = all.number<std::uint64_t>("futhark.value"),
          .frame = all.truth("futhark.frame").value_or(false),
          .first = all.truth("futhark.first").value_or(false)};
}

}  // namespace dapple::detail::futhark
