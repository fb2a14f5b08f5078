#include "format_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "dapple/convert.h"
#include "text.h"

namespace dapple::cli {

namespace {

/// How an option of a format is spelt here. What it takes, and what it is for, the library knows.
struct FormatFlag {
  std::string_view flag;
  std::string_view value;  // as in the help; empty: the flag has none
  std::string_view option;
  std::string_view means = "true";  // what is given to the option, of a flag without a value
  std::string_view help = {};       // where that of the option would be wrong
};

constexpr FormatFlag kFlags[] = {
    {"--header", "", "csv.header"},
    {"--no-header", "", "csv.header", "false", "the first line holds values"},
    {"--delimiter", "C", "csv.delimiter"},
    {"--skip", "N", "csv.skip"},
    {"--comment", "TEXT", "csv.comment"},
    {"--decimal", "C", "csv.decimal"},
    {"--missing", "nan", "csv.missing_as_nan"},
    {"--na", "WORD", "csv.missing_word"},
    {"--type", "LABEL=TYPE", "csv.type"},
    {"--value", "N", "futhark.value"},
    {"--frame", "", "futhark.frame"},
    {"--type", "TYPE", "futhark.type"},
    {"--drop-unsupported", "", "idv.drop_unsupported"},
    {"--keep-hidden", "", "idv.keep_hidden"},
};

constexpr std::pair<std::string_view, std::string_view> kMissing[] = {{"nan", "true"}};

std::string_view format_of(std::string_view option) { return option.substr(0, option.find('.')); }

const OptionInfo& info_of(std::string_view option) {
  for (const FormatInfo& format : formats()) {
    for (const OptionInfo& info : format.options) {
      if (info.name == option) return info;
    }
  }
  throw std::logic_error("a flag of no option");
}

std::string help_of(const FormatFlag& flag) {
  if (!flag.help.empty()) return std::string(flag.help);
  const OptionInfo& info = info_of(flag.option);
  std::string help(info.help);
  if (!info.otherwise.empty() && info.otherwise != "false") {
    help += fmt::format("; otherwise {}", info.otherwise);
  }
  if (info.kind >= OptionKind::list) help += "; may be repeated";
  return help;
}

/// Takes the value of a flag, if the option takes it.
void take(const FormatFlag& flag, const std::string& text, FormatOptions& options) {
  try {
    check_format_options({{std::string(flag.option), text}});
  } catch (const Error&) {
    throw UsageError(fmt::format("{} must be {}, not '{}'", flag.flag, info_of(flag.option).takes,
                                 printable(text)));
  }
  options.emplace(flag.option, text);
}

void take_truth(const FormatFlag& flag, FormatOptions& options) {
  const auto given = options.find(flag.option);
  if (given == options.end()) {
    options.emplace(flag.option, flag.means);
  } else if (given->second != flag.means) {
    throw UsageError("--header and --no-header exclude each other");
  }
}

/// "LABEL=TYPE", where the label may contain '=', is for CSV; anything else is for Futhark.
void take_type(const std::string& text, FormatOptions& options) {
  const bool labelled = text.find('=') != std::string::npos;
  const auto* const flag = std::find_if(std::begin(kFlags), std::end(kFlags), [&](const auto& one) {
    return one.option == (labelled ? "csv.type" : "futhark.type");
  });
  take(*flag, text, options);
}

void add_flag(Command& command, const FormatFlag& flag, FormatOptions& options) {
  const std::string name(flag.flag), value(flag.value);
  if (value.empty()) {
    command.flag(
        name, [&flag, &options] { take_truth(flag, options); }, help_of(flag));
  } else if (flag.option == "futhark.type") {
    command.line(name + " " + value, help_of(flag));
  } else if (flag.option == "csv.type") {
    command.repeatable(
        name, value, [&options](const std::string& text) { take_type(text, options); },
        help_of(flag));
  } else if (flag.option == "csv.missing_as_nan") {
    command.option(
        name, value,
        [&flag, &options](const std::string& text) {
          options.emplace(flag.option, parse_choice(flag.flag, text, kMissing));
        },
        help_of(flag));
  } else {
    const bool list = info_of(flag.option).kind == OptionKind::list;
    (command.*(list ? &Command::repeatable : &Command::option))(
        name, value, [&flag, &options](const std::string& text) { take(flag, text, options); },
        help_of(flag));
  }
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
  for (const FormatFlag& flag : kFlags) {
    command.topic(std::string(format_of(flag.option)));
    add_flag(command, flag, options.format_options);
  }
}

void require_flags_of(std::string_view format, const OpenOptions& options) {
  if (!options.array.empty() && format != "npz" && format != "hdf5" && format != "zarr") {
    throw UsageError(
        fmt::format("--array is for collections, npz, hdf5 and zarr files, not {}", format));
  }
  const auto untyped = options.format_options.find("futhark.type");
  if (format == "csv" && untyped != options.format_options.end()) {
    throw UsageError(
        fmt::format("--type must be LABEL=TYPE with csv, not '{}'", printable(untyped->second)));
  }
  for (const FormatFlag& flag : kFlags) {
    const auto given = options.format_options.find(flag.option);
    if (given == options.format_options.end() || format_of(flag.option) == format) continue;
    if (flag.value.empty() && given->second != flag.means) continue;
    throw UsageError(fmt::format("{} is for {} files, not {}",
                                 flag.option == "csv.type" ? "--type LABEL=TYPE" : flag.flag,
                                 format_of(flag.option), format));
  }
}

}  // namespace dapple::cli
