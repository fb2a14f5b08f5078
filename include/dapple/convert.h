// From any readable format to any writable one, strip by strip in bounded memory.
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

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/writer.h"

namespace dapple {

/// One row of the table of formats.
struct FormatInfo {
  std::string_view name;        // as `--from` and `--to` say it
  std::string_view title;       // one line for people
  std::string_view extensions;  // blank-separated, each with its dot
  bool reads = false;
  bool writes = false;
  bool streams = false;  // can be written to a pipe
};

/// Every format that dapple knows.
std::span<const FormatInfo> formats() noexcept;

/// The part of an object to convert; everything unless said otherwise.
struct Selection {
  std::optional<Range> rows;
  std::optional<std::vector<std::uint64_t>> cols;  // in this order
};

/// How an ML.NET file is written.
struct IdvWriteOptions {
  bool deflate = true;  // false: blocks are not compressed
};

struct ConvertOptions {
  std::string to;                       // empty: told from the output's extension
  std::optional<ValueType> value_type;  // of all cells of the output; unset: as they are
  bool allow_loss = false;              // values may be rounded, wrapped never, to `value_type`
  Absent absent = Absent::error;
  unsigned threads = 1;  // 0: one per processor
  WriteOptions write;    // `overwrite` and `sync` hold for every format, the rest for dbdf
  /// Of columns of words, times and truth values, where the target has no place for these: the
  /// codes, ticks and numbers that are stored.
  bool stored_numbers = false;
  bool drop_labels = false;  // of a frame, where the target has no place for labels
  /// Of f32 cells in csv and mtx, which have no value types: false writes the digits that read back
  /// to the same value as f64 (0.1f as 0.10000000149011612), true the fewest that do as f32 (0.1).
  bool short_floats = false;
  IdvWriteOptions idv;
  TakeProgress progress;  // in rows
};

/// Publishes `part` of `in` as the file `out`, whole or not at all. Throws what reading throws;
/// unsupported when the target cannot hold a label, type or value; io; invalid_argument, also when
/// a CSV file would be next to a FILE.meta of DAPHNE's, which `overwrite` removes.
WriteSummary convert(const std::variant<Matrix, Frame>& in, const Selection& part,
                     const std::filesystem::path& out, const ConvertOptions& options = {});

/// Puts the rows of `rows` behind those of the dbdf file `file`. A new file takes its place, whole
/// or not at all; whoever has the old one open keeps reading that. Its blocks are not read: the new
/// file takes over their bytes, which costs next to nothing where the file system can share them,
/// and a copy within the system elsewhere. Columns as in `concat`. Where numbers of the old rows
/// would mean something else (a float among integers that f64 cannot hold all of) everything is
/// written anew. Of the options, `to` and `value_type` are not used; without `write.tile`, tiles
/// are those of the file. Throws what `concat` and `convert` throw; stale_index when the file
/// changed meanwhile.
WriteSummary append(const std::filesystem::path& file, const std::variant<Matrix, Frame>& rows,
                    const ConvertOptions& options = {});

/// The same through a function that takes the bytes in order, for formats that stream.
void convert(const std::variant<Matrix, Frame>& in, const Selection& part,
             const std::function<void(std::span<const std::byte>)>& sink,
             const ConvertOptions& options);

}  // namespace dapple
