// Which columns of an ML.NET file are opened, and how one is written, as far as callers say.
#pragma once

#include <string>
#include <vector>

#include "lib/base/given_options.h"

namespace dapple::detail::idv {

inline constexpr OptionInfo kOptions[] = {
    {"idv.column", OptionKind::list, "a name", "all that are not hidden",
     "a column, or the label of a single slot, in the order wanted"},
    {"idv.drop_unsupported", OptionKind::truth, kTruth, "false",
     "leave out columns that can only be shown, and name them: vectors of texts or of varying "
     "length"},
    {"idv.keep_hidden", OptionKind::truth, kTruth, "false",
     "also the columns that later ones of the same name hide, as 'NAME (hidden N)'; ML.NET does "
     "not see them, and they are left out otherwise"},
    {"idv.deflate", OptionKind::truth, kTruth, "true", "compress blocks", true},
};

struct Options {
  /// Of several columns of one name the last, which hides the others in ML.NET. Empty: all columns
  /// that are not hidden.
  std::vector<std::string> columns{};
  bool drop_unsupported = false;
  bool keep_hidden = false;  // without `columns`
  bool deflate = true;
};

/// Throws invalid_argument.
inline Options read_options(const FormatOptions& given) {
  const GivenOptions all(kOptions, given);
  return {.columns = all.texts("idv.column"),
          .drop_unsupported = all.truth("idv.drop_unsupported").value_or(false),
          .keep_hidden = all.truth("idv.keep_hidden").value_or(false),
          .deflate = all.truth("idv.deflate").value_or(true)};
}

}  // namespace dapple::detail::idv
