// Lines of aligned columns, printed as they come.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "output.h"

namespace dapple::cli {

enum class Align : unsigned char { left, right };

class Table {
 public:
  struct Column {
    std::string_view head;  // printable; must outlive the table
    std::size_t width = 0;  // at least the head's; a longer cell shifts the rest of its line
    Align align = Align::right;
  };

  explicit Table(std::vector<Column> columns);

  void head(Output& out) const;
  /// One printable cell per column; cells at the end may be left out.
  void row(Output& out, std::span<const std::string_view> cells) const;

 private:
  std::vector<Column> columns_;
};

}  // namespace dapple::cli
