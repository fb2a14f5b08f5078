// dapple stats: minimum, maximum, mean and variance of all cells, of each row, of each column.
#include "dapple/stats.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "input.h"
#include "report.h"
#include "selection.h"
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

/// A minimum or maximum: an integer that f64 may round has all its digits.
std::string extreme_text(const Stats& s, double rounded, std::uint64_t ExactStats::*exact) {
  if (!s.exact || std::abs(rounded) < 0x1p53) return cell_text(rounded);
  std::string text;
  append_number(rounded < 0 ? ValueType::i64 : ValueType::u64, (*s.exact).*exact, text);
  return text;
}

std::string minimum_text(const Stats& s) { return extreme_text(s, s.min, &ExactStats::min); }
std::string maximum_text(const Stats& s) { return extreme_text(s, s.max, &ExactStats::max); }

/// The keys that all statistics have, without braces.
std::string keys(const Stats& s) {
  const bool numbers = s.nans < s.count;  // without one there is no least, and no mean
  const auto value = [&](std::string text) {
    return numbers ? json_number(std::move(text)) : std::string("null");
  };
  return fmt::format(
      R"("count":{},"nnz":{},"nans":{},"min":{},"max":{},"sum":{},"mean":{},"variance":{})",
      s.count, s.nnz, s.nans, value(minimum_text(s)), value(maximum_text(s)),
      json_number(cell_text(s.sum)), value(cell_text(s.mean())), value(cell_text(s.variance())));
}

void print_whole(const Stats& s, Output& out) {
  const auto line = [&](std::string_view key, std::string_view value) {
    out.print("{:<12}{}\n", key, value);
  };
  line("cells", std::to_string(s.count));
  line("non-zero", std::to_string(s.nnz));
  line("NaN", std::to_string(s.nans));
  line("minimum", minimum_text(s));
  line("maximum", maximum_text(s));
  line("sum", cell_text(s.sum));
  line("mean", cell_text(s.mean()));
  line("variance", cell_text(s.variance()));
}

/// What a tick of the column reads like, also one that marks missing cells: a mean may be that.
std::string time_text(Column column, std::uint64_t tick) {
  column.meaning.missing.reset();
  std::string text;
  append_text(column, tick, text);
  return text;
}

/// The statistics of a column that mean something, as text: "-" for the others.
struct ColumnText {
  std::string minimum = "-", maximum = "-", mean = "-", variance = "-", words = "-";
};

ColumnText text_of(const Column& column, const Stats& s) {
  ColumnText text;
  const Meaning& meaning = column.meaning;
  if (meaning.has_words()) {
    text.words = std::to_string(meaning.words->size());
  } else if (meaning.has_time()) {
    if (!s.exact) return text;
    text.minimum = time_text(column, s.exact->min);
    text.maximum = time_text(column, s.exact->max);
    text.mean = time_text(column, s.exact->mean);
  } else {
    const bool truth = meaning.kind == MeaningKind::boolean && s.nans < s.count;
    const auto name = [](double v) { return v == 0 ? "false" : "true"; };
    text.minimum = truth ? name(s.min) : minimum_text(s);
    text.maximum = truth ? name(s.max) : maximum_text(s);
    text.mean = cell_text(s.mean());
    text.variance = cell_text(s.variance());
  }
  return text;
}

/// Numbers and truth values as all statistics; of the others, what is no number is null or text.
std::string column_keys(const Column& column, const Stats& s) {
  const Meaning& meaning = column.meaning;
  const std::string meant = meaning.kind == MeaningKind::number
                                ? std::string()
                                : fmt::format(R"(,"meaning":"{}")", name(meaning.kind));
  if (!meaning.has_words() && !meaning.has_time()) return keys(s) + meant;
  const ColumnText text = text_of(column, s);
  const auto value = [](const std::string& cell) {
    return cell == "-" ? std::string("null") : json_string(cell);
  };
  const std::string words =
      meaning.has_words() ? fmt::format(R"(,"words":{})", text.words) : std::string();
  return fmt::format(
      R"("count":{},"nnz":{},"nans":{},"min":{},"max":{},"sum":null,"mean":{},"variance":null{}{})",
      s.count, s.nnz, s.nans, value(text.minimum), value(text.maximum), value(text.mean), meant,
      words);
}

void print_columns(const Frame& frame, const std::vector<Stats>& all, Console& console) {
  if (console.json) {
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      const Column& column = frame.column_info(i);
      console.out.print("{{\"column\":{},\"label\":{},{}}}\n", i, json_string(column.label),
                        column_keys(column, all[i]));
    }
    return;
  }
  constexpr std::size_t kLabel = 24, kNumber = 12;
  std::vector<ColumnText> texts;
  std::size_t least = kNumber, greatest = kNumber;
  bool words = false;
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const ColumnText& text = texts.emplace_back(text_of(frame.column_info(i), all[i]));
    least = std::max(least, text.minimum.size());
    greatest = std::max(greatest, text.maximum.size());
    words = words || frame.column_info(i).meaning.has_words();
  }
  std::vector<Table::Column> columns = {
      {"column", kLabel, Align::left}, {"values", 10}, {"missing", 8},  {"minimum", least},
      {"maximum", greatest},           {"mean", 22},   {"variance", 22}};
  if (words) columns.push_back({"words", 8});
  const std::size_t width = columns.size();
  const Table table(std::move(columns));
  table.head(console.out);
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const ColumnText& text = texts[i];
    const std::string label = label_text(frame.label(i), kLabel);
    const std::string values = std::to_string(all[i].count - all[i].nans);
    const std::string missing = std::to_string(all[i].nans);
    const std::array<std::string_view, 8> row = {
        label, values, missing, text.minimum, text.maximum, text.mean, text.variance, text.words};
    table.row(console.out, std::span(row).first(width));
  }
}

/// Of rows, tiles, or the columns of a matrix.
void print_each(By by, const std::vector<Stats>& all, Console& console) {
  if (console.json) {
    const std::string_view key = name_of(by);
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      console.out.print("{{\"{}\":{},{}}}\n", key, i, keys(all[i]));
    }
    return;
  }
  constexpr std::size_t kNumber = 12;
  const Table table({{name_of(by), by == By::tile_column ? 11U : 8U},
                     {"non-zero", 10},
                     {"NaN", 6},
                     {"minimum", kNumber},
                     {"maximum", kNumber},
                     {"mean", 22},
                     {"variance", 22}});
  table.head(console.out);
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const Stats& s = all[i];
    const std::array<std::string, 7> cells = {
        std::to_string(i), std::to_string(s.nnz), std::to_string(s.nans), minimum_text(s),
        maximum_text(s),   cell_text(s.mean()),   cell_text(s.variance())};
    const std::vector<std::string_view> row(cells.begin(), cells.end());
    table.row(console.out, row);
  }
}

int run_stats(const Arguments& arguments, Console& console) {
  Input input;
  std::optional<By> asked;
  ReadOptions options;
  Command command(kStatsVerb);
  add_input(command, input);
  command.option(
      "--by", "row|column|tile-row|tile-column",
      [&](const std::string& text) { asked = parse_choice("--by", text, kBy); },
      "one line for each row, column, row of tiles or column of tiles; of a frame, each column "
      "unless given");
  add_absent_flag(command, options.absent,
                  "count cells that no block covers as zero or nan, instead of failing");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console,
                   "one JSON object, or one a line with --by; \"inf\", \"-inf\" and \"nan\" are "
                   "strings, and what "
                   "no cell tells is null");
  command.parse(arguments);

  options.threads = console.threads;
  const auto object = open_input(input, console);
  say_note(input, base(object), console);
  const auto* const frame = std::get_if<Frame>(&object);
  const By by = asked.value_or(frame != nullptr ? By::column : By::whole);
  if (by == By::whole) {
    const Stats s = matrix_stats(base(object), options);
    if (console.json) {
      console.out.print("{{{}}}\n", keys(s));
    } else {
      print_whole(s, console.out);
    }
  } else if (frame != nullptr && by == By::column) {
    print_columns(*frame, column_stats(*frame, options), console);
  } else {
    const auto stats = by == By::row        ? row_stats
                       : by == By::column   ? column_stats
                       : by == By::tile_row ? tile_row_stats
                                            : tile_column_stats;
    print_each(by, stats(base(object), options), console);
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
    "of tiles, need no cell.\n"
    "\n"
    "Of a frame, each column has a line: NaNs count as missing, times are shown as times, and of\n"
    "words only their number.\n",
    "  dapple stats m.dbdf\n"
    "  dapple stats people.csv\n"
    "  dapple stats m.dbdf --by column --json\n"
    "  dapple stats saved.dbdf --absent nan\n",
    run_stats};

}  // namespace dapple::cli
