// Frames as streams of Arrow record batches, for every program that speaks the Arrow C data
// interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dapple/arrow_abi.h"
#include "dapple/error.h"
#include "dapple/frame.h"

namespace dapple {

/// What of a frame is streamed.
struct ArrowOptions {
  /// Places among all columns in file order, also those that the format can only show as text
  /// (`BlockedObject::text_columns`), as far as they are readable. Unset: all.
  std::optional<std::vector<std::size_t>> columns{};
  std::vector<std::string> names{};  // of the columns; empty: the frame's own
  std::optional<Range> rows{};       // unset: all
  /// Rows in any order, in place of `rows`.
  std::optional<std::vector<std::uint64_t>> positions{};
  Absent absent = Absent::error;
  bool named_zones = false;  // UTC for zones that are an offset
  /// Of the schema, and of each column or none, as Arrow packs it.
  std::string metadata{};
  std::vector<std::string> metadata_of_columns{};
  /// Gets each error of the stream, in the consumer's thread: Arrow passes on only its text.
  std::function<void(const Error&)> fault{};
};

/// Makes `out` a stream of batches of at most 65,536 rows. Words, times, truth values and missing
/// cells become those of Arrow; text that is not UTF-8 gets U+FFFD. All is copied, so that batches
/// outlive everything; the stream keeps the file open. Consumers may call from any thread, one at a
/// time. Throws out_of_range, corrupt. O(columns + words of categories); each batch O(its cells).
void arrow_stream(Frame frame, ArrowOptions options, ArrowArrayStream& out);

}  // namespace dapple
