// Where `get`, `convert` and `repair` put their result: a new file, or standard output.
#pragma once

#include <string>
#include <variant>

#include "cli.h"
#include "dapple/convert.h"

namespace dapple::cli {

struct Destination {
  std::string path;  // "-" or empty: standard output
  std::string to;    // the format's name; empty: told from the path's extension
  bool force = false;
  bool append = false;  // append rows to the file
  bool drop_labels = false;
  bool stored_numbers = false;
  bool short_floats = false;
  bool large = false;
  bool sync = true;

  bool is_stdout() const noexcept { return path.empty() || path == "-"; }
};

/// Takes the value of -o. Throws UsageError for an empty one, which probably comes from an unset
/// variable in a script, and does not mean standard output.
void take_output(const std::string& text, Destination& destination);

/// --to, --force, --drop-labels, --stored-numbers, --short-floats and --no-sync.
void add_destination_flags(Command& command, Destination& destination);

/// The format to write. Throws UsageError when neither --to nor the extension gives it, or when it
/// cannot be written there.
const FormatInfo& format_to_write(const Destination& destination);

/// Throws invalid_argument when the path names something that may not be replaced: an existing
/// file without --force or --append, a folder, a device.
void require_replaceable(const Destination& destination);

/// Writes `part` of `in` to the destination, or appends all of it, with a progress bar. Returns the
/// summary of the published file; nothing for standard output.
std::optional<WriteSummary> deliver(const std::variant<Matrix, Frame>& in, const Selection& part,
                                    const Destination& destination, ConvertOptions options,
                                    Console& console);

/// "counts.dbdf: 50000 x 500, f64, 49 blocks (37 csr, 12 coo)".
std::string summary_text(const Destination& destination, const std::variant<Matrix, Frame>& in,
                         const Selection& part, const ConvertOptions& options,
                         const WriteSummary& written);

}  // namespace dapple::cli
