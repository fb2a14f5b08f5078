#include "sparse_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "dapple/csv.h"
#include "dapple/rows.h"
#include "input.h"
#include "selection.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr double kMany = 100000, kMostlyZero = 0.9;  // cells, of all of them, to give a hint

std::string hint_text(std::string_view about, double zeros, std::string_view which, double cells) {
  return fmt::format("{}{:.0f} % of {} {:.0f} cells are zero; --sparse prints only the others",
                     about, std::floor(100 * zeros), which, cells);
}

Range rows_of(const Selection& part, const BlockedObject& object) {
  return part.rows.value_or(Range{0, object.rows()});
}

std::uint64_t width_of(const Selection& part, const BlockedObject& object) {
  return part.cols ? part.cols->size() : object.cols();
}

/// Rows that are read at once: whole tiles, so that no sparse block is decoded twice, but no more
/// cells than fit in memory if none were zero.
std::uint64_t rows_at_once(const BlockedObject& object, std::uint64_t width) {
  constexpr std::uint64_t kMostCells = std::uint64_t{1} << 24;
  const auto grid = object.grid();
  const std::uint64_t rows = grid ? grid->tile.rows : object.rows();
  return std::clamp<std::uint64_t>(kMostCells / std::max<std::uint64_t>(1, width), 1,
                                   std::max<std::uint64_t>(1, rows));
}

template <class Print>
void for_each_band(Range rows, std::uint64_t height, const Print& print) {
  for (std::uint64_t first = rows.begin; first < rows.end;) {
    const std::uint64_t last = first + std::min(height - first % height, rows.end - first);
    print(Range{first, last});
    first = last;
  }
}

/// Adds the rows where a block stores values: those that have some, if they are few of very many.
void add_stored_rows(const BlockedObject& object, const BlockInfo& info, const Region& region,
                     std::vector<Range>& ranges) {
  constexpr std::uint64_t kTall = 1 << 16, kRare = 1024, kNear = 64;
  constexpr std::uint64_t kMost = 1 << 14;  // for each a block is gone through
  const Region seen = intersect(info.cells(), region);
  if (info.kind == BlockKind::empty || seen.empty()) return;
  if (info.kind == BlockKind::dense || info.rows < kTall || info.stored > kMost ||
      info.stored > info.rows / kRare) {
    ranges.push_back(seen.rows);
    return;
  }
  std::optional<Range> last;
  const Block block = object.block(info.pos);
  visit_type(info.value_type, [&](auto tag) {
    for (const auto row : block.rows<decltype(tag)>().skip_empty()) {
      const std::uint64_t number = info.pos.rx + row.number();
      if (!seen.rows.contains(number)) continue;
      if (last && number - last->end < kNear) {
        last->end = number + 1;
        continue;
      }
      if (last) ranges.push_back(*last);
      last = Range{number, number + 1};
    }
  });
  if (last) ranges.push_back(*last);
}

/// The rows of a region that have stored values, and some others, as ranges in order.
std::vector<Range> stored_rows(const BlockedObject& object, const Region& region) {
  std::vector<Range> ranges;
  for (const BlockInfo& info : object.blocks()) add_stored_rows(object, info, region, ranges);
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (const Range& range : ranges) {
    if (range.begin <= ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, range.end);
    } else {
      ranges[++last] = range;
    }
  }
  ranges.resize(std::min(ranges.size(), last + 1));
  return ranges;
}

/// Rows of a region, in order: if no block covers some cell of rows without stored values, the
/// first such cell is in the first of them or in one of these, because a block above it ends there.
std::vector<std::uint64_t> edges_in(const BlockedObject& object, const Region& region) {
  std::vector<std::uint64_t> edges;
  for (const BlockInfo& block : object.blocks()) {
    const Region seen = intersect(block.cells(), region);
    if (!seen.empty() && seen.rows.end < region.rows.end) edges.push_back(seen.rows.end);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Calls `print` for rows of a region, band after band, without those that have nothing to print:
/// there may be 2^64 of them.
template <class Print>
void for_each_band(const BlockedObject& object, const Region& region, std::uint64_t height,
                   bool absent_is_error, const Print& print) {
  if (region.empty()) return;
  std::vector<std::uint64_t> edges;
  if (absent_is_error) edges = edges_in(object, region);
  std::uint64_t next = region.rows.begin;
  const auto skip_to = [&](std::uint64_t end) {
    if (next < end && absent_is_error) {
      print(Range{next, next + 1});
      auto edge = std::upper_bound(edges.begin(), edges.end(), next);
      for (; edge != edges.end() && *edge < end; ++edge) print(Range{*edge, *edge + 1});
    }
    next = end;
  };
  for (const Range& rows : stored_rows(object, region)) {
    skip_to(rows.begin);
    for_each_band(rows, height, print);
    next = rows.end;
  }
  skip_to(region.rows.end);
}

/// The smallest region that has all columns of these.
Region around(Range rows, const std::vector<Range>& cols) {
  if (cols.empty()) return {rows, {0, 0}};
  Range all = cols.front();
  for (const Range& run : cols) {
    all = {std::min(all.begin, run.begin), std::max(all.end, run.end)};
  }
  return {rows, all};
}

template <Value T>
void print_matrix(const Matrix& matrix, const Selection& part, const TextOptions& options,
                  Output& out) {
  using Part = decltype(matrix.read_csr<T>(Region(), options.reading));
  const std::vector<Range> cols = column_runs(part, matrix);
  const Region region = around(rows_of(part, matrix), cols);
  const std::uint64_t height = rows_at_once(matrix, width_of(part, matrix));
  const bool strict = options.reading.absent == Absent::error;
  for_each_band(matrix, region, height, strict, [&](Range rows) {
    std::vector<Part> parts;
    for (const Range& run : cols) {
      parts.push_back(matrix.read_csr<T>({rows, run}, options.reading));
    }
    std::string lines;
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const std::string start = std::to_string(rows.begin + row) + ',';
      for (std::size_t p = 0; p < cols.size(); ++p) {
        const Part& csr = parts[p];
        for (std::uint64_t k = csr.row_ptr[row]; k < csr.row_ptr[row + 1]; ++k) {
          if (csr.values[k] == T{0}) continue;  // -0
          const fmt::format_int col(cols[p].begin + csr.col_idx[k]);
          lines.append(start).append(col.data(), col.size()).append(",");
          lines.append(cell_text(csr.values[k], options.short_floats)).append("\n");
        }
      }
      out.write(lines);
      lines.clear();
    }
  });
}

/// The line of a cell of a frame; nothing for zero, false and a missing cell.
template <Value T>
std::string frame_line(const Column& column, std::uint64_t row, std::uint64_t col, T value,
                       bool short_floats) {
  const Meaning& meaning = column.meaning;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  if (is_missing(meaning, bits)) return "";
  if (meaning.kind == MeaningKind::number) {
    if (value == T{0}) return "";
    return fmt::format("{},{},{}\n", row, col, cell_text(value, short_floats));
  }
  if (meaning.kind == MeaningKind::boolean && bits == 0) return "";
  std::string text;
  append_csv(column, bits, text);
  return fmt::format("{},{},{}\n", row, col, text);
}

void print_frame(const Frame& frame, const Selection& part, const TextOptions& options,
                 Output& out) {
  constexpr std::uint64_t kSparseCellsAtOnce = std::uint64_t{1} << 20;
  const std::uint64_t width = width_of(part, frame);
  const std::uint64_t height =
      std::max<std::uint64_t>(1, kSparseCellsAtOnce / std::max<std::uint64_t>(1, width));
  const auto selected = [&](std::uint64_t k) { return part.cols ? (*part.cols)[k] : k; };
  const auto print = [&](Range rows) {
    std::vector<std::vector<std::string>> lines(rows.size());  // of each row
    for (std::uint64_t k = 0; k < width; ++k) {
      const std::uint64_t col = selected(k);
      const Column& column = frame.column_info(col);
      visit_type(column.value_type, [&](auto tag) {
        const auto cells = frame.read_column<decltype(tag)>(col, rows, options.reading);
        for (std::uint64_t row = 0; row < rows.size(); ++row) {
          std::string line =
              frame_line(column, rows.begin + row, col, cells[row], options.short_floats);
          if (!line.empty()) lines[row].push_back(std::move(line));
        }
      });
    }
    for (const auto& row : lines) {
      for (const std::string& line : row) out.write(line);
    }
  };
  bool times = false;  // of which zero is one
  for (std::uint64_t k = 0; k < width; ++k) {
    times = times || frame.column_info(selected(k)).meaning.has_time();
  }
  const Region all{rows_of(part, frame), {0, frame.cols()}};
  if (width == 0) return;
  if (times) return for_each_band(all.rows, height, print);
  for_each_band(frame, all, height, options.reading.absent == Absent::error, print);
}

}  // namespace

void print_sparse(const std::variant<Matrix, Frame>& object, const Selection& part,
                  const TextOptions& options, Output& out) {
  if (const auto* frame = std::get_if<Frame>(&object))
    return print_frame(*frame, part, options, out);
  const Matrix& matrix = std::get<Matrix>(object);
  visit_type(matrix.value_type(),
             [&](auto tag) { print_matrix<decltype(tag)>(matrix, part, options, out); });
}

std::string sparse_hint(const std::variant<Matrix, Frame>& object, const Selection& part) {
  const BlockedObject& o = base(object);
  const double all = static_cast<double>(o.rows()) * static_cast<double>(o.cols());
  const double cells =
      static_cast<double>(rows_of(part, o).size()) * static_cast<double>(width_of(part, o));
  if (all == 0 || cells < kMany) return "";
  const double zeros = 1 - static_cast<double>(o.counts().stored) / all;
  if (zeros < kMostlyZero) return "";
  return hint_text("about ", zeros, "these", cells);
}

std::string ZeroCounter::add(const std::vector<PageColumn>& page) {
  constexpr std::uint64_t kEnough = 10000;
  if (said_ || all_ < kMany) return "";
  for (const PageColumn& column : page) {
    cells_ += column.cells.size();
    if (column.is_text) continue;
    zeros_ += static_cast<std::uint64_t>(std::count(column.cells.begin(), column.cells.end(), "0"));
  }
  const double share = static_cast<double>(zeros_) / static_cast<double>(cells_);
  said_ = cells_ >= kEnough && share >= kMostlyZero;
  return said_ ? hint_text("", share, "the first", static_cast<double>(cells_)) : "";
}

}  // namespace dapple::cli
