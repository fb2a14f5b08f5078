// What only the format of their file keeps of some columns, and notes on columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dapple/open.h"

namespace dapple::detail {

/// Columns of a file, by names that the file's state keeps alive, of which another format does not
/// keep all.
struct OwnLoss {
  std::string_view what;  // the format does instead: "keeps the times as plain numbers"
  bool of_meaning;        // nothing is lost of the stored numbers
  std::vector<std::string_view> names;
};

/// Tells what happens to the columns or groups of these names, if there are any.
void note_named(const std::string& noun, const std::vector<std::string_view>& names,
                const std::string& what, const TakeNote& note);

}  // namespace dapple::detail
