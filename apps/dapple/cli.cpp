#include "cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

#include "hints.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::size_t kHelpIndent = 24;
constexpr std::size_t kHelpWidth = 80;

/// "  NAMES   HELP", with HELP wrapped and indented; names too long get a line of their own.
void append_help_line(std::string& text, std::string_view names, std::string_view help) {
  std::string line = "  " + std::string(names);
  if (line.size() + 2 > kHelpIndent) {
    text += line + '\n';
    line.clear();
  }
  line.resize(kHelpIndent, ' ');
  while (!help.empty()) {
    std::size_t end = help.size();
    if (kHelpIndent + end > kHelpWidth) end = help.rfind(' ', kHelpWidth - kHelpIndent);
    line += help.substr(0, end);
    text += line + '\n';
    help.remove_prefix(std::min(help.size(), end + 1));
    line.assign(kHelpIndent, ' ');
  }
}

/// "-q,--quiet" as the help writes it; a value's own comma stays.
std::string spaced_names(std::string names) {
  const std::size_t comma = names.find(',');
  if (comma < names.find(' ')) names.insert(comma + 1, " ");
  return names;
}

/// Rewords an error message of CLI11, which starts with the flag, without dashes if it takes no
/// value.
std::string explain(const std::string& complaint) {
  const std::string flag = complaint.substr(0, complaint.find_first_of(": "));
  if (!flag.starts_with("-")) return fmt::format("--{} takes no value", flag);
  if (complaint.find("At Most") != std::string::npos) {
    return fmt::format("{} is given more than once", flag);
  }
  return fmt::format("{} needs a value", flag);
}

/// Splits `--column=` into the flag and an empty value: CLI11 would take the next argument as the
/// value.
Arguments with_values(const CLI::App& app, const std::map<std::string, std::string>& left_out,
                      const Arguments& arguments) {
  Arguments spelled_out;
  bool flags = true;  // until --, which only operands follow
  for (const std::string& argument : arguments) {
    flags = flags && argument != "--";
    const std::string name = argument.substr(0, argument.find('='));
    if (flags && argument == name + '=' && name.starts_with("--")) {
      const CLI::Option* option = app.get_option_no_throw(name);
      if (option != nullptr && option->get_items_expected_min() > 0) {
        spelled_out.insert(spelled_out.end(), {name, ""});
        continue;
      }
    }
    spelled_out.push_back(argument);
    const auto found = left_out.find(argument);
    if (flags && found != left_out.end()) spelled_out.push_back(found->second);
  }
  return spelled_out;
}

}  // namespace

Command::Command(const Verb& verb) : app_(std::make_unique<CLI::App>()), verb_(verb) {
  app_->set_help_flag("-h,--help");
  app_->allow_extras();  // `parse` reports unknown flags and missing operands
}

Command::~Command() = default;

void Command::operand(const std::string& name, std::string& target, std::string help) {
  app_->add_option(name, target);
  operands_.emplace_back(name, [&target] { return target.empty(); });
  operand_lines_.push_back({name, std::move(help), {}});
}

void Command::operands(const std::string& name, std::vector<std::string>& target,
                       std::string help) {
  app_->add_option(name, target);
  operands_.emplace_back(name, [&target] { return target.empty(); });
  operand_lines_.push_back({name + "...", std::move(help), {}});
}

void Command::section(std::string title) {
  topic_.clear();
  flag_lines_.push_back({std::move(title), {}, {}});
}

void Command::topic(std::string name) { topic_ = std::move(name); }

void Command::line(std::string names, std::string help) {
  flag_lines_.push_back({std::move(names), std::move(help), topic_});
}

void Command::flag(const std::string& names, bool& target, std::string help) {
  flag(
      names, [&target] { target = true; }, std::move(help));
}

void Command::flag(const std::string& names, std::function<void()> take, std::string help) {
  app_->add_flag_callback(names, std::move(take))->disable_flag_override();
  flag_lines_.push_back({names, std::move(help), topic_});
}

void Command::option(const std::string& names, const std::string& value,
                     std::function<void(const std::string&)> take, std::string help) {
  app_->add_option_function<std::string>(names, std::move(take));
  flag_lines_.push_back({names + " " + value, std::move(help), topic_});
}

void Command::optional_value(const std::string& name, const std::string& value,
                             std::string left_out, std::function<void(const std::string&)> take,
                             std::string help) {
  app_->add_option_function<std::string>(name, std::move(take));
  left_out_.emplace(name, std::move(left_out));
  flag_lines_.push_back({name + "[=" + value + "]", std::move(help), topic_});
}

void Command::repeatable(const std::string& names, const std::string& value,
                         std::function<void(const std::string&)> take, std::string help) {
  app_->add_option_function<std::vector<std::string>>(
          names,
          [take = std::move(take)](const std::vector<std::string>& values) {
            std::for_each(values.begin(), values.end(), take);
          })
      ->allow_extra_args(false);
  flag_lines_.push_back({names + " " + value, std::move(help), topic_});
}

void Command::parse(const Arguments& arguments) {
  if (arguments == Arguments{"--complete"}) throw HelpAsked{flag_names()};
  Arguments reversed = with_values(*app_, left_out_, arguments);
  std::reverse(reversed.begin(), reversed.end());  // CLI11 expects them so
  try {
    app_->parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    throw HelpAsked{help()};
  } catch (const CLI::ParseError& error) {
    throw UsageError(explain(error.what()));
  }
  bool flags = true;
  for (const std::string& extra : app_->remaining()) {
    if (extra == "--") {
      flags = false;
      continue;
    }
    const bool is_flag = extra.size() > 1 && extra.starts_with("-");
    if (flags && is_flag) throw UsageError(unknown_flag(extra));
    throw UsageError(fmt::format("unexpected argument '{}'{}", printable(extra),
                                 is_flag ? "; flags come before --" : ""));
  }
  for (const auto& [name, missing] : operands_) {
    if (missing()) throw UsageError(name + " is missing");
  }
}

std::string Command::unknown_flag(const std::string& flag) const {
  const std::string name = flag.substr(0, flag.find('='));
  const std::string all = flag_names();
  std::vector<std::string_view> names;
  for (std::string_view rest = all; !rest.empty();) {
    names.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(names.back().size() + 1);
  }
  const std::string meant = closest(name, names);
  const bool is_file = name == flag && name.find('.') != std::string::npos;
  return fmt::format("unknown flag '{}'{}", printable(flag),
                     !meant.empty() ? fmt::format("; did you mean '{}'?", meant)
                     : is_file ? "; a file of that name comes after --, or is ./" + printable(flag)
                               : "");
}

std::string Command::flag_names() const {
  std::string names;
  const auto add = [&](std::string_view list) {  // "-o,--output OUT", "--pack[=HOW]"
    list = list.substr(0, list.find_first_of(" ["));
    while (!list.empty()) {
      const std::string_view name = list.substr(0, list.find(','));
      names.append(name).append("\n");
      list.remove_prefix(std::min(list.size(), name.size() + 1));
    }
  };
  for (const Line& line : flag_lines_) {
    if (!line.help.empty()) add(line.names);
  }
  add("-h,--help");
  return names;
}

std::string Command::topic_help(std::string_view topic) const {
  std::string text;
  for (const Line& line : flag_lines_) {
    if (line.topic == topic && !line.help.empty()) {
      append_help_line(text, spaced_names(line.names), line.help);
    }
  }
  return text;
}

std::string Command::help() const {
  std::string text = fmt::format("dapple {}: {}\n\nusage: dapple {} [flags] {}\n\n", verb_.name,
                                 verb_.summary, verb_.name, verb_.operands);
  if (!verb_.about.empty()) text.append(verb_.about).append("\n");
  for (const Line& line : operand_lines_) append_help_line(text, line.names, line.help);
  std::vector<std::string_view> topics;
  for (const Line& line : flag_lines_) {
    if (!line.topic.empty()) {
      if (std::find(topics.begin(), topics.end(), line.topic) == topics.end()) {
        topics.push_back(line.topic);
      }
    } else if (line.help.empty()) {
      text += "\n" + line.names + ":\n";
    } else {
      append_help_line(text, spaced_names(line.names), line.help);
    }
  }
  append_help_line(text, "-h, --help", "this text");
  if (!topics.empty()) {
    text += fmt::format("\nflags for files of one format: 'dapple help {}'\n",
                        fmt::join(topics, "', 'dapple help "));
  }
  return text.append("\nexamples:\n").append(verb_.examples);
}

void add_shared_flags(Command& command, Console& console, std::string json_help) {
  command.section("all verbs");
  command.flag("--json", console.json, std::move(json_help));
  command.flag("-q,--quiet", console.quiet, "no summaries, notes or progress bars");
  command.option(
      "--threads", "N",
      [&console](const std::string& text) {
        console.threads = static_cast<unsigned>(parse_number("--threads", text, 1, 1024));
      },
      "number of threads; one per processor unless given");
}

std::optional<std::uint64_t> find_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t parse_number(std::string_view flag, std::string_view text, std::uint64_t least,
                           std::uint64_t most) {
  const auto number = find_number(text);
  if (!number || *number < least || *number > most) {
    throw UsageError(fmt::format("{} must be a number from {} to {}, not '{}'", flag, least, most,
                                 printable(text)));
  }
  return *number;
}

std::pair<std::uint64_t, std::uint64_t> parse_pair(std::string_view flag, std::string_view text,
                                                   char separator, std::string_view shape) {
  if (const std::size_t at = text.find(separator); at != std::string_view::npos) {
    const auto first = find_number(text.substr(0, at));
    const auto second = find_number(text.substr(at + 1));
    if (first && second) return {*first, *second};
  }
  throw UsageError(fmt::format("{} must be {}, not '{}'", flag, shape, printable(text)));
}

OpenRange parse_range(std::string_view flag, std::string_view text) {
  const auto fail = [&] {
    throw UsageError(
        fmt::format("{} must be A:B with A <= B, or A alone, not '{}'", flag, printable(text)));
  };
  const std::size_t at = text.find(':');
  if (at == std::string_view::npos) {
    const auto only = find_number(text);
    if (!only || *only == std::numeric_limits<std::uint64_t>::max()) fail();
    return {*only, *only + 1};
  }
  const auto side = [&](std::string_view part) {
    const auto number = find_number(part);
    if (!number && !part.empty()) fail();
    return number;
  };
  const OpenRange range{side(text.substr(0, at)), side(text.substr(at + 1))};
  if (range.begin && range.end && *range.begin > *range.end) fail();
  return range;
}

}  // namespace dapple::cli
