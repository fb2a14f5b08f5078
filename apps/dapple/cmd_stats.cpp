// dapple stats: minimum, maximum, mean and variance of all cells, of each row, of each column.
#include "dapple/stats.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "input.h"
#include "report.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

enum class By : unsigned char { whole, row, column, tile_row, tile_column };

constexpr std::pair<std::string_view, By> kBy[] = {{"row", By::row},
                                                   {"column", By::column},
                                                   {"tile-row", By::tile_row},
                                                   {"tile-column", By::tile_column}};

/// What one line is of.
std::string_view name_of(By by) {
  for (const auto& [name, value] : kBy) {
    if (value == by) return name;
  }
  return "";
}

/// JSON has no NaN and no infinities.
std::string json_number(double value) { return std::isfinite(value) ? cell_text(value) : "null"; }

/// The keys that all statistics have, without braces.
std::string keys(const Stats& s) {
  return fmt::format(
      R"("count":{},"nnz":{},"nans":{},"min":{},"max":{},"sum":{},"mean":{},"variance":{})",
      s.count, s.nnz, s.nans, json_number(s.min), json_number(s.max), json_number(s.sum),
      json_number(s.mean()), json_number(s.variance()));
}

/// The frame's label of a column; its number in a matrix, and for rows.
std::string name_of(const std::variant<Matrix, Frame>& object, By by, std::uint64_t i) {
  const auto* frame = std::get_if<Frame>(&object);
  return frame != nullptr && by == By::column ? frame->label(i) : std::to_string(i);
}

void print_whole(const Stats& s, Output& out) {
  const auto line = [&](std::string_view key, std::string_view value) {
    out.print("{:<12}{}\n", key, value);
  };
  line("cells", std::to_string(s.count));
  line("non-zero", std::to_string(s.nnz));
  line("NaN", std::to_string(s.nans));
  line("minimum", cell_text(s.min));
  line("maximum", cell_text(s.max));
  line("sum", cell_text(s.sum));
  line("mean", cell_text(s.mean()));
  line("variance", cell_text(s.variance()));
}

/// Shows times as times, and "-" where numbers would make no sense.
void describe(const Column& column, const Stats& s, std::array<std::string, 6>& cells) {
  const Meaning& meaning = column.meaning;
  if (meaning.kind == MeaningKind::number || meaning.kind == MeaningKind::boolean) return;
  std::fill(cells.begin() + 2, cells.end(), "-");
  if (!meaning.has_time() || std::isnan(s.min)) return;
  // Ticks beyond 2^53 are rounded in statistics.
  for (const auto& [value, cell] : {std::pair(s.min, &cells[2]), std::pair(s.max, &cells[3])}) {
    cell->clear();
    append_text(column, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), *cell);
  }
}

void print_each(const std::variant<Matrix, Frame>& object, By by, const std::vector<Stats>& all,
                Console& console) {
  if (console.json) {
    const std::string_view key = name_of(by);
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      const bool labelled = by == By::column && std::holds_alternative<Frame>(object);
      console.out.print("{{\"{}\":{},", key, i);
      if (labelled) console.out.print("\"label\":{},", json_string(name_of(object, by, i)));
      console.out.print("{}}}\n", keys(all[i]));
    }
    return;
  }
  constexpr std::size_t kNumber = 12, kLabel = 24;
  const bool frame = by == By::column && std::holds_alternative<Frame>(object);
  const Table table({{name_of(by),
                      frame                   ? kLabel
                      : by == By::tile_column ? 11U
                                              : 8U,
                      frame ? Align::left : Align::right},
                     {"non-zero", 10},
                     {"NaN", 6},
                     {"minimum", kNumber},
                     {"maximum", kNumber},
                     {"mean", 22},
                     {"variance", 22}});
  table.head(console.out);
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const Stats& s = all[i];
    const std::string label =
        frame ? label_text(name_of(object, by, i), kLabel) : std::to_string(i);
    std::array<std::string, 6> cells = {std::to_string(s.nnz), std::to_string(s.nans),
                                        cell_text(s.min),      cell_text(s.max),
                                        cell_text(s.mean()),   cell_text(s.variance())};
    if (frame) describe(std::get<Frame>(object).column_info(i), s, cells);
    const std::array<std::string_view, 7> row = {label,    cells[0], cells[1], cells[2],
                                                 cells[3], cells[4], cells[5]};
    table.row(console.out, row);
  }
}

int run_stats(const Arguments& arguments, Console& console) {
  Input input;
  By by = By::whole;
  StatsOptions options;
  Command command(kStatsVerb);
  add_input(command, input);
  command.option(
      "--by", "row|column|tile-row|tile-column",
      [&](const std::string& text) { by = parse_choice("--by", text, kBy); },
      "one line for each row, column, row of tiles or column of tiles");
  command.option(
      "--absent", "zero",
      [&](const std::string& text) {
        constexpr std::pair<std::string_view, Absent> kAbsent[] = {{"zero", Absent::zero}};
        options.absent = parse_choice("--absent", text, kAbsent);
      },
      "count cells that no block covers as zeros");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "one JSON object, or one a line with --by");
  command.parse(arguments);

  options.threads = console.threads;
  const auto object = open_input(input, console);
  say_note(input, base(object), console);
  if (by == By::whole) {
    const Stats s = matrix_stats(base(object), options);
    if (console.json) {
      console.out.print("{{{}}}\n", keys(s));
    } else {
      print_whole(s, console.out);
    }
  } else {
    const auto stats = by == By::row        ? row_stats
                       : by == By::column   ? column_stats
                       : by == By::tile_row ? tile_row_stats
                                            : tile_column_stats;
    print_each(object, by, stats(base(object), options), console);
  }
  return kDone;
}

}  // namespace

const Verb kStatsVerb = {
    "stats",
    "FILE",
    "minimum, maximum, mean and variance",
    "Cells that a sparse block does not store count as zeros. NaNs are counted and left out of\n"
    "everything else. The variance is that of the cells themselves: divided by their number. "
    "Files\n"
    "that dapple wrote have statistics of their blocks: those of the whole, and of rows and "
    "columns\n"
    "of tiles, need no cell.\n",
    "  dapple stats m.dbdf\n"
    "  dapple stats m.dbdf --by column --json\n",
    run_stats};

}  // namespace dapple::cli
