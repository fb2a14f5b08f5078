// Names of rows and columns: what 'dapple info' says of them, and where 'dapple convert' has them
// from.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli.h"
#include "dapple/convert.h"

namespace dapple::cli {

/// Keys and values for JSON, each after a comma: how many names, and whether each is there once.
/// Slots of a vector of ML.NET are listed elsewhere.
std::string names_json(const std::variant<Matrix, Frame>& object);

/// The same for people, with the first names.
std::vector<std::pair<std::string, std::string>> names_lines(
    const std::variant<Matrix, Frame>& object);

/// A column of a frame, and files with a name on each line.
struct NameFlags {
  std::optional<std::string> column, row_file, col_file;
  bool of_rows() const { return column || row_file; }
};

/// --row-names, --row-names-file and --col-names-file.
void add_name_flags(Command& command, NameFlags& flags);

/// Reads the names for what is written of `object`; the column that has them is left out of `part`.
/// Throws UsageError, absent, io.
void take_names(const NameFlags& flags, const std::variant<Matrix, Frame>& object, Selection& part,
                WriteOptions& options);

}  // namespace dapple::cli
