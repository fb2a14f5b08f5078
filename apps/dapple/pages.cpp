#include "pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "input.h"
#include "selection.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::uint64_t kCellsPerPage = std::uint64_t{1} << 16;
constexpr std::uint64_t kColsPerPage = std::uint64_t{1} << 12;

}  // namespace

std::vector<ShownColumn> shown_columns(const BlockedObject& object) {
  std::vector<ShownColumn> columns;
  const auto texts = object.text_columns();
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    for (; number < texts[k].before; ++number) columns.push_back({false, number});
    if (texts[k].readable) columns.push_back({true, k});
  }
  for (; number < object.cols(); ++number) columns.push_back({false, number});
  return columns;
}

std::vector<ShownColumn> shown_columns(const std::vector<std::uint64_t>& numbers) {
  std::vector<ShownColumn> columns;
  for (const std::uint64_t number : numbers) columns.push_back({false, number});
  return columns;
}

CellPages::CellPages(const std::variant<Matrix, Frame>& object, const Selection& part,
                     const TextOptions& options)
    : object_(object),
      part_(part),
      options_(options),
      rows_(part.rows.value_or(Range{0, base(object).rows()})),
      numbers_(part.cols ? part.cols->size() : base(object).cols()) {
  if (!part.cols && !base(object).text_columns().empty()) mixed_ = shown_columns(base(object));
}

void CellPages::for_each(const Take& take) const {
  if (cols() == 0) return;
  const std::uint64_t width = std::min(cols(), kColsPerPage);
  const std::uint64_t height = std::max<std::uint64_t>(1, kCellsPerPage / width);
  Range rows{rows_.begin, rows_.begin};
  do {
    rows = {rows.end, rows.end + std::min(height, rows_.end - rows.end)};
    for (Range part{0, 0}; part.end < cols();) {
      part = {part.end, part.end + std::min(width, cols() - part.end)};
      take(rows, load(rows, part));
    }
  } while (rows.end < rows_.end);
}

ShownColumn CellPages::column(std::uint64_t k) const {
  if (!mixed_.empty()) return mixed_[k];
  return {false, part_.cols ? (*part_.cols)[k] : k};
}

std::vector<PageColumn> CellPages::load(Range rows, Range cols) const {
  std::vector<PageColumn> page(cols.size());
  if (const auto* matrix = std::get_if<Matrix>(&object_); matrix != nullptr) {
    load_matrix(*matrix, rows, cols, page);
    return page;
  }
  for (std::uint64_t k = 0; k < cols.size(); ++k) {
    const ShownColumn from = column(cols.begin + k);
    PageColumn& shown = page[k];
    shown.cells.reserve(rows.size());
    shown.is_text = from.is_text;
    if (!from.is_text) {
      load_column(std::get<Frame>(object_), rows, from.number, shown);
      continue;
    }
    const BlockedObject& object = base(object_);
    shown.label = object.text_columns()[from.number].label;
    object.read_text(from.number, rows,
                     [&](std::uint64_t, std::string_view text) { shown.cells.emplace_back(text); });
  }
  return page;
}

void CellPages::load_matrix(const Matrix& matrix, Range rows, Range cols,
                            std::vector<PageColumn>& page) const {
  Selection wanted{.cols = std::vector<std::uint64_t>()};
  for (std::uint64_t k = cols.begin; k < cols.end; ++k) wanted.cols->push_back(column(k).number);
  auto to = page.begin();
  for (const Range& run : column_runs(wanted, matrix)) {
    const std::span columns(to, run.size());
    for (std::uint64_t k = 0; k < run.size(); ++k) columns[k].label = fmt::to_string(run.begin + k);
    visit_type(matrix.value_type(), [&](auto tag) {
      const auto values = matrix.read<decltype(tag)>({rows, run}, options_.reading);
      for (std::size_t i = 0; i < values.size(); ++i) {
        columns[i % columns.size()].cells.push_back(cell_text(values[i], options_.short_floats));
      }
    });
    to += static_cast<std::ptrdiff_t>(run.size());
  }
}

namespace {

/// A number, a word, a time, a truth value; nothing for a missing cell.
template <Value T>
std::string column_text(const Column& column, T value, bool short_floats) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  if (column.meaning.kind == MeaningKind::number && !is_missing(column.meaning, bits)) {
    return cell_text(value, short_floats);
  }
  std::string text;
  append_text(column, bits, text);
  return column.meaning.has_words() ? printable(text) : text;
}

}  // namespace

void CellPages::load_column(const Frame& frame, Range rows, std::uint64_t col,
                            PageColumn& column) const {
  column.label = frame.label(col);
  visit_type(frame.column_type(col), [&](auto tag) {
    using T = decltype(tag);
    const auto values = frame.read_column<T>(col, rows, options_.reading);
    const Column& info = frame.column_info(col);
    for (const T value : values) {
      column.cells.push_back(column_text(info, value, options_.short_floats));
    }
  });
}

}  // namespace dapple::cli
