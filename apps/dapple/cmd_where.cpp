// dapple where: the cells of a matrix, or of a column, that meet a condition.
#include "dapple/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "condition.h"
#include "dapple/where_rows.h"
#include "found_rows.h"
#include "input.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

void print_explanation(const std::vector<BlockVerdict>& verdicts, Console& console) {
  std::uint64_t empty = 0, type = 0, statistics = 0, read = 0;
  for (const BlockVerdict& verdict : verdicts) {
    switch (verdict.skipped) {
      case Skipped::no:
        ++read;
        break;
      case Skipped::empty:
        ++empty;
        break;
      case Skipped::value_type:
        ++type;
        break;
      case Skipped::statistics:
        ++statistics;
        break;
    }
  }
  if (console.json) {
    console.out.print(R"({{"blocks":{},"read":{},"empty":{},"value_type":{},"statistics":{}}})",
                      read + empty + type + statistics, read, empty, type, statistics);
    console.out.write("\n");
    return;
  }
  console.out.print("{} to read\n", counted(read, "block"));
  console.out.print("{} skipped: zeros only\n", counted(empty, "block"));
  console.out.print("{} skipped: the value type holds no such value\n", counted(type, "block"));
  console.out.print("{} skipped: statistics tell what matches\n", counted(statistics, "block"));
}

void print_hits(const Matrix& matrix, const Condition& condition, const WhereOptions& options,
                Console& console) {
  if (!console.json) console.out.write("row,column,value\n");
  visit_type(matrix.value_type(), [&](auto tag) {
    using T = decltype(tag);
    where<T>(
        matrix, condition,
        [&](std::span<const Hit<T>> hits) {
          for (const Hit<T>& hit : hits) {
            const std::string value = cell_text(hit.value);
            if (console.json) {
              console.out.print("{{\"row\":{},\"column\":{},\"value\":{}}}\n", hit.row, hit.col,
                                json_number(value));
            } else {
              console.out.print("{},{},{}\n", hit.row, hit.col, value);
            }
          }
        },
        options);
  });
}

void print_count(std::uint64_t n, Console& console) {
  console.out.print(console.json ? fmt::runtime("{{\"count\":{}}}\n") : fmt::runtime("{}\n"), n);
}

enum class Print : std::uint8_t { hits, count, explanation };

void search_matrix(const Matrix& matrix, const ShortCondition& typed, Print print,
                   const WhereOptions& options, Console& console) {
  const Condition condition = number_condition(typed);
  if (print == Print::explanation) {
    print_explanation(explain_where(matrix, condition, options), console);
  } else if (print == Print::count) {
    print_count(count_where(matrix, condition, options), console);
  } else {
    print_hits(matrix, condition, options, console);
  }
}

void search_frame(const Frame& frame, const Expression& expression, Print print,
                  const WhereOptions& options, Console& console) {
  if (print == Print::explanation) {
    print_explanation(explain_where(frame, expression, options), console);
  } else if (print == Print::count) {
    print_count(count_where(frame, expression, options), console);
  } else {
    FoundRows rows(frame, shown_columns(expression.columns(frame)), RowNumbers::yes, console,
                   {.reading = {.absent = options.absent}});
    where(
        frame, expression, [&](std::span<const std::uint64_t> found) { rows.print(found); },
        options);
    rows.finish();
  }
}

[[noreturn]] void fail_no_column(const Frame& frame, const std::string& file) {
  constexpr std::uint64_t kMost = 10;  // labels that are listed
  std::string labels;
  for (std::uint64_t col = 0; col < std::min(frame.cols(), kMost); ++col) {
    labels += (col == 0 ? "" : ", ") + printable(frame.label(col));
  }
  if (frame.cols() > kMost) labels += fmt::format(" and {} more", frame.cols() - kMost);
  throw Error(Errc::invalid_argument, file, std::nullopt,
              "the file holds a frame; EXPR names its columns, as in 'age > 30', or --column LABEL "
              "does: " +
                  labels);
}

/// Whether it is a condition that names no column.
bool is_short(const std::string& typed) {
  try {
    parse_condition(typed);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// What is typed after --column LABEL is about that column; else it names its columns itself.
Expression frame_expression(const Frame& frame, const std::string& typed,
                            const std::optional<std::string>& label, const std::string& file) {
  if (!label && is_short(typed)) fail_no_column(frame, file);
  if (!label) return Expression::parse(typed);
  const std::uint64_t col = frame.column(*label);
  return {col, column_condition(parse_condition(typed), frame.column_info(col))};
}

int run_where(const Arguments& arguments, Console& console) {
  Input input;
  std::string typed;
  std::optional<std::string> label;
  bool count = false, explain = false;
  WhereOptions options;
  Command command(kWhereVerb);
  add_input(command, input);
  command.operand("EXPR", typed,
                  "of a matrix: '> 5', '>= 5', '< 5', '<= 5', '== 5', '1..5' or nan; of a frame: "
                  "'age > 5 and city in (\"Oslo\", \"Rome\")'");
  command.option(
      "--column", "LABEL", [&](const std::string& text) { label = text; },
      "the only column of a frame to search; EXPR does not name it then: '> 5', '== Ann', "
      "'>= 2001-01-31', '== true', missing");
  command.flag("--count", count, "print only the number of cells");
  command.flag("--explain", explain, "print only how many blocks are read, and why others are not");
  command.flag("--nonzero", options.nonzero, "leave out zeros, even if they meet the condition");
  command.option(
      "--absent", "zero",
      [&](const std::string& text) {
        constexpr std::pair<std::string_view, Absent> kAbsent[] = {{"zero", Absent::zero}};
        options.absent = parse_choice("--absent", text, kAbsent);
      },
      "cells that no block covers are zeros");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console,
                   "one JSON object, or one a line for each cell; \"inf\", \"-inf\" and \"nan\" "
                   "are strings, and a "
                   "missing cell is null");
  command.parse(arguments);

  if (count && explain) throw UsageError("--count and --explain cannot be used together");
  const Print print = explain ? Print::explanation : count ? Print::count : Print::hits;
  options.threads = console.threads;
  if (label) input.options.format_options.emplace("idv.column", *label);
  if (label) parse_condition(typed);  // a mistyped condition is an error before the file is read
  const auto object = open_input(input, console);
  say_note(input, base(object), console);
  if (const auto* matrix = std::get_if<Matrix>(&object)) {
    if (label) {
      throw Error(Errc::invalid_argument, input.name(), std::nullopt,
                  "the columns of a matrix have no labels; all of them are searched");
    }
    search_matrix(*matrix, parse_condition(typed), print, options, console);
  } else {
    const Frame& frame = std::get<Frame>(object);
    search_frame(frame, frame_expression(frame, typed, label, input.name()), print, options,
                 console);
  }
  return kDone;
}

}  // namespace

const Verb kWhereVerb = {
    "where",
    "FILE EXPR",
    "cells or rows that meet a condition",
    "Prints row, column and value of each cell that meets the condition. Zeros that a sparse\n"
    "block does not store are cells, too; NaN meets only 'nan'. Blocks that cannot hold a match\n"
    "are not read. Comparisons are exact: no cell of f32 is equal to 0.1, and one that is near is\n"
    "printed with all its digits, 0.10000000149011612.\n"
    "\n"
    "Of a frame, EXPR tests columns: a comparison by =, !=, <, <=, > or >=; in (...), prefix\n"
    "\"...\", missing or nan after a name; put together by and, or, not and parentheses. Words,\n"
    "times, durations and truth values are written as 'dapple get' prints them, all but the last\n"
    "in quotes; names that are no plain words in `backquotes`, and #3 is column number 3. A\n"
    "missing cell meets no test but 'missing', nor its opposite. The columns tested are printed.\n"
    "With --column LABEL, EXPR is about that column, as of a matrix: '== Ann'. Blanks around a\n"
    "word are no part of it there, unless it is in quotes, as in CSV: '== \"two  \"'.\n",
    "  dapple where m.dbdf '> 100'\n"
    "  dapple where m.dbdf 0..1 --nonzero --count\n"
    "  dapple where people.csv 'age > 30 and city in (\"Oslo\", \"Bergen\")'\n"
    "  dapple where people.csv 'not (born >= \"2001-01-01\" or name prefix \"A\")' --count\n"
    "  dapple where people.csv '== Ann' --column name\n",
    run_where};

}  // namespace dapple::cli
