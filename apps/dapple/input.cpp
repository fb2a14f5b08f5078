#include "input.h"

#include <fmt/format.h>
#include <unistd.h>

#include "dapple/convert.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::pair<std::string_view, bool> kMissing[] = {{"nan", true}};

/// Throws UsageError unless `wanted` names a format that can be read.
void require_format(const std::string& wanted) {
  std::string names;
  for (const FormatInfo& format : formats()) {
    if (!format.reads) continue;
    if (format.name == wanted) return;
    names += names.empty() ? "" : ", ";
    names += format.name;
  }
  throw UsageError(
      fmt::format("expected --from to be one of {}, got '{}'", names, printable(wanted)));
}

char parse_delimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r") {
    throw UsageError(fmt::format("expected --delimiter to be one character or 'tab', got '{}'",
                                 printable(text)));
  }
  return text[0];
}

/// "LABEL=TYPE"; a label may itself hold '='.
void take_column_type(const std::string& text, CsvOptions& csv) {
  const std::size_t at = text.rfind('=');
  const auto type = at == std::string::npos
                        ? std::nullopt
                        : find_value_type(std::string_view(text).substr(at + 1));
  if (!type) {
    throw UsageError(
        fmt::format("expected --type LABEL=TYPE with a type of u8 to u64, i8 to i64, "
                    "f32 or f64, got '{}'",
                    printable(text)));
  }
  csv.types[text.substr(0, at)] = *type;
}

void take_header(bool header, CsvOptions& csv) {
  if (csv.header && *csv.header != header) {
    throw UsageError("expected one of --header and --no-header, got both");
  }
  csv.header = header;
}

void add_csv_flags(Command& command, CsvOptions& csv) {
  command.section("reading CSV");
  command.flag(
      "--header", [&csv] { take_header(true, csv); },
      "the first line holds labels; without either flag, guessed");
  command.flag(
      "--no-header", [&csv] { take_header(false, csv); }, "the first line holds values");
  command.option(
      "--delimiter", "C",
      [&csv](const std::string& text) { csv.delimiter = parse_delimiter(text); },
      "the character between fields, or 'tab'; without it, guessed");
  command.option(
      "--missing", "nan",
      [&csv](const std::string& text) {
        csv.missing_as_nan = parse_choice("--missing", text, kMissing);
      },
      "read missing values as NaN; without it, they are an error");
  command.repeatable(
      "--type", "LABEL=TYPE", [&csv](const std::string& text) { take_column_type(text, csv); },
      "the value type of a column, by label or number; repeatable");
}

}  // namespace

void add_input(Command& command, Input& input, const std::string& operand) {
  command.operand(operand, input.file, "the file to read; - is standard input");
}

void add_reading_flags(Command& command, OpenOptions& options) {
  command.section("reading");
  command.option(
      "--from", "FORMAT",
      [&options](const std::string& text) {
        require_format(text);
        options.format = text;
      },
      "the file's format, where its bytes and name do not tell");
  add_csv_flags(command, options.csv);
}

std::variant<Matrix, Frame> open_input(const Input& input) {
  return input.file == "-" ? open_stream(STDIN_FILENO, input.name(), input.options)
                           : open(input.file, input.options);
}

void say_note(const Input& input, const BlockedObject& object, const Console& console) {
  if (object.note().empty() || console.quiet || console.json) return;
  say("dapple: " + printable(input.name() + ": " + object.note()));
}

void require_named_file(const Input& input, std::string_view verb) {
  if (input.file == "-") {
    throw UsageError(fmt::format("expected a file to {}, got standard input", verb));
  }
}

}  // namespace dapple::cli
