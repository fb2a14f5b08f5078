#include "format_flags.h"

#include <fmt/format.h>

#include <limits>

#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::pair<std::string_view, bool> kMissing[] = {{"nan", true}};

char parse_decimal(const std::string& text) {
  if (text == "." || text == ",") return text[0];
  throw UsageError(fmt::format("--decimal must be '.' or ',', not '{}'", printable(text)));
}

char parse_delimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1) {
    throw UsageError(
        fmt::format("--delimiter must be one character or 'tab', not '{}'", printable(text)));
  }
  return text[0];
}

/// "LABEL=TYPE", where the label may contain '=', is for CSV; anything else is for Futhark.
void take_type(const std::string& text, OpenOptions& options) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos) {
    options.futhark.types.push_back(text);
    return;
  }
  const std::string label = text.substr(0, at);
  const std::string_view wanted = std::string_view(text).substr(at + 1);
  if (const auto type = find_value_type(wanted)) {
    options.csv.types[label] = *type;
    return;
  }
  for (const MeaningKind kind : {MeaningKind::boolean, MeaningKind::timestamp,
                                 MeaningKind::duration, MeaningKind::category, MeaningKind::text}) {
    if (name(kind) != wanted) continue;
    options.csv.meanings[label] = kind;
    return;
  }
  throw UsageError(
      fmt::format("--type {}: the type must be one of u8 to u64, i8 to i64, f32, f64, "
                  "boolean, timestamp, duration, category, text",
                  printable(text)));
}

void take_header(bool header, CsvOptions& csv) {
  if (csv.header && *csv.header != header) {
    throw UsageError("--header and --no-header exclude each other");
  }
  csv.header = header;
}

void add_csv_flags(Command& command, CsvOptions& csv) {
  command.topic("csv");
  command.flag(
      "--header", [&csv] { take_header(true, csv); },
      "the first line holds labels; guessed unless given");
  command.flag(
      "--no-header", [&csv] { take_header(false, csv); }, "the first line holds values");
  command.option(
      "--delimiter", "C",
      [&csv](const std::string& text) { csv.delimiter = parse_delimiter(text); },
      "the character between fields, or 'tab'; guessed unless given");
  command.option(
      "--skip", "N",
      [&csv](const std::string& text) {
        csv.skip = parse_number("--skip", text, 0, std::numeric_limits<std::uint64_t>::max());
      },
      "so many lines at the start are no part of the table");
  command.option(
      "--comment", "TEXT", [&csv](const std::string& text) { csv.comment = text; },
      "lines that start with TEXT, such as '#', are no part of the table");
  command.option(
      "--decimal", "C", [&csv](const std::string& text) { csv.decimal = parse_decimal(text); },
      "',' where numbers are written 1,5; '.' otherwise");
  command.option(
      "--missing", "nan",
      [&csv](const std::string& text) {
        csv.missing_as_nan = parse_choice("--missing", text, kMissing);
      },
      "read missing values as plain NaN");
  command.repeatable(
      "--na", "WORD", [&csv](const std::string& text) { csv.missing_words.push_back(text); },
      "a field that is a missing value too, such as NULL, or '' where it is in quotes; may be "
      "repeated");
}

void add_futhark_flags(Command& command, FutharkOptions& futhark) {
  command.topic("futhark");
  command.option(
      "--value", "N",
      [&futhark](const std::string& text) {
        futhark.value = parse_number("--value", text, 0, std::numeric_limits<std::uint64_t>::max());
      },
      "which of several values, counted from 0");
  command.flag("--frame", futhark.frame, "all values, which are vectors of one length, as a frame");
}

void add_idv_flags(Command& command, IdvOptions& idv) {
  command.topic("idv");
  command.flag("--drop-unsupported", idv.drop_unsupported,
               "leave out columns that can only be shown, and name them: vectors of texts or of "
               "varying length");
  command.flag("--keep-hidden", idv.keep_hidden,
               "also the columns that later ones of the same name hide, as 'NAME (hidden N)'; "
               "ML.NET does not see them, and they are left out otherwise");
}

}  // namespace

void add_format_flags(Command& command, OpenOptions& options) {
  const char* const array = "which of several arrays";
  command.topic("npz");
  command.option(
      "--array", "NAME", [&options](const std::string& text) { options.array = text; }, array);
  command.topic("collection");
  command.line("--array NAME", "which member, such as layers/counts");
  command.topic("hdf5");
  command.line("--array NAME", array);
  command.topic("zarr");
  command.line("--array NAME",
               "which of several arrays or groups, by its path; of one of more dimensions "
               "a slice: 'temp[5,:,:]'");
  add_csv_flags(command, options.csv);
  command.repeatable(
      "--type", "LABEL=TYPE", [&options](const std::string& text) { take_type(text, options); },
      "the value type of a column (or NUMBER=TYPE), or boolean, timestamp, duration (which is "
      "never guessed: '--type took=duration'), category or text; '*=TYPE' is of all others; may be "
      "repeated");
  add_futhark_flags(command, options.futhark);
  command.line("--type TYPE", "the type of a value, such as '[][]f32'; may be repeated");
  add_idv_flags(command, options.idv);
}

void require_flags_of(std::string_view format, const OpenOptions& options) {
  const auto require = [&](bool given, std::string_view flag, std::string_view owner) {
    if (given && format != owner) {
      throw UsageError(fmt::format("{} is for {} files, not {}", flag, owner, format));
    }
  };
  if (!options.array.empty() && format != "npz" && format != "hdf5" && format != "zarr") {
    throw UsageError(
        fmt::format("--array is for collections, npz, hdf5 and zarr files, not {}", format));
  }
  if (format == "csv" && !options.futhark.types.empty()) {
    throw UsageError(fmt::format("--type must be LABEL=TYPE with csv, not '{}'",
                                 printable(options.futhark.types.front())));
  }
  require(!options.csv.types.empty() || !options.csv.meanings.empty(), "--type LABEL=TYPE", "csv");
  require(options.csv.header.has_value(),
          options.csv.header.value_or(false) ? "--header" : "--no-header", "csv");
  require(options.csv.delimiter.has_value(), "--delimiter", "csv");
  require(options.csv.skip > 0, "--skip", "csv");
  require(!options.csv.comment.empty(), "--comment", "csv");
  require(options.csv.decimal != '.', "--decimal", "csv");
  require(options.csv.missing_as_nan, "--missing", "csv");
  require(!options.csv.missing_words.empty(), "--na", "csv");
  require(options.idv.drop_unsupported, "--drop-unsupported", "idv");
  require(options.idv.keep_hidden, "--keep-hidden", "idv");
  require(!options.futhark.types.empty(), "--type", "futhark");
  require(options.futhark.value.has_value(), "--value", "futhark");
  require(options.futhark.frame, "--frame", "futhark");
}

}  // namespace dapple::cli
