#include "table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::string_view kGap = "  ";

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) {
    column.width = std::max(column.width, display_width(column.head));
  }
}

void Table::head(Output& out) const {
  std::vector<std::string_view> heads;
  heads.reserve(columns_.size());
  for (const Column& column : columns_) heads.push_back(column.head);
  row(out, heads);
}

void Table::row(Output& out, std::span<const std::string_view> cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Column& column = columns_[i];
    const std::size_t width = display_width(cells[i]);
    const std::size_t padding = column.width > width ? column.width - width : 0;
    if (i > 0) line += kGap;
    if (column.align == Align::right) line.append(padding, ' ');
    line += cells[i];
    if (column.align == Align::left) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
  out.write(line);
}

}  // namespace dapple::cli
