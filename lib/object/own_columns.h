// Columns that only the format of their file has as they are.
#pragma once

#include <string_view>
#include <vector>

namespace dapple::detail {

/// Names of columns of a file, which the file's state keeps alive.
struct OwnColumns {
  std::vector<std::string_view> split;  // each cell has become two cells
  std::vector<std::string_view> ticks;  // times that are numbers: ticks of 100 ns
};

}  // namespace dapple::detail
