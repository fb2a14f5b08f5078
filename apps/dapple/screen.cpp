#include "screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "input.h"
#include "table.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::uint64_t kCellsPerPage = std::uint64_t{1} << 16;
constexpr std::uint64_t kColsPerPage = std::uint64_t{1} << 12;
constexpr std::size_t kHeadWidth = 24;
constexpr std::size_t kGapWidth = 2;

/// One column of a page: its head, its cells, and the width that holds both.
struct PageColumn {
  std::string head;
  std::vector<std::string> cells;
  std::size_t width = 0;
};

class CellScreen {
 public:
  CellScreen(const std::variant<Matrix, Frame>& object, const Selection& part,
             const ReadOptions& options, Output& out)
      : object_(object),
        part_(part),
        options_(options),
        out_(out),
        rows_(part.rows.value_or(Range{0, base(object).rows()})),
        cols_(part.cols ? part.cols->size() : base(object).cols()),
        number_width_(digits(rows_.end > 0 ? rows_.end - 1 : 0)) {}

  void print() {
    if (cols_ == 0) return;
    const std::uint64_t cols_per_page = std::min(cols_, kColsPerPage);
    const std::uint64_t rows_per_page = kCellsPerPage / cols_per_page;
    Range rows{rows_.begin, rows_.begin};
    do {
      rows = {rows.end, rows.end + std::min(rows_per_page, rows_.end - rows.end)};
      Range cols{0, 0};
      do {
        cols = {cols.end, cols.end + std::min(cols_per_page, cols_ - cols.end)};
        print_page(rows, load(rows, cols));
      } while (cols.end < cols_);
    } while (rows.end < rows_.end);
  }

 private:
  /// The object's column that is the k-th selected one.
  std::uint64_t column(std::uint64_t k) const { return part_.cols ? (*part_.cols)[k] : k; }

  std::vector<PageColumn> load(Range rows, Range cols) const {
    std::vector<PageColumn> page(cols.size());
    for (std::uint64_t k = 0; k < cols.size(); ++k) {
      const std::uint64_t col = column(cols.begin + k);
      const auto* frame = std::get_if<Frame>(&object_);
      page[k].head =
          frame != nullptr ? label_text(frame->label(col), kHeadWidth) : fmt::to_string(col);
      page[k].cells.reserve(rows.size());
    }
    if (const auto* matrix = std::get_if<Matrix>(&object_)) {
      load_matrix(*matrix, rows, cols, page);
    } else {
      load_frame(std::get<Frame>(object_), rows, cols, page);
    }
    for (PageColumn& c : page) {
      c.width = display_width(c.head);
      for (const std::string& cell : c.cells) c.width = std::max(c.width, cell.size());
    }
    return page;
  }

  /// The selected columns of a matrix are neighbours: one read.
  void load_matrix(const Matrix& matrix, Range rows, Range cols,
                   std::vector<PageColumn>& page) const {
    const std::uint64_t first = cols.empty() ? 0 : column(cols.begin);
    visit_type(matrix.value_type(), [&](auto tag) {
      using T = decltype(tag);
      const auto values = matrix.read<T>({rows, {first, first + cols.size()}}, options_);
      for (std::size_t i = 0; i < values.size(); ++i) {
        page[i % page.size()].cells.push_back(cell_text(values[i]));
      }
    });
  }

  void load_frame(const Frame& frame, Range rows, Range cols, std::vector<PageColumn>& page) const {
    for (std::uint64_t k = 0; k < cols.size(); ++k) {
      const std::uint64_t col = column(cols.begin + k);
      visit_type(frame.column_type(col), [&](auto tag) {
        using T = decltype(tag);
        for (const T value : frame.read_column<T>(col, rows, options_)) {
          page[k].cells.push_back(cell_text(value));
        }
      });
    }
  }

  /// Cuts the columns into panels as wide as the terminal, at least one column each.
  void print_page(Range rows, const std::vector<PageColumn>& page) {
    const std::size_t room = out_.width();
    std::size_t begin = 0;
    do {
      std::size_t end = begin, width = number_width_;
      while (end < page.size() && (end == begin || width + kGapWidth + page[end].width <= room)) {
        width += kGapWidth + page[end++].width;
      }
      if (printed_) out_.write("\n");
      print_panel(rows, {page.data() + begin, end - begin});
      printed_ = true;
      begin = end;
    } while (begin < page.size());
  }

  void print_panel(Range rows, std::span<const PageColumn> columns) {
    std::vector<Table::Column> heads = {{"", number_width_}};
    for (const PageColumn& c : columns) heads.push_back({c.head, c.width});
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

  const std::variant<Matrix, Frame>& object_;
  const Selection& part_;
  const ReadOptions& options_;
  Output& out_;
  Range rows_;
  std::uint64_t cols_;
  std::size_t number_width_;
  bool printed_ = false;  // a panel stands above
};

}  // namespace

void print_cells(const std::variant<Matrix, Frame>& object, const Selection& part,
                 const ReadOptions& options, Output& out) {
  CellScreen(object, part, options, out).print();
}

}  // namespace dapple::cli
