#include "screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "table.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::size_t kHeadWidth = 24;
constexpr std::size_t kTextWidth = 40;
constexpr std::size_t kGapWidth = 2;

/// A column as it is shown, and the width that its head and cells need.
struct ShownColumn {
  std::string head;
  std::vector<std::string> cells;
  std::size_t width = 0;
  Align align = Align::right;
};

ShownColumn shown(PageColumn column) {
  ShownColumn result{label_text(column.label, kHeadWidth), std::move(column.cells)};
  result.width = display_width(result.head);
  if (column.is_text) result.align = Align::left;
  for (std::string& cell : result.cells) {
    if (column.is_text) cell = shortened(printable(cell), kTextWidth);
    result.width = std::max(result.width, display_width(cell));
  }
  return result;
}

class Screen {
 public:
  Screen(Output& out, std::size_t number_width) : out_(out), number_width_(number_width) {}

  /// Splits the columns into panels that fit the terminal, at least one column each.
  void print(Range rows, std::vector<PageColumn> page) {
    std::vector<ShownColumn> columns;
    columns.reserve(page.size());
    for (PageColumn& column : page) columns.push_back(shown(std::move(column)));
    const std::size_t room = out_.width();
    for (std::size_t begin = 0; begin < columns.size();) {
      std::size_t end = begin, width = number_width_;
      do {
        width += kGapWidth + columns[end++].width;
      } while (end < columns.size() && width + kGapWidth + columns[end].width <= room);
      if (printed_) out_.write("\n");
      print_panel(rows, {columns.data() + begin, end - begin});
      printed_ = true;
      begin = end;
    }
  }

 private:
  void print_panel(Range rows, std::span<const ShownColumn> columns) {
    std::vector<Table::Column> heads = {{"", number_width_}};
    for (const ShownColumn& c : columns) heads.push_back({c.head, c.width, c.align});
    const Table table(std::move(heads));
    table.head(out_);
    std::vector<std::string_view> cells(columns.size() + 1);
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      const std::string number = fmt::to_string(row);
      cells[0] = number;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        cells[k + 1] = columns[k].cells[row - rows.begin];
      }
      table.row(out_, cells);
    }
  }

  Output& out_;
  std::size_t number_width_;
  bool printed_ = false;  // a panel was printed
};

}  // namespace

void print_screen(const CellPages& pages, Output& out,
                  const std::function<void(const std::vector<PageColumn>&)>& before) {
  const std::uint64_t last = pages.rows().end > 0 ? pages.rows().end - 1 : 0;
  Screen screen(out, digits(last));
  pages.for_each([&](Range rows, std::vector<PageColumn> page) {
    before(page);
    screen.print(rows, std::move(page));
  });
}

}  // namespace dapple::cli
