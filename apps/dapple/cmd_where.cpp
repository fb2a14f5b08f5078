// dapple where: the cells that meet a condition.
#include "dapple/where.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

#include "input.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

[[noreturn]] void fail_condition(std::string_view text) {
  throw UsageError(
      "'" + std::string(text) +
      "' is not a condition; write '> 5', '>= 5', '< 5', '<= 5', '== 5', '1..5' or nan");
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (std::is_same_v<T, double> && error == std::errc::result_out_of_range) {
    throw UsageError(fmt::format("'{}' is beyond the range of f64", printable(text)));
  }
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Calls `f` with the number as a 64-bit integer if it is one, otherwise as a double.
template <class F>
Condition with_number(std::string_view text, std::string_view whole, const F& f) {
  text = trimmed(text);
  if (const auto n = parsed<std::uint64_t>(text)) return f(*n);
  if (const auto n = parsed<std::int64_t>(text)) return f(*n);
  if (const auto n = parsed<double>(text)) return f(*n);
  fail_condition(whole);
}

Condition parse_condition(std::string_view whole) {
  const std::string_view text = trimmed(whole);
  if (text == "nan" || text == "NaN") return Condition::nan();
  const auto rest_after = [&](std::string_view sign) -> std::optional<std::string_view> {
    if (!text.starts_with(sign)) return std::nullopt;
    return text.substr(sign.size());
  };
  if (const auto rest = rest_after(">=")) {
    return with_number(*rest, whole, [](auto n) { return Condition::at_least(n); });
  }
  if (const auto rest = rest_after(">")) {
    return with_number(*rest, whole, [](auto n) { return Condition::above(n); });
  }
  if (const auto rest = rest_after("<=")) {
    return with_number(*rest, whole, [](auto n) { return Condition::at_most(n); });
  }
  if (const auto rest = rest_after("<")) {
    return with_number(*rest, whole, [](auto n) { return Condition::below(n); });
  }
  if (const auto rest = rest_after("==")) {
    return with_number(*rest, whole, [](auto n) { return Condition::equal(n); });
  }
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) fail_condition(whole);
  return with_number(text.substr(0, dots), whole, [&](auto low) {
    return with_number(text.substr(dots + 2), whole,
                       [&](auto high) { return Condition::between(low, high); });
  });
}

void print_explanation(const Matrix& matrix, const Condition& condition,
                       const WhereOptions& options, Console& console) {
  std::uint64_t empty = 0, type = 0, statistics = 0, read = 0;
  for (const BlockVerdict& verdict : explain_where(matrix, condition, options)) {
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
              const bool number = value.find_first_of("nf") == std::string::npos;
              console.out.print("{{\"row\":{},\"column\":{},\"value\":{}}}\n", hit.row, hit.col,
                                number ? value : "null");
            } else {
              console.out.print("{},{},{}\n", hit.row, hit.col, value);
            }
          }
        },
        options);
  });
}

int run_where(const Arguments& arguments, Console& console) {
  Input input;
  std::string expression;
  bool count = false, explain = false;
  WhereOptions options;
  Command command(kWhereVerb);
  add_input(command, input);
  command.operand("EXPR", expression, "'> 5', '>= 5', '< 5', '<= 5', '== 5', '1..5' or nan");
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
  add_shared_flags(command, console, "one JSON object, or one a line for each cell");
  command.parse(arguments);

  const Condition condition = parse_condition(expression);
  if (count && explain) throw UsageError("--count and --explain cannot be used together");
  options.threads = console.threads;
  const auto object = open_input(input, console);
  const auto* matrix = std::get_if<Matrix>(&object);
  if (matrix == nullptr) {
    throw Error(Errc::type_mismatch, input.name(), std::nullopt,
                "the file holds a frame; 'dapple where' looks into matrices");
  }
  say_note(input, *matrix, console);
  if (explain) {
    print_explanation(*matrix, condition, options, console);
  } else if (count) {
    const std::uint64_t n = count_where(*matrix, condition, options);
    console.out.print(console.json ? fmt::runtime("{{\"count\":{}}}\n") : fmt::runtime("{}\n"), n);
  } else {
    print_hits(*matrix, condition, options, console);
  }
  return kDone;
}

}  // namespace

const Verb kWhereVerb = {
    "where",
    "FILE EXPR",
    "cells above, below, equal to a number",
    "Prints row, column and value of each cell that meets the condition. Zeros that a sparse\n"
    "block does not store are cells, too; NaN meets only 'nan'. Blocks that cannot hold a match\n"
    "are not read. Comparisons are exact: no cell of f32 is equal to 0.1, though one may be\n"
    "printed so.\n",
    "  dapple where m.dbdf '> 100'\n"
    "  dapple where m.dbdf 0..1 --nonzero --count\n",
    run_where};

}  // namespace dapple::cli
