// A data set: a folder of immutable dbdf files (parts) and numbered states, opened as one object.
//
//   auto part = dapple::dataset::write_part("d", block, {0, 4096});   // in any process
//   dapple::dataset::commit("d", {&part, 1});                         // in one, or in each
//   auto m = dapple::Matrix::open("d");                               // the latest state
//
// A part is a file that nobody else writes; a state names parts, and is created under the next
// number by whoever is first. Nothing is ever changed in place, so a process that dies leaves the
// old state or the new one. Any number of processes on any number of machines may write, if they
// share a file system. The bytes are described in lib/dataset/FORMAT.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/convert.h"
#include "dapple/error.h"
#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/region.h"

namespace dapple {

/// What made a state.
enum class DatasetAction : std::uint8_t { create = 1, commit = 2, compact = 3, collect = 4 };

/// A part that was written, for `commit`. To be sent to the process that commits.
struct DatasetPart {
  std::string name;                // in the folder
  std::uint64_t bytes = 0;         // of the file
  std::uint64_t header_bytes = 0;  // of its header
  std::uint64_t header_hash = 0;   // XXH3-64 of that
  std::uint64_t trailer_hash = 0;  // XXH3-64 of its last 64 bytes
  Region cells{{0, 0}, {0, 0}};    // where it is in the data set

  friend bool operator==(const DatasetPart&, const DatasetPart&) = default;
};

/// One state, for people.
struct DatasetState {
  std::uint64_t number = 0;
  DatasetAction action = DatasetAction::create;
  std::uint64_t time_ns = 0;  // since 1970, by the clock of whoever made it
  std::uint64_t rows = 0, cols = 0;
  std::uint64_t parts = 0, blocks = 0;
  std::uint64_t bytes = 0;  // of its parts
};

namespace dataset {

struct CommitOptions {
  /// The shape that the data set gets at least. 0: it grows with its parts.
  std::uint64_t rows = 0, cols = 0;
  bool whole = false;  // every cell must be in a part (R7)
  bool below = false;  // parts go below all rows, one after the other, whatever their own rows say
  bool sync = true;    // to storage, before the state gets its name
};

/// Makes state 1, which has no parts, with the columns and the value type of `like`; its shape is
/// that of `options`. Creates the folder if there is none. Throws invalid_argument when the folder
/// has a state already; io.
DatasetState create(const std::filesystem::path& folder, const std::variant<Matrix, Frame>& like,
                    const CommitOptions& options = {});

/// The data with columns of a frame as the latest state holds them, wherever that loses nothing:
/// times of a coarser unit, numbers of another type, other marks of missing cells, and columns that
/// are all missing. The rest is as given, and so is all if there is no state. O(cells) of columns
/// that change. Throws invalid_argument where CSV could be read as the words of the data set; io,
/// corrupt.
std::variant<Matrix, Frame> fitted(const std::filesystem::path& folder,
                                   const std::variant<Matrix, Frame>& data);

/// Writes `data`, `fitted` to the latest state, as a part whose first cell is at `at`, under a name
/// that nobody else has. It is in no state before it is committed. Tiles of a size that divides the
/// part unless `options` has one. Creates the folder if there is none. Throws what `convert`
/// throws.
DatasetPart write_part(const std::filesystem::path& folder, const std::variant<Matrix, Frame>& data,
                       BlockPos at, const ConvertOptions& options = {});

/// The part of this name that is in the folder already, for `commit`: another program wrote it, or
/// what `write_part` gave was lost. Throws invalid_argument for another name; corrupt, io.
DatasetPart find_part(const std::filesystem::path& folder, const std::string& name, BlockPos at);

/// Makes the next state, which has these parts, too; the first one if there is none. When others
/// commit meanwhile, it is made from their state. Parts that it has already are no error. Throws
/// invalid_argument for parts that share cells with others (R3), that leave cells uncovered where
/// none may be (R7), and whose type, labels or meanings are not those of the data set; corrupt for
/// parts that were changed since they were written; io. O(blocks of the data set).
DatasetState commit(const std::filesystem::path& folder, std::span<const DatasetPart> parts,
                    const CommitOptions& options = {});

/// Writes `rows` as a part, and commits it below all rows, and below those that others append
/// meanwhile; or with its first cell at `at`. A part that becomes one of no state is removed.
DatasetState append(const std::filesystem::path& folder, const std::variant<Matrix, Frame>& rows,
                    const ConvertOptions& options = {}, std::optional<BlockPos> at = {});

/// The same of a part that is written, and that no state has: `options` say where it goes.
DatasetState append(const std::filesystem::path& folder, const DatasetPart& part,
                    const CommitOptions& options);

/// Puts parts of fewer than `small` bytes together into parts with the tiles of a fresh file, where
/// they fill a rectangle. Parts that are committed meanwhile stay. Throws invalid_argument when
/// another call compacts the same parts. O(bytes of these parts).
DatasetState compact(const std::filesystem::path& folder, std::uint64_t small,
                     const ConvertOptions& options = {});

struct CollectOptions {
  std::uint64_t keep = 1;                 // the latest states that stay
  std::uint64_t grace_s = 7 * 24 * 3600;  // what is younger stays, too: somebody may be using it
};
struct Collected {
  std::uint64_t states = 0, parts = 0, bytes = 0;  // that were removed
};
/// Removes old states, and parts that no state has. Throws io.
Collected collect(const std::filesystem::path& folder, const CollectOptions& options = {});

/// The file of the latest state, which can be opened as the folder can, whatever others commit.
/// Throws not_recognised when there is none; io.
std::filesystem::path latest(const std::filesystem::path& folder);

/// The tiles that parts of dense cells get: about those of a fresh file, of a size that divides the
/// part, so that parts of one size are tiled as one.
TileShape part_tile(std::uint64_t rows, std::uint64_t cols);

/// All states that there are, the latest last. Why one cannot be opened goes to `damaged`; without
/// that, it is thrown. Throws io, corrupt.
std::vector<DatasetState> log(const std::filesystem::path& folder,
                              const std::function<void(const Error&)>& damaged = {});

}  // namespace dataset

}  // namespace dapple
