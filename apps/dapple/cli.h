// What the command lines of all verbs share: parsing, help, and the flags that each of them has.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dapple/region.h"
#include "output.h"

namespace CLI {
class App;
}

namespace dapple::cli {

/// Wrong usage: printed with a hint where to find help; exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown by `Command::parse` for -h and --help; the text goes to standard output.
struct HelpAsked {
  std::string text;
};

/// Where a verb's data goes, and the flags that all verbs have.
struct Console {
  Output out;
  bool json = false;     // data and errors as JSON
  bool quiet = false;    // nothing but errors on standard error
  unsigned threads = 0;  // 0: one per processor
};

using Arguments = std::vector<std::string>;

/// A row of the table of verbs.
struct Verb {
  std::string_view name;
  std::string_view operands;  // as in a usage line
  std::string_view summary;   // half a line
  std::string_view about;     // more for the help: whole lines, or nothing
  std::string_view examples;  // the last lines of the help
  /// Runs the verb with `arguments` (without program and verb) and returns the exit status.
  /// Throws UsageError, HelpAsked and Error.
  int (*run)(const Arguments& arguments, Console& console);
};

/// The command line of one verb. Flags may come before or after the operands. Values are checked
/// as they are read; a bad one throws a UsageError that names the flag.
class Command {
 public:
  explicit Command(const Verb& verb);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Adds a required operand. Targets must outlive `parse`.
  void operand(const std::string& name, std::string& target, std::string help);
  /// Adds a list of at least one operand, which must be the last.
  void operands(const std::string& name, std::vector<std::string>& target, std::string help);
  /// A heading for the flags that follow, in the help.
  void section(std::string title);
  /// The flags that follow, up to the next section, are explained by 'dapple help NAME' alone.
  void topic(std::string name);
  /// A line of help for a flag that another topic has as well.
  void line(std::string names, std::string help);
  void flag(const std::string& names, bool& target, std::string help);
  void flag(const std::string& names, std::function<void()> take, std::string help);
  /// A flag with a value, at most once.
  void option(const std::string& names, const std::string& value,
              std::function<void(const std::string&)> take, std::string help);
  /// The same where the value may be left out; one that is given follows '='.
  void optional_value(const std::string& name, const std::string& value, std::string left_out,
                      std::function<void(const std::string&)> take, std::string help);
  /// A flag with a value, any number of times.
  void repeatable(const std::string& names, const std::string& value,
                  std::function<void(const std::string&)> take, std::string help);

  /// Throws UsageError, HelpAsked, and what the takers throw. `--complete` alone asks for the names
  /// of all flags, one a line: shells complete them.
  void parse(const Arguments& arguments);
  /// The lines of the flags of a topic.
  std::string topic_help(std::string_view topic) const;

 private:
  struct Line {
    std::string names, help, topic;  // a section's title has no help
  };
  std::string help() const;
  std::string flag_names() const;
  std::string unknown_flag(const std::string& flag) const;

  std::unique_ptr<CLI::App> app_;
  Verb verb_;
  std::vector<std::pair<std::string, std::function<bool()>>> operands_;  // names; true if missing
  std::vector<Line> operand_lines_, flag_lines_;
  std::map<std::string, std::string> left_out_;  // values of flags that are given without one
  std::string topic_;                            // of the flags added now
};

/// --json, -q and --threads. `json_help` says what JSON is printed.
void add_shared_flags(Command& command, Console& console, std::string json_help);

/// All of `text` as a decimal number, or nothing.
std::optional<std::uint64_t> find_number(std::string_view text) noexcept;

/// The value of `flag` as a number of `least` to `most`.
std::uint64_t parse_number(std::string_view flag, std::string_view text, std::uint64_t least,
                           std::uint64_t most);

/// Two numbers with `separator` between them; `shape` is their name in the help, such as "RX,CX".
std::pair<std::uint64_t, std::uint64_t> parse_pair(std::string_view flag, std::string_view text,
                                                   char separator, std::string_view shape);

/// A half-open range, either side of which may be left out, "3:7", "3:", ":7", ":"; "3" is "3:4".
struct OpenRange {
  std::optional<std::uint64_t> begin, end;
};
OpenRange parse_range(std::string_view flag, std::string_view text);

/// The value of `flag` as one of the names in `table`; `table` holds pairs of name and value.
template <class T, std::size_t N>
T parse_choice(std::string_view flag, std::string_view text,
               const std::pair<std::string_view, T> (&table)[N]) {
  std::string names;
  for (const auto& [name, value] : table) {
    if (name == text) return value;
    names += names.empty() ? "" : ", ";
    names += name;
  }
  throw UsageError(std::string(flag) + " must be one of " + names + ", not '" + std::string(text) +
                   "'");
}

}  // namespace dapple::cli
