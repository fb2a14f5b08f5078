// FILE and the flags for reading it.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "cli.h"
#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/open.h"

namespace dapple::cli {

struct Input {
  std::string file;
  OpenOptions options{.guard = true};  // a truncated file becomes an error instead of a crash

  /// The name for messages: of an address without user, password and query.
  std::string name() const;
  /// True for standard input and named pipes, which can be opened only once.
  bool is_stream() const;
};

/// Adds the operand.
void add_input(Command& command, Input& input, const std::string& operand = "FILE");

/// Adds --from, --cache, and the flags of each format that has some.
void add_reading_flags(Command& command, OpenOptions& options);

/// Text will be parsed in `folder`, where a dbdf file is to be made of it, which it may become; as
/// usual if there is no such folder.
void parse_in(std::filesystem::path folder, OpenOptions& options);

/// Opens the file, or standard input for "-", with as many threads as the console has. Throws what
/// opening throws; UsageError for flags of another format.
std::variant<Matrix, Frame> open_input(const Input& input, const Console& console);

/// Throws UsageError for flags of another format, for verbs that open the file later or not at all;
/// what is wrong with the file is left to them.
void require_flags_fit(Input input, const Console& console);

/// Prints the format's note, if it has one, to standard error.
void say_note(const Input& input, const BlockedObject& object, const Console& console);

/// Throws UsageError for "-": `verb` needs a file that has a name.
void require_named_file(const Input& input, std::string_view verb);

/// What a matrix and a frame have in common.
inline const BlockedObject& base(const std::variant<Matrix, Frame>& object) {
  return std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
}

}  // namespace dapple::cli
