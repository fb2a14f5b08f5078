// Opening a file of any readable format as a Matrix or a Frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "dapple/format_options.h"

namespace dapple {

class Matrix;
class Frame;
class RangeReader;
class ObjectStore;
enum class Axis : std::uint8_t;
struct ConcatOptions;

/// When the bytes of a block are compared with the hash in the index. Other than with `never`, the
/// file's header is compared with its hash at open, and a file with a damaged index is refused.
/// Files without an index have no hashes.
enum class Check : std::uint8_t {
  never,        // only block headers are checked
  first_touch,  // when a block is first fetched through this object
  always,       // at every fetch
};

struct OpenOptions {
  std::string format{};  // one of `formats()`; empty: told from the bytes and the file's name
  /// Which array of a file of several: the name of a member of an .npz archive, the path of a data
  /// set, an array or a sparse group in an HDF5 file or Zarr folder; of a Zarr array of more than
  /// two dimensions with a slice, "temp[5,:,:]". Empty: the only one, or what FORMAT.md says.
  /// Ignored by formats of one object.
  std::string array{};
  Check check = Check::never;
  /// True: when the file is truncated or changed in place while it is open, calls that read it
  /// throw io. Without the guard, touching a truncated part ends the process with SIGBUS. Views
  /// cannot throw: call `BlockedObject::require_intact` after using them. Every fetch and read
  /// costs two more system calls.
  ///
  /// While a guarded object lives, the library handles SIGBUS. Signals that are not about its
  /// files go to the previous handler, which is restored with the last such object; a handler
  /// installed in between must pass on what is not its own. Because a blocked SIGBUS ends the
  /// process whatever the handler, every thread that opens, fetches or reads gets it unblocked for
  /// good; a thread that only uses views fetched by another calls `require_intact` first.
  bool guard = false;
  /// False: the system loads single pages and prefetches nothing. For a few scattered cells of a
  /// file larger than memory; reading much of it becomes many times slower.
  bool read_ahead = true;
  /// Of what is far away, at web addresses or read by a `RangeReader` with a lasting name: a folder
  /// in which pieces of 64 KiB of objects are kept for all processes of this machine, made if it is
  /// not there; empty: nothing is kept. An address that was opened within the last minute is then
  /// opened without a request: in the version that it had, and never in a mixture. A folder that
  /// cannot be used is left out, and `BlockedObject::note` says so.
  std::filesystem::path cache{};
  /// About how much the pieces may take on disk; those used longest ago make room.
  std::uint64_t cache_bytes = std::uint64_t{10} << 30;
  /// The folder of the unnamed file that text is parsed into, whatever the text's size; empty: in
  /// memory, or $TMPDIR (see `open`). `convert` to a dbdf file of the same file system then gives
  /// that file its name, if it is what would be written, in place of writing all of it once more.
  std::filesystem::path temporary{};
  /// How many threads go through a text that must be read as a whole (CSV, Matrix Market); 0: one
  /// per processor. Ignored by other formats.
  unsigned threads = 1;
  /// Of text, only this number of rows, or all if there are fewer, are opened, and nothing after
  /// them is read. Ignored by formats whose rows are not in order.
  std::optional<std::uint64_t> first_rows{};
  /// False: of text, only shape, types and words are wanted. It is gone through once, nothing is
  /// kept, and reading a cell throws unsupported. Ignored by other formats.
  bool cells = true;
  /// How files of single formats are read, such as {{"csv.delimiter", ";"}}. `FormatInfo::options`
  /// and `dapple help csv` list them; each folder of lib/foreign has its own.
  FormatOptions format_options{};
};

namespace detail {

class Store;
enum class Wanted : bool { matrix, frame };
/// What `Matrix::open` and `Frame::open` do.
std::shared_ptr<const Store> open_only(Wanted, const std::filesystem::path& path,
                                       const OpenOptions& options);
std::shared_ptr<const Store> open_only(Wanted, std::span<const std::byte> bytes, std::string name,
                                       const OpenOptions& options);
std::shared_ptr<const Store> open_only(Wanted, std::shared_ptr<const RangeReader> reader,
                                       std::string name, const OpenOptions& options);

}  // namespace detail

/// Progress callback, called now and then, by one thread at a time. May be empty.
using TakeProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Gets a sentence about what a result does not keep, though all cells are there. May be empty.
using TakeNote = std::function<void(const std::string&)>;

/// Opens `path`, which may also be PATH/NAME of a member of a collection. With an embedded or
/// sidecar index this takes a few small reads, whatever the file's size; without one, all block
/// headers are read once. A file that is compressed as a whole with gzip or zstd is decompressed to
/// an unnamed temporary file first. Throws io, not_recognised, unsupported, corrupt (R1 to R4);
/// invalid_argument for options, and absent or out_of_range when the file has no such column
/// (idv.column) or value (futhark.value).
///
/// Text (CSV, Matrix Market, BTable, Futhark) is parsed once, into an unnamed file of dapple's own
/// format: in memory if the text has at most 64 MiB, otherwise in $TMPDIR, or where the options
/// say. With a sidecar (`write_sidecar`), which is that file, nothing is parsed.
std::variant<Matrix, Frame> open(const std::filesystem::path& path, OpenOptions options = {});

/// Opens the bytes of a file of any format, which are used where they are: they must neither move
/// nor change while the result, or anything of it, lives. Messages call it `name`. Nothing is
/// looked for beside it. Throws what `open` throws.
std::variant<Matrix, Frame> open(std::span<const std::byte> bytes, std::string name = "memory",
                                 OpenOptions options = {});

/// Opens bytes that `reader` reads in ranges (range_reader.h), with one call of it, or a few more
/// for files without an index. What is read of the blocks is kept in bounded memory. Messages call
/// it `name`. Throws what `open` throws, and what the reader throws.
std::variant<Matrix, Frame> open(std::shared_ptr<const RangeReader> reader, std::string name,
                                 OpenOptions options = {});

/// Opens what `store` (range_reader.h) has under `name`: an object of any format, or a folder as
/// `open` of a path does: a data set in its latest state, a collection's member, a Zarr hierarchy.
/// Its parts are found in the store when they are touched. Throws what `open` throws, io when there
/// is nothing of that name, and what the store throws.
std::variant<Matrix, Frame> open(std::shared_ptr<const ObjectStore> store, const std::string& name,
                                 OpenOptions options = {});

/// Opens what is left to read of the descriptor `fd`, for example a pipe, by copying it to an
/// unnamed temporary file. Messages call it `name`. Does not close `fd`. Throws what `open` throws.
std::variant<Matrix, Frame> open_stream(int fd, std::string name, OpenOptions options = {});

}  // namespace dapple
