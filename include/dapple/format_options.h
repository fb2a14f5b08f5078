// Options of single formats, by name and as text, for those who open and convert.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dapple {

/// Names and values: {{"csv.delimiter", ";"}, {"csv.type", "height=f32"}, {"csv.type", "*=f64"}}.
/// A name may be given several times: then all values count where the option takes a list,
/// otherwise the last. Options of other formats than that of the file are checked, and ignored.
using FormatOptions = std::multimap<std::string, std::string, std::less<>>;

/// What the values of an option are.
enum class OptionKind : std::uint8_t {
  truth,   // "true" or "false"
  number,  // decimal digits
  text,
  list,   // texts, each given as a value of its own
  pairs,  // the same, each of them NAME=VALUE
};

/// An option, as `FormatInfo::options` has it.
struct OptionInfo {
  std::string_view name;
  OptionKind kind = OptionKind::text;
  std::string_view takes{};      // in words, after "must be": "one character"
  std::string_view otherwise{};  // what holds where it is not given; may be empty
  std::string_view help{};       // one line
  bool writing = false;          // for ConvertOptions; the others are for OpenOptions
};

/// Throws invalid_argument for a name that no format has, with the one that was probably meant, and
/// for a value that its option does not take. Opening and converting do the same.
void check_format_options(const FormatOptions& options, bool writing = false);

}  // namespace dapple
