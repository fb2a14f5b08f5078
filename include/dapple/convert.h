// Converting from any readable format to any writable one, strip by strip, in bounded memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dapple/format_options.h"
#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/writer.h"

namespace dapple {

/// What there is to know about a format.
struct FormatInfo {
  std::string_view name;        // for OpenOptions::format and ConvertOptions::to
  std::string_view title;       // one line for people
  std::string_view extensions;  // blank-separated, each with its dot
  bool reads = false;
  bool writes = false;
  bool streams = false;  // can be written to a pipe
  std::span<const OptionInfo> options{};
};

/// Every format that dapple knows.
std::span<const FormatInfo> formats() noexcept;

/// The format that `convert` writes: the one named `to` or, if that is empty, the first that has
/// the extension of `out`, before .gz or .zst. Throws invalid_argument, listing the choices.
const FormatInfo& format_to_write(const std::string& to, const std::filesystem::path& out);

/// The part of an object to convert; by default everything.
struct Selection {
  std::optional<Range> rows{};
  std::optional<std::vector<std::uint64_t>> cols{};  // in the order of the output
};

struct ConvertOptions {
  std::string to{};                       // empty: told from the output's extension
  std::optional<ValueType> value_type{};  // of all cells of the output; unset: the source's
  bool allow_loss = false;  // round values to `value_type`, and as `concat` where rows
                            // are appended; integers never wrap
  Absent absent = Absent::error;
  unsigned threads = 1;  // 0: one per processor
  /// `overwrite` and `sync` apply to every format, `col_names` to those that keep some, the rest to
  /// dbdf.
  WriteOptions write{};
  /// Write the stored codes, ticks and numbers of columns of words, times and truth values when the
  /// target cannot express these.
  bool stored_numbers = false;
  /// Leave out labels when the target has no place for them, and names of a matrix's columns where
  /// it has one, as the header of csv.
  bool drop_labels = false;
  /// How f32 cells are written to csv and mtx, which have no value types. False: with the digits
  /// that read back as the same f64 (0.1f as 0.10000000149011612). True: with the fewest that read
  /// back as the same f32 (0.1).
  bool short_floats = false;
  FormatOptions format_options{};  // how files of single formats are written: idv.deflate
  /// Write a matrix with its rows as columns, to dbdf; tiles are chosen for it. Not for `append`.
  bool transpose = false;
  TakeProgress progress{};  // in rows
  /// Told of what the target has no place for beside cells: zones, the order of categories, which
  /// floats are missing, which columns are one vector.
  TakeNote note{};
};

/// Publishes `part` of `in` as the file `out`, whole or not at all; compressed as a whole, if the
/// format streams, where the name ends in .gz or .zst. In a dbdf file of some rows of a frame,
/// dictionaries hold only words of these rows, but for ordered categories. Throws what reading
/// throws; unsupported when the target cannot hold a label, type or value; io; invalid_argument
/// when the options are wrong, when the destination exists, or when a CSV file would be next to a
/// DAPHNE FILE.meta (`overwrite` replaces the one and removes the other).
WriteSummary convert(const std::variant<Matrix, Frame>& in, const Selection& part,
                     const std::filesystem::path& out, const ConvertOptions& options = {});

/// The same into a function that receives the bytes in order, for formats that stream.
void convert(const std::variant<Matrix, Frame>& in, const Selection& part,
             const std::function<void(std::span<const std::byte>)>& sink,
             const ConvertOptions& options);

/// Appends the rows of `rows` to the dbdf file `file`. A new file takes its place, whole or not at
/// all; readers keep the one they opened. Old blocks are not decoded: their bytes are shared where
/// the file system can (reflink), otherwise copied within the kernel. Columns are combined as in
/// `concat`; if that changes what the old numbers mean (a float joins integers that f64 cannot
/// hold), the whole file is rewritten. Where the file's words or those of `rows` are ordered, and
/// cannot become one order, it throws invalid_argument. `options.to` and `options.value_type` are
/// not used; tiles have the file's shape unless `write.tile` is set, or the file is a single row of
/// tiles that are lower than those of a fresh file of all rows, which all then get. The last tiles
/// of a regular tiling are encoded again if they are lower than the others, so that it stays one.
/// Of several processes or threads that append to one file, each waits for those before it. Throws
/// what `concat` and `convert` throw, and stale_index when another writer changes the file
/// meanwhile.
WriteSummary append(const std::filesystem::path& file, const std::variant<Matrix, Frame>& rows,
                    const ConvertOptions& options = {});

}  // namespace dapple
