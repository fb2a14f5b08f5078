// dapple VERB [flags] FILE: the table of verbs, and the one place where failures are reported.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"
#include "dapple/version.h"
#include "hints.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

constexpr const Verb* kVerbs[] = {&kInfoVerb,   &kBlocksVerb, &kGetVerb,    &kConvertVerb,
                                  &kConcatVerb, &kIndexVerb,  &kVerifyVerb, &kStatsVerb,
                                  &kWhereVerb,  &kRepairVerb, &kShowVerb,   &kViewVerb};

std::string usage() {
  std::string text =
      "dapple opens matrices and frames of any size and takes out any part of them.\n"
      "\nusage: dapple VERB [flags] FILE\n\n";
  for (const Verb* verb : kVerbs) {
    text += fmt::format("  {:<8} {:<12} {}\n", verb->name, verb->operands, verb->summary);
  }
  return text +
         "\n'dapple VERB --help' explains a verb and its flags; 'dapple --version' says which\n"
         "dapple this is. Exit status: 0 done; 1 the data is bad, or something was found;\n"
         "2 wrong usage, no such block, cell, column, or a type asked for that does not fit;\n"
         "3 the operating system refused.";
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
    const auto* verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                    [&](const Verb* v) { return v->name == first; });
    if (verb == std::end(kVerbs)) {
      if (first.starts_with("-")) return report_usage("unknown flag '" + first + "'", {}, json);
      std::vector<std::string_view> names;
      for (const Verb* v : kVerbs) names.push_back(v->name);
      const std::string meant = closest(first, names);
      return report_usage(
          fmt::format("unknown verb '{}'{}", first,
                      meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)),
          {}, json);
    }
    return run_verb(**verb, Arguments(arguments.begin() + 1, arguments.end()), console);
  } catch (const HelpAsked& asked) {
    console.out.write(asked.text);
    console.out.flush();
    return kDone;
  }
}

}  // namespace

}  // namespace dapple::cli

int main(int argc, char** argv) {
  using namespace dapple::cli;
  reserve_standard_descriptors();
  // Report closed pipes and file size limits as errors of the write, not as signals.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run({argv + std::min(argc, 1), argv + argc});
  } catch (const ClosedPipe&) {
    return kDone;
  } catch (const dapple::Error& error) {  // help that could not be printed
    say(error_line(error));
    return kRefused;
  } catch (const std::exception& error) {
    say(fmt::format("dapple: {}", printable(error.what())));
    return kRefused;
  }
}
