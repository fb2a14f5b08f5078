// What Matrix and Frame have in common: an object made of positioned blocks.
//
// Caveats. The file is mapped: it must not be truncated or changed in place while it is open.
// Touching truncated parts ends the process with SIGBUS, unless the file was opened with
// OpenOptions::guard. To replace a file, create a new one and rename it, as dapple's writers do;
// readers keep the one they opened.
//
// Blocks, views and tiles are borrowed: they are valid while any copy of their Matrix or Frame
// lives. Taking one from a temporary object does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/block.h"
#include "dapple/names.h"
#include "dapple/region.h"
#include "dapple/tiles.h"
#include "dapple/value_type.h"

namespace dapple {

/// Where the block index came from.
enum class IndexOrigin : std::uint8_t { embedded, sidecar, scanned };
std::string_view name(IndexOrigin origin) noexcept;

/// The number of blocks, in all and by kind.
struct BlockCounts {
  std::uint64_t total = 0, empty = 0, dense = 0, csr = 0, coo = 0;
  std::uint64_t stored = 0;  // values stored over all blocks
};

/// What to do with cells that no block covers (R7). `nan` is for statistics, which count NaNs, and
/// for reads into dense arrays of floats: with integers it throws type_mismatch, in any other
/// operation unsupported.
enum class Absent : std::uint8_t { error, zero, nan };

struct ReadOptions {
  Absent absent = Absent::error;
  unsigned threads = 1;  // that decode blocks; 0: one per processor
  /// False where this is a part of much that is read once: what is far away comes past the cache,
  /// straight into place where it is stored as it is wanted.
  bool keep = true;
};

/// Blocks that are stored in fewer bytes than in the published format.
struct PackedCounts {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0, plain_bytes = 0;
  friend bool operator==(const PackedCounts&, const PackedCounts&) = default;
};

/// A column that can only be shown: text of a foreign format, or vectors of varying length. It is
/// not counted in cols(), and conversions refuse it or leave it out.
struct TextColumn {
  std::string label;
  std::string type;          // as its format calls it, for example "Vector<Text>"
  std::uint64_t before = 0;  // the column that it precedes
  bool readable = true;      // false: `read_text` cannot show it either
};

/// Something that a file says about itself, for people: "version", "metadata".
struct Detail {
  std::string title;
  std::string text;
};

/// A byte of a file: the object's own, or a part of a data set.
struct BlockPlace {
  std::string file;
  std::uint64_t offset = 0;
};

/// Receives one cell of a text column; `text` is valid during the call.
using TakeText = std::function<void(std::uint64_t row, std::string_view text)>;

/// The blocks of an object in file order, as a random-access range of BlockInfo.
class BlockRange {
 public:
  using iterator = detail::IndexIterator<BlockRange>;

  BlockRange() = default;
  std::uint64_t size() const noexcept { return size_; }
  /// REQUIRES i < size(). Throws corrupt when the index entry describes a block that cannot exist.
  /// O(1), but for the first call of a file of IDV, which is O(n log n).
  BlockInfo operator[](std::uint64_t i) const;
  /// Throws corrupt when the index is damaged. The first call is O(n), later ones are O(1).
  iterator begin() const;
  iterator end() const noexcept { return {*this, static_cast<std::ptrdiff_t>(size_)}; }

  /// Copies out.size() blocks, starting with number `first`. Throws out_of_range when there are
  /// fewer, corrupt, io. With OpenOptions::guard this makes one system call, an iterator one per
  /// block.
  void copy(std::uint64_t first, std::span<BlockInfo> out) const;

 private:
  friend class BlockedObject;
  BlockRange(const detail::Store* store, std::uint64_t size) noexcept
      : store_(store), size_(size) {}
  const detail::Store* store_ = nullptr;
  std::uint64_t size_ = 0;
};

/// Bytes from a cell to the one below it, and to the one at its right; 0: as if cells were stored
/// row after row, without gaps (a `row` of 0 is the columns' number times `col`). Columns after
/// each other are strides of {size, rows * size}.
struct Strides {
  std::size_t row = 0;
  std::size_t col = 0;
};

/// Cheap to copy: copies share one immutable map. Any number of threads may call any function at
/// the same time.
class BlockedObject {
 public:
  std::uint64_t rows() const noexcept;
  std::uint64_t cols() const noexcept;
  /// The same for all columns of a matrix. Throws out_of_range.
  ValueType column_type(std::uint64_t col) const;

  /// The file's format, for example "dbdf".
  std::string_view format() const noexcept;
  /// Something about the file that the user should be told, or "".
  const std::string& note() const& noexcept;
  std::string note() const&& { return note(); }
  /// The objects in a file that may hold several, at most the first 1000: values of Futhark as it
  /// writes their types ("[3][4]f32"), arrays of npz and HDF5 by the names that
  /// `OpenOptions::array` takes. Empty for formats that hold just one, and for HDF5 when a name was
  /// given.
  const std::vector<std::string>& contents() const& noexcept;
  std::vector<std::string> contents() const&& { return contents(); }
  /// The size of the file; of a data set that of the state and all of its parts. Text and files
  /// that are compressed as a whole are parsed or inflated first: of them, that of what was made.
  std::uint64_t bytes() const noexcept;
  /// Where one of its blocks starts. Throws corrupt for a data set whose state has no such part.
  BlockPlace place(const BlockInfo& block) const;
  IndexOrigin index_origin() const noexcept;
  BlockCounts counts() const;
  /// What packing saves. Throws corrupt. O(blocks), unless a file far away tells at its end.
  PackedCounts packed() const;

  /// Blocks that hold cells, in file order.
  BlockRange blocks() const& noexcept;
  BlockRange blocks() const&& = delete;

  /// The blocks that hold cells of a region, in ascending order of positions. Throws out_of_range,
  /// corrupt. O(log n + blocks found).
  std::vector<BlockInfo> blocks(const Region& region) const;

  /// The tiling, if the blocks form a regular one.
  std::optional<Grid> grid() const noexcept;

  /// The tiles of a regular tiling as cells of type T, whatever they are stored as. Make it once
  /// and use it in a loop: this is the fastest way to read tiles (tiles.h). Throws
  /// invalid_argument without a regular tiling, io. O(1), after mapping the file.
  template <Value T>
  Tiles<T> tiles(Copy copy = Copy::allowed) const& {
    return {tile_table(), *grid(), copy};
  }
  template <Value T>
  Tiles<T> tiles(Copy copy = Copy::allowed) const&& = delete;

  /// The block whose first cell is at `pos`. Throws absent if there is none; corrupt when the index
  /// does not agree with the block's header. O(1) in regular tilings, otherwise O(log n).
  Block block(BlockPos pos) const&;
  Block block(BlockPos pos) const&& = delete;
  /// The same, but returns nothing if there is none. Throws corrupt.
  std::optional<Block> find_block(BlockPos pos) const&;
  std::optional<Block> find_block(BlockPos pos) const&& = delete;

  /// The block that covers a cell, or nothing. Throws out_of_range for a cell outside the object,
  /// corrupt. O(1) in regular tilings, otherwise O(log n).
  std::optional<Block> find_cover(std::uint64_t row, std::uint64_t col) const&;
  std::optional<Block> find_cover(std::uint64_t row, std::uint64_t col) const&& = delete;

  /// The block that is tile (i, j) of the grid. Throws invalid_argument without a regular tiling,
  /// out_of_range, corrupt. O(1).
  Block tile(std::uint64_t i, std::uint64_t j) const&;
  Block tile(std::uint64_t i, std::uint64_t j) const&& = delete;

  /// Copies the cells of `region` as values of `type`: cell (r, c) of the region goes to byte
  /// r * strides.row + c * strides.col of `out`. Throws what `Matrix::read` throws, and
  /// invalid_argument for strides with which cells would overlap and for what is no value type.
  void read(const Region& region, ValueType type, std::span<std::byte> out, Strides strides = {},
            const ReadOptions& options = {}) const;

  /// Columns that can only be shown, in file order. Most formats have none.
  std::span<const TextColumn> text_columns() const& noexcept;
  std::span<const TextColumn> text_columns() const&& = delete;
  /// Calls `take` for each of these rows of text column `k`, in order. Throws out_of_range,
  /// corrupt; unsupported when the column is not readable.
  void read_text(std::size_t k, Range rows, const TakeText& take) const;

  /// What the file says about itself; most formats have nothing. Throws corrupt.
  std::vector<Detail> details() const;

  /// The user's attributes: a JSON object in UTF-8, at most a mebibyte, "{}" when there are none.
  /// Only dbdf files have them. Throws corrupt when they are damaged. O(bytes).
  std::string attributes() const;

  /// The names of the rows, and those of the columns of a matrix; null when there are none. Throws
  /// corrupt when they are damaged, io. O(1), but for the first call where they are no table in the
  /// file: in AnnData, for the slots of a vector of ML.NET, and for what `concat` makes.
  std::shared_ptr<const Names> row_names() const;
  std::shared_ptr<const Names> col_names() const;

  /// Throws io when a file opened with OpenOptions::guard has been truncated or changed since:
  /// values that views returned may be wrong. Does nothing without the guard. One system call.
  void require_intact() const;

  /// What the web server that the file was opened from calls the state that is read: its size, ETag
  /// and date, a line each; "" where it is on none. O(1).
  const std::string& server_version() const& noexcept;
  const std::string& server_version() const&& = delete;

  /// Asks the system to load the blocks of a region from storage, and returns at once. Throws
  /// out_of_range, corrupt. O(blocks that the region touches).
  void prefetch(const Region& region) const;

  /// For the library itself and its bindings.
  const detail::Store& store() const noexcept { return *store_; }
  std::shared_ptr<const detail::Store> share() const noexcept { return store_; }

 protected:
  explicit BlockedObject(std::shared_ptr<const detail::Store> store) noexcept;
  void read_to(const Region& region, void* out, std::size_t size, std::size_t row_stride,
               ValueType type, const ReadOptions& options) const;

  std::shared_ptr<const detail::Store> store_;

 private:
  void read_target(const Region& region, const detail::Target& target,
                   const ReadOptions& options) const;
  detail::TileTable tile_table() const;
};

}  // namespace dapple

template <>
inline constexpr bool std::ranges::enable_borrowed_range<dapple::BlockRange> = true;
