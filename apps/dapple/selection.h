// The flags that select cells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli.h"
#include "dapple/convert.h"

namespace dapple::cli {

/// The flags as given. A block by --block, --tile or --around; a cell; or a rectangle by the
/// others.
struct SelectionFlags {
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  std::optional<Pair> block, tile, around, cell;
  std::optional<OpenRange> rows, cols;
  std::vector<std::string> labels;
  std::optional<std::string> row_name;
};

void add_selection_flags(Command& command, SelectionFlags& flags);

/// --column alone.
void add_column_flag(Command& command, std::vector<std::string>& labels);

/// --absent.
void add_absent_flag(Command& command, Absent& absent,
                     std::string_view help =
                         "read cells that no block covers as zero or, among "
                         "floats, nan, instead of failing");

/// Throws UsageError when the flags contradict each other.
void require_consistent(const SelectionFlags& flags);

/// The selected cells, all of them inside the object. Errors name `file`. Throws out_of_range,
/// absent, invalid_argument.
Selection resolve(const SelectionFlags& flags, const std::variant<Matrix, Frame>& object,
                  const std::string& file);

/// The selected columns in their order, those that follow each other in the object as one range.
std::vector<Range> column_runs(const Selection& part, const BlockedObject& object);

/// The column of that label, or all of the vector of that name. Throws absent.
Range labelled_range(const Frame& frame, const std::string& label);

/// The rectangle of --rows and --cols. Throws out_of_range.
Region resolve_window(const SelectionFlags& flags, const BlockedObject& object,
                      const std::string& file);

}  // namespace dapple::cli
