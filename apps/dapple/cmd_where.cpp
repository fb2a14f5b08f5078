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
#include "dapple/csv.h"
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
  console.out.print("{} skipped: statistics rule out a match\n", counted(statistics, "block"));
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

/// A cell of a column, or its label, as a field of CSV.
std::string field(const Column& column, std::uint64_t bits) {
  std::string text;
  append_csv(column, bits, text);
  return text;
}
std::string field(std::string_view label) {
  std::string text;
  append_csv_label(label, text);
  return text;
}

/// A cell as JSON.
std::string json_value(const Column& column, std::uint64_t bits) {
  const Meaning& meaning = column.meaning;
  std::string text;
  append_text(column, bits, text);
  if (is_missing(meaning, bits)) return "null";
  if (meaning.has_words() || meaning.has_time()) return json_string(text);
  return meaning.kind == MeaningKind::boolean ? text : json_number(text);
}

void print_column_hits(const Frame& frame, std::uint64_t col, const ColumnCondition& condition,
                       const WhereOptions& options, Console& console) {
  const Column& column = frame.column_info(col);
  const std::string label = json_string(column.label);
  // On a terminal, words from a file must not be taken for its commands.
  const bool safe = console.out.is_terminal();
  const auto shown = [&](std::string text) { return safe ? printable(text) : text; };
  bool begun = false;  // not before the condition is known to be one for the column
  const auto begin = [&] {
    if (!begun && !console.json) console.out.print("row,{}\n", shown(field(column.label)));
    begun = true;
  };
  where(
      frame, col, condition,
      [&](std::span<const ColumnHit> hits) {
        begin();
        for (const ColumnHit& hit : hits) {
          if (console.json) {
            console.out.print("{{\"row\":{},\"column\":{},\"value\":{}}}\n", hit.row, label,
                              json_value(column, hit.bits));
          } else {
            console.out.print("{},{}\n", hit.row, shown(field(column, hit.bits)));
          }
        }
      },
      options);
  begin();
}

void print_count(std::uint64_t n, Console& console) {
  console.out.print(console.json ? fmt::runtime("{{\"count\":{}}}\n") : fmt::runtime("{}\n"), n);
}

[[noreturn]] void fail_no_column(const Frame& frame, const std::string& file) {
  constexpr std::uint64_t kMost = 10;  // labels that are listed
  std::string labels;
  for (std::uint64_t col = 0; col < std::min(frame.cols(), kMost); ++col) {
    labels += (col == 0 ? "" : ", ") + printable(frame.label(col));
  }
  if (frame.cols() > kMost) labels += fmt::format(" and {} more", frame.cols() - kMost);
  throw Error(Errc::invalid_argument, file, std::nullopt,
              "the file holds a frame; --column LABEL names the column to search: " + labels);
}

enum class Print : std::uint8_t { hits, count, explanation };

void search_matrix(const Matrix& matrix, const Expression& expression, Print print,
                   const WhereOptions& options, Console& console) {
  const Condition condition = number_condition(expression);
  if (print == Print::explanation) {
    print_explanation(explain_where(matrix, condition, options), console);
  } else if (print == Print::count) {
    print_count(count_where(matrix, condition, options), console);
  } else {
    print_hits(matrix, condition, options, console);
  }
}

void search_column(const Frame& frame, std::uint64_t col, const Expression& expression, Print print,
                   const WhereOptions& options, Console& console) {
  const ColumnCondition condition = column_condition(expression, frame.column_info(col));
  if (print == Print::explanation) {
    print_explanation(explain_where(frame, col, condition, options), console);
  } else if (print == Print::count) {
    print_count(count_where(frame, col, condition, options), console);
  } else {
    print_column_hits(frame, col, condition, options, console);
  }
}

int run_where(const Arguments& arguments, Console& console) {
  Input input;
  std::string typed;
  std::optional<std::string> label;
  bool count = false, explain = false;
  WhereOptions options;
  Command command(kWhereVerb);
  add_input(command, input);
  command.operand("EXPR", typed, "'> 5', '>= 5', '< 5', '<= 5', '== 5', '1..5', nan or missing");
  command.option(
      "--column", "LABEL", [&](const std::string& text) { label = text; },
      "the column of a frame to search; EXPR may name a word, a time or a truth value there: "
      "'== Ann', '>= 2001-01-31', '== true'");
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

  const Expression expression = parse_expression(typed);
  if (count && explain) throw UsageError("--count and --explain cannot be used together");
  const Print print = explain ? Print::explanation : count ? Print::count : Print::hits;
  options.threads = console.threads;
  if (label) input.options.idv.columns = {*label};
  const auto object = open_input(input, console);
  say_note(input, base(object), console);
  if (const auto* matrix = std::get_if<Matrix>(&object)) {
    if (label) {
      throw Error(Errc::invalid_argument, input.name(), std::nullopt,
                  "the columns of a matrix have no labels; all of them are searched");
    }
    search_matrix(*matrix, expression, print, options, console);
  } else {
    const Frame& frame = std::get<Frame>(object);
    if (!label) fail_no_column(frame, input.name());
    search_column(frame, frame.column(*label), expression, print, options, console);
  }
  return kDone;
}

}  // namespace

const Verb kWhereVerb = {
    "where",
    "FILE EXPR",
    "cells above, below, equal to a value",
    "Prints row, column and value of each cell that meets the condition. Zeros that a sparse\n"
    "block does not store are cells, too; NaN meets only 'nan'. Blocks that cannot hold a match\n"
    "are not read. Comparisons are exact: no cell of f32 is equal to 0.1, and one that is near is\n"
    "printed with all its digits, 0.10000000149011612.\n"
    "\n"
    "Of a frame, --column names the column to search, and row and value are printed. Words,\n"
    "times, durations and truth values are written as 'dapple get' prints them; 'missing' finds\n"
    "missing cells, which meet no other condition. Blanks around a word are no part of it, unless\n"
    "it is in quotes, as in CSV: '== \"two  \"'. A word that starts with a quote must be in\n"
    "quotes, with its own doubled: '== \"\"\"so\"\" he said\"'.\n",
    "  dapple where m.dbdf '> 100'\n"
    "  dapple where m.dbdf 0..1 --nonzero --count\n"
    "  dapple where people.csv '== Ann' --column name\n"
    "  dapple where people.csv '== \" Ann\"' --column name\n"
    "  dapple where people.csv '>= 2001-01-01' --column born\n",
    run_where};

}  // namespace dapple::cli
