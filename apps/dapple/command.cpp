#include "command.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"
#include "dapple/version.h"
#include "ending.h"
#include "help.h"
#include "hints.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

constexpr const Verb* kVerbs[] = {
    &kInfoVerb,   &kBlocksVerb,     &kGetVerb,   &kConvertVerb, &kConcatVerb,    &kIndexVerb,
    &kVerifyVerb, &kStatsVerb,      &kWhereVerb, &kRepairVerb,  &kShowVerb,      &kViewVerb,
    &kServeVerb,  &kAttributesVerb, &kPackVerb,  &kDatasetVerb, &kCollectionVerb};

std::string usage() {
  std::string text =
      "dapple opens matrices and frames of any size and takes out any part of them.\n"
      "\nusage: dapple VERB [flags] FILE\n\n";
  for (const Verb* verb : kVerbs) {
    text += fmt::format("  {:<10} {:<12} {}\n", verb->name, verb->operands, verb->summary);
  }
  text += fmt::format("  {:<10} {:<12} {}\n", "help", "[TOPIC]", "a verb, a format, or 'formats'");
  return text +
         "\n'dapple VERB --help' explains a verb and its flags, 'dapple help FORMAT' a format and\n"
         "its flags; 'dapple --version' says which dapple this is. Exit status:\n"
         "0 done; 1 the data is bad, or something was found; 2 wrong usage, no such block, cell,\n"
         "column, or a type asked for that does not fit; 3 the operating system refused.";
}

bool asks_for_json(const Arguments& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

/// True when the caller chose value types, with --type or --value-type.
bool asks_for_type(const Arguments& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    const std::string flag = argument.substr(0, argument.find('='));
    return flag == "--type" || flag == "--value-type";
  });
}

int report_usage(const std::string& message, std::string_view verb, bool json) {
  if (json) {
    say("{\"error\":" + error_json(Error(Errc::invalid_argument, message)) + "}");
  } else {
    say("dapple: " + printable(message));
    say(fmt::format("try 'dapple {}--help'", verb.empty() ? "" : fmt::format("{} ", verb)));
  }
  return kBadUsage;
}

int report_error(const Error& error, const Arguments& arguments) {
  say(asks_for_json(arguments) ? "{\"error\":" + error_json(error) + "}" : error_line(error));
  return status_of(error.code(), asks_for_type(arguments));
}

/// Flushes what was printed before a failure, so that data and error match.
void flush_rest(Output& out) noexcept {
  try {
    out.flush();
  } catch (...) {  // the failure being reported is the one that matters
  }
}

int run_verb(const Verb& verb, const Arguments& arguments, Console& console) {
  try {
    const int status = verb.run(arguments, console);
    console.out.flush();
    return status;
  } catch (const UsageError& error) {
    flush_rest(console.out);
    return report_usage(error.what(), verb.name, asks_for_json(arguments));
  } catch (const Error& error) {
    flush_rest(console.out);
    return report_error(error, arguments);
  } catch (const std::bad_alloc&) {
    return report_error(Error(Errc::io, "out of memory"), arguments);
  }
}

const Verb* find_verb(std::string_view name) {
  const auto* verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                  [&](const Verb* v) { return v->name == name; });
  return verb == std::end(kVerbs) ? nullptr : *verb;
}

/// "; did you mean 'NAME'?", or nothing.
std::string suggestion(std::string_view wanted, std::vector<std::string_view> names) {
  for (const Verb* verb : kVerbs) names.push_back(verb->name);
  const std::string meant = closest(wanted, names);
  return meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
}

/// One a line, for shells to complete.
std::string lines_of(const std::vector<std::string_view>& names) {
  return fmt::format("{}\n", fmt::join(names, "\n"));
}

/// 'dapple help' and what follows it.
int run_help(const Arguments& arguments, Console& console) {
  if (arguments.empty()) throw HelpAsked{usage() + '\n'};
  const std::string& topic = arguments[0];
  if (topic == "--complete") throw HelpAsked{lines_of(topic_names())};
  auto format = topic_text(topic);
  if (const Verb* verb = find_verb(topic)) {
    try {
      return verb->run({"--help"}, console);
    } catch (HelpAsked& asked) {  // a collection is a format, too
      if (format) asked.text += '\n' + *format;
      throw;
    }
  }
  if (topic == "help" || topic == "-h" || topic == "--help") throw HelpAsked{usage() + '\n'};
  if (format) throw HelpAsked{*std::move(format)};
  return report_usage(
      fmt::format("there is no help on '{}'{}", topic, suggestion(topic, topic_names())), {},
      false);
}

int run(const Arguments& arguments) {
  Console console{Output(STDOUT_FILENO)};
  const bool json = asks_for_json(arguments);
  if (arguments.empty()) {
    say(usage());
    return kBadUsage;
  }
  try {
    const std::string& first = arguments[0];
    if (first == "-h" || first == "--help") throw HelpAsked{usage() + '\n'};
    if (first == "--version") throw HelpAsked{"dapple " DAPPLE_VERSION "\n"};
    if (first == "--complete") {
      std::vector<std::string_view> names{"help"};
      for (const Verb* verb : kVerbs) names.push_back(verb->name);
      throw HelpAsked{lines_of(names)};
    }
    const Arguments rest(arguments.begin() + 1, arguments.end());
    if (first == "help") return run_help(rest, console);
    if (const Verb* verb = find_verb(first)) return run_verb(*verb, rest, console);
    if (first.starts_with("-")) return report_usage("unknown flag '" + first + "'", {}, json);
    return report_usage(fmt::format("unknown verb '{}'{}", first, suggestion(first, {"help"})), {},
                        json);
  } catch (const HelpAsked& asked) {
    console.out.write(asked.text);
    console.out.flush();
    return kDone;
  }
}

/// All that the system allows: what is usual is for programs that use select().
void allow_many_files() noexcept {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int run_command(int argc, char** argv) {
  reserve_standard_descriptors();
  allow_many_files();
  // Report closed pipes and file size limits as errors of the write, not as signals.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run({argv + std::min(argc, 1), argv + argc});
  } catch (const ClosedPipe&) {
    return kDone;
  } catch (const LateEnding::Interrupted&) {  // whose signal ends nobody
    return kRefused;
  } catch (const dapple::Error& error) {  // help that could not be printed
    say(error_line(error));
    return kRefused;
  } catch (const std::exception& error) {
    say(fmt::format("dapple: {}", printable(error.what())));
    return kRefused;
  }
}

}  // namespace dapple::cli
