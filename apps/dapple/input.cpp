#include "input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "dapple/collection.h"
#include "dapple/convert.h"
#include "format_flags.h"
#include "text.h"

namespace dapple::cli {

namespace {

/// The format that can be read and has this name, in capitals or not. Throws UsageError.
std::string format_named(const std::string& wanted) {
  std::string names;
  for (const FormatInfo& format : formats()) {
    if (!format.reads) continue;
    if (is_same_name(format.name, wanted)) return std::string(format.name);
    names += names.empty() ? "" : ", ";
    names += format.name;
  }
  throw UsageError(fmt::format("--from must be one of {}, not '{}'", names, printable(wanted)));
}

/// True for the other names of standard input, unless that is a file.
bool is_stdin(const std::string& name) {
  if (name == "-") return true;
  std::error_code none;
  return (name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0") &&
         !std::filesystem::is_regular_file(name, none);
}

/// True when --array names a member of a collection.
bool names_members(const Input& input) {
  const std::string name = input.name();
  return has_ending(name, ".dds") || has_ending(name, ".dds/") || Collection::find(input.file);
}

}  // namespace

std::string Input::name() const {
  if (file == "-") return "stdin";
  const std::size_t scheme = file.find("://");
  if (!file.starts_with("http") || scheme == std::string::npos) return file;
  const std::string plain = file.substr(0, file.find_first_of("?#"));
  const std::size_t host = scheme + 3, path = std::min(plain.find('/', host), plain.size());
  const std::size_t user = plain.substr(0, path).rfind('@');
  return user == std::string::npos ? plain : plain.substr(0, host) + plain.substr(user + 1);
}

bool Input::is_stream() const {
  std::error_code none;
  return is_stdin(file) || std::filesystem::is_fifo(file, none);
}

void add_input(Command& command, Input& input, const std::string& operand) {
  command.operand(operand, input.file, "the file, pipe or address to read; - is standard input");
}

void add_reading_flags(Command& command, OpenOptions& options) {
  command.section("reading");
  command.option(
      "--from", "FORMAT",
      [&options](const std::string& text) { options.format = format_named(text); },
      "the file's format, if its bytes and name do not tell");
  command.option(
      "--cache", "DIR", [&options](const std::string& text) { options.cache = text; },
      "keep pieces of objects on servers in DIR, for all processes here, at most 10 GiB");
  add_format_flags(command, options);
}

void parse_in(std::filesystem::path folder, OpenOptions& options) {
  if (folder.empty()) folder = ".";
  std::error_code none;
  if (std::filesystem::is_directory(folder, none)) options.temporary = std::move(folder);
}

std::variant<Matrix, Frame> open_input(const Input& input, const Console& console) {
  OpenOptions options = input.options;
  options.threads = console.threads;
  try {
    auto object = is_stdin(input.file) ? open_stream(STDIN_FILENO, input.name(), options)
                                       : open(input.file, options);
    OpenOptions flags = input.options;
    if (!flags.array.empty() && names_members(input)) flags.array.clear();
    require_flags_of(base(object).format(), flags);
    return object;
  } catch (const Error& error) {
    // If a column cannot be read despite a flag that leaves columns out, the more useful error is
    // that the flag is for another format.
    const bool csv = input.options.format == "csv" || has_ending(input.file, ".csv");
    if (csv && error.code() == Errc::unsupported) require_flags_of("csv", input.options);
    throw;
  }
}

void require_flags_fit(Input input, const Console& console) {
  if (input.options.format_options.empty() && input.options.array.empty()) return;
  input.options.cells = false;
  input.options.format_options.emplace("futhark.first", "true");
  try {
    open_input(input, console);
  } catch (const Error&) {
  }
}

void say_note(const Input& input, const BlockedObject& object, const Console& console) {
  if (object.note().empty() || console.quiet || console.json) return;
  say("dapple: " + printable(input.name() + ": " + object.note()));
}

void require_named_file(const Input& input, std::string_view verb) {
  if (input.file == "-") {
    throw UsageError(fmt::format("cannot {} standard input; name a file", verb));
  }
  if (input.is_stream()) throw UsageError(fmt::format("cannot {} a pipe; name a file", verb));
}

}  // namespace dapple::cli
