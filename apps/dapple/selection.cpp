#include "selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "input.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::pair<std::string_view, Absent> kAbsent[] = {{"zero", Absent::zero},
                                                           {"nan", Absent::nan}};

[[noreturn]] void fail(Errc code, const std::string& file, std::string detail) {
  throw Error(code, file, std::nullopt, std::move(detail));
}

/// One side of a range as the user wrote it.
std::string side_text(const std::optional<std::uint64_t>& side) {
  return side ? fmt::to_string(*side) : "";
}

/// The range of `what` with its missing sides filled in.
Range resolve_range(const std::optional<OpenRange>& wanted, std::uint64_t extent,
                    std::string_view what, const std::string& file) {
  if (!wanted) return {0, extent};
  const Range range{wanted->begin.value_or(0), wanted->end.value_or(extent)};
  if (range.begin > range.end || range.end > extent) {
    fail(Errc::out_of_range, file,
         fmt::format("{} {}:{} are not inside 0:{}", what, side_text(wanted->begin),
                     side_text(wanted->end), extent));
  }
  return range;
}

void require_inside(const SelectionFlags::Pair& cell, const BlockedObject& object,
                    const std::string& file) {
  if (cell.first < object.rows() && cell.second < object.cols()) return;
  fail(Errc::out_of_range, file,
       fmt::format("cell ({}, {}) is outside the {} x {} cells", cell.first, cell.second,
                   object.rows(), object.cols()));
}

/// The selected block, if there is one.
std::optional<BlockInfo> find_wanted_block(const SelectionFlags& flags, const BlockedObject& object,
                                           const std::string& file) {
  if (flags.block) return object.block({flags.block->first, flags.block->second}).info();
  if (flags.tile) return object.tile(flags.tile->first, flags.tile->second).info();
  if (!flags.around) return std::nullopt;
  require_inside(*flags.around, object, file);
  if (const auto block = object.find_cover(flags.around->first, flags.around->second)) {
    return block->info();
  }
  fail(Errc::absent, file,
       fmt::format("no block covers cell ({}, {})", flags.around->first, flags.around->second));
}

/// A selection lists its columns, unless it takes all of them.
void set_cols(Selection& selection, Range cols, const BlockedObject& object) {
  if (cols == Range{0, object.cols()} && object.text_columns().empty()) return;
  selection.cols.emplace(cols.size());
  std::iota(selection.cols->begin(), selection.cols->end(), cols.begin);
}

/// The row or column of that name, of the object's rows or columns.
std::uint64_t find_named(const std::shared_ptr<const Names>& names, const std::string& name,
                         std::string_view what, const std::string& file) {
  if (names == nullptr) {
    fail(Errc::invalid_argument, file, fmt::format("the {}s of this file have no names", what));
  }
  const auto found = names->find(name);
  if (!found) fail(Errc::absent, file, fmt::format("no {} is called \"{}\"", what, name));
  return *found;
}

/// The columns of a matrix that is a vector of these slots, or has this name.
std::vector<std::uint64_t> resolve_slots(const std::vector<std::string>& labels,
                                         const Matrix& matrix, const std::string& file) {
  const ColumnGroup* const group = matrix.group();
  const auto names = matrix.col_names();
  if (group == nullptr && names == nullptr) {
    fail(Errc::invalid_argument, file,
         "the columns of this matrix have no names; 'dapple get --cols' chooses them by number");
  }
  std::vector<std::uint64_t> cols;
  if (group == nullptr) {
    for (const std::string& name : labels) cols.push_back(find_named(names, name, "column", file));
    return cols;
  }
  for (const std::string& label : labels) {
    std::uint64_t col = 0;
    while (col < group->size && group->label(col) != label) ++col;
    if (col == group->size && label != group->name) {
      fail(Errc::absent, file, fmt::format("no column \"{}\"", label));
    }
    for (std::uint64_t all = 0; col == group->size && all < col; ++all) cols.push_back(all);
    if (col < group->size) cols.push_back(col);
  }
  return cols;
}

std::vector<std::uint64_t> resolve_labels(const std::vector<std::string>& labels,
                                          const std::variant<Matrix, Frame>& object,
                                          const std::string& file) {
  if (const auto* matrix = std::get_if<Matrix>(&object)) {
    return resolve_slots(labels, *matrix, file);
  }
  const auto& frame = std::get<Frame>(object);
  std::vector<std::uint64_t> cols;
  for (const std::string& label : labels) {
    const Range found = labelled_range(frame, label);
    for (std::uint64_t col = found.begin; col < found.end; ++col) cols.push_back(col);
  }
  return cols;
}

}  // namespace

void add_selection_flags(Command& command, SelectionFlags& flags) {
  command.section("choosing cells (all of them unless one of these is given)");
  const auto pair = [&](const char* flag, const char* what, auto& target, const char* help) {
    command.option(
        flag, what,
        [=, &target](const std::string& text) { target = parse_pair(flag, text, ',', what); },
        help);
  };
  pair("--block", "RX,CX", flags.block, "the block whose first cell is row RX, column CX");
  pair("--tile", "I,J", flags.tile, "tile I from the top and J from the left of a regular tiling");
  pair("--around", "R,C", flags.around, "the block that contains the cell in row R, column C");
  pair("--cell", "R,C", flags.cell, "the cell in row R, column C: its value alone");
  command.option(
      "--rows", "A:B",
      [&flags](const std::string& text) { flags.rows = parse_range("--rows", text); },
      "rows A to B - 1; either side may be left out; A alone is one row");
  command.option(
      "--cols", "A:B",
      [&flags](const std::string& text) { flags.cols = parse_range("--cols", text); },
      "columns A to B - 1; either side may be left out; A alone is one column");
  add_column_flag(command, flags.labels);
  command.option(
      "--row-name", "NAME", [&flags](const std::string& text) { flags.row_name = text; },
      "the row of that name");
}

void add_column_flag(Command& command, std::vector<std::string>& labels) {
  command.repeatable(
      "--column,--col-name", "LABEL",
      [&labels](const std::string& text) { labels.push_back(text); },
      "a column of a frame by its label, or of a matrix by its name, or all of a vector that "
      "ML.NET "
      "has under one name; may be repeated, in any order");
}

void add_absent_flag(Command& command, Absent& absent, std::string_view help) {
  command.option(
      "--absent", "WHAT",
      [&absent](const std::string& text) { absent = parse_choice("--absent", text, kAbsent); },
      std::string(help));
}

void require_consistent(const SelectionFlags& flags) {
  const int places = flags.block.has_value() + flags.tile.has_value() + flags.around.has_value() +
                     flags.cell.has_value();
  if (places > 1) throw UsageError("--block, --tile, --around and --cell exclude each other");
  const bool rectangle = flags.rows || flags.cols || !flags.labels.empty() || flags.row_name;
  if (places == 1 && rectangle) {
    throw UsageError(
        "--block, --tile and --around choose a block, --cell a cell, --rows, --cols and --column a "
        "rectangle: give one or the other");
  }
  if (flags.cols && !flags.labels.empty()) {
    throw UsageError("--cols and --column exclude each other");
  }
  if (flags.rows && flags.row_name) {
    throw UsageError("--rows and --row-name exclude each other");
  }
}

Selection resolve(const SelectionFlags& flags, const std::variant<Matrix, Frame>& object,
                  const std::string& file) {
  const BlockedObject& o = base(object);
  Selection selection;
  if (const auto block = find_wanted_block(flags, o, file)) {
    selection.rows = block->cells().rows;
    set_cols(selection, block->cells().cols, o);
    return selection;
  }
  if (flags.cell) {
    require_inside(*flags.cell, o, file);
    selection.rows = Range{flags.cell->first, flags.cell->first + 1};
    selection.cols = std::vector{flags.cell->second};
    return selection;
  }
  if (flags.row_name) {
    const std::uint64_t row = find_named(o.row_names(), *flags.row_name, "row", file);
    selection.rows = Range{row, row + 1};
  }
  if (flags.rows) selection.rows = resolve_range(flags.rows, o.rows(), "rows", file);
  if (flags.cols) {
    set_cols(selection, resolve_range(flags.cols, o.cols(), "columns", file), o);
  }
  // An ML.NET file was opened with these columns only; each may be a vector of many.
  if (!flags.labels.empty() && o.format() != "idv")
    selection.cols = resolve_labels(flags.labels, object, file);
  return selection;
}

std::vector<Range> column_runs(const Selection& part, const BlockedObject& object) {
  if (!part.cols) return {{0, object.cols()}};
  std::vector<Range> runs;
  for (const std::uint64_t col : *part.cols) {
    if (runs.empty() || runs.back().end != col) runs.push_back({col, col});
    ++runs.back().end;
  }
  return runs;
}

Range labelled_range(const Frame& frame, const std::string& label) {
  const auto group = frame.find_column(label) ? std::nullopt : frame.find_group(label);
  if (group) return *group;
  const std::uint64_t col = frame.column(label);
  return {col, col + 1};
}

Region resolve_window(const SelectionFlags& flags, const BlockedObject& object,
                      const std::string& file) {
  return {resolve_range(flags.rows, object.rows(), "rows", file),
          resolve_range(flags.cols, object.cols(), "columns", file)};
}

}  // namespace dapple::cli
