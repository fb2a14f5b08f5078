// Opening a file of any readable format as the object that it holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dapple/column.h"
#include "dapple/value_type.h"

namespace dapple {

class Matrix;
class Frame;
enum class Axis : std::uint8_t;

/// When the hash of a block's bytes, kept by the index, is compared with the bytes. Unless never,
/// the file's header is compared with its hash when the file is opened, and a file whose own index
/// is too damaged to be used is refused; one that never had an index has no hashes to check.
enum class Check : std::uint8_t {
  never,        // headers only: the fastest, and what mapping alone would give
  first_touch,  // when a block is first fetched through this object
  always,       // at every fetch
};

/// How delimited text is understood. Ignored by other formats.
struct CsvOptions {
  std::optional<bool> header{};              // first line holds labels; unset: guessed
  std::optional<char> delimiter{};           // unset: guessed from comma, semicolon, tab
  bool missing_as_nan = false;               // an empty field, NA or ? is NaN; otherwise an error
  std::map<std::string, ValueType> types{};  // by label, or by column number written in decimal
  /// What columns hold, by the same keys; otherwise it is guessed from their fields.
  std::map<std::string, MeaningKind> meanings{};
};

/// How a Futhark file, a list of values, is understood. Ignored by other formats.
struct FutharkOptions {
  /// One type for each value, as the compiled program that reads the file knows them: "[][]f32",
  /// or lists such as "[]i32, f64". Empty: the text decides, as for `futhark dataset`.
  std::vector<std::string> types{};
  std::optional<std::uint64_t> value{};  // the one to open, counted from 0
  bool frame = false;                    // all of them: vectors of one length, each a column
  bool first = false;  // of several, when none is chosen: the first, instead of an error
};

/// Which columns of an ML.NET file are opened. Ignored by other formats.
struct IdvOptions {
  /// Names of columns of the file, or labels of single slots, in this order; none: all of them.
  std::vector<std::string> columns{};
  bool drop_unsupported = false;  // leave out columns that are not numbers
};

struct OpenOptions {
  std::string format{};  // one of `formats()`; empty: told from the bytes and the file's name
  Check check = Check::never;
  /// True: when somebody cuts the file short, or changes it in place, while it is open, whatever
  /// reads it throws io and the process lives; without it, touching what was cut off ends the
  /// process with SIGBUS. Views cannot throw: `BlockedObject::require_intact` after their use
  /// tells. While an object that was opened so lives, the library handles SIGBUS: signals that are
  /// not about its files go to the handler that was there before, which is put back with the last
  /// such object. A handler that is installed meanwhile must pass on what it does not know. A
  /// blocked SIGBUS would end the process whatever handler there is, so each thread that opens,
  /// fetches or reads has it unblocked, and left so; a thread that only uses views which another
  /// one fetched calls `require_intact` first. Every fetch and read costs two system calls more.
  bool guard = false;
  /// False: the system reads single pages and prefetches nothing, for looks at a few cells here and
  /// there of a file that is larger than memory. Reading much of one becomes many times slower.
  bool read_ahead = true;
  CsvOptions csv{};
  FutharkOptions futhark{};
  IdvOptions idv{};
};

/// Progress callback of long work, called now and then, by one thread at a time. May be empty.
using TakeProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Opens `path`. An embedded or sidecar index makes this a few small reads, whatever the file's
/// size; without one, the block headers are walked once (rule 2.7).
/// Throws io, not_recognised, unsupported, corrupt (R1 to R4).
std::variant<Matrix, Frame> open(const std::filesystem::path& path, OpenOptions options = {});

/// Opens what is left to read of the descriptor `fd`, for example a pipe, which is copied to an
/// unnamed temporary file first. Messages call the file `name`. Does not close `fd`. Throws as
/// above.
std::variant<Matrix, Frame> open_stream(int fd, std::string name, OpenOptions options = {});

}  // namespace dapple
