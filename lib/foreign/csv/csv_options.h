// How delimited text is read, as far as callers say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dapple/column.h"
#include "lib/base/given_options.h"

namespace dapple::detail::csv {

inline constexpr OptionInfo kOptions[] = {
    {"csv.header", OptionKind::truth, kTruth, "guessed", "the first line holds labels"},
    {"csv.delimiter", OptionKind::text, "one character or 'tab'", "guessed",
     "the character between fields, or 'tab'"},
    {"csv.skip", OptionKind::number, kNumber64, "0",
     "how many lines at the start are no part of the table"},
    {"csv.comment", OptionKind::text, "what such lines start with", "",
     "lines that start with this, '#' say, are no part of the table"},
    {"csv.decimal", OptionKind::text, "'.' or ','", "'.'", "',' where numbers are written 1,5"},
    {"csv.missing_as_nan", OptionKind::truth, kTruth, "false", "read missing values as plain NaN"},
    {"csv.missing_word", OptionKind::list, "a field", "",
     "a field that is a missing value beside empty ones, NA, N/A and ?, such as NULL, or '' where "
     "it is in quotes"},
    {"csv.type", OptionKind::pairs,
     "LABEL=TYPE, with a type of u8 to u64, i8 to i64, f32, f64, boolean, timestamp, duration, "
     "category, text",
     "told from the fields",
     "the value type of a column (or NUMBER=TYPE), or boolean, timestamp, duration (which is never "
     "guessed: 'took=duration'), category or text; '*=TYPE' is of all others"},
};

struct Options {
  std::optional<bool> header{};
  std::optional<char> delimiter{};
  std::uint64_t skip = 0;
  std::string comment{};
  char decimal = '.';
  /// Empty fields, NA, N/A, ? and `missing_words` are plain NaN. Otherwise they are missing cells
  /// of a frame, and an error in a matrix.
  bool missing_as_nan = false;
  std::vector<std::string> missing_words{};  // as text, without blanks around them
  /// By label, or by column number in decimal; "*": of all columns that no key here or in
  /// `meanings` names. In a frame, such columns may have missing cells: kMissingF64, kMissingF32,
  /// the least number of a signed type, the greatest of an unsigned one.
  std::map<std::string, ValueType> types{};
  std::map<std::string, MeaningKind> meanings{};  // by the same keys
};

/// Throws invalid_argument.
Options read_options(const FormatOptions& given);

}  // namespace dapple::detail::csv
