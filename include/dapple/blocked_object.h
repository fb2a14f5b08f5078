// What a Matrix and a Frame have in common: an object made of positioned blocks.
//
// Caveats. The file is mapped, not read: it must not be truncated or changed in place while it is
// open. Truncation ends the process with SIGBUS, unless the file was opened with
// OpenOptions::guard. Writers therefore create a new file and rename it over the old one, as dapple
// does; readers that have the old one open keep it.
//
// Blocks, views and tiles are borrowed: they are valid while any copy of the Matrix or Frame lives.
// Taking one from a temporary object does not compile.
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
#include "dapple/region.h"
#include "dapple/tiles.h"
#include "dapple/value_type.h"

namespace dapple {

/// Where the block index came from.
enum class IndexOrigin : std::uint8_t { embedded, sidecar, scanned };
std::string_view name(IndexOrigin origin) noexcept;

/// Blocks by kind, and what they store.
struct BlockCounts {
  std::uint64_t total = 0, empty = 0, dense = 0, csr = 0, coo = 0;
  std::uint64_t stored = 0;  // values stored over all blocks
};

/// What to do with cells that no block covers (rule R7). They are NaN only where cells are copied
/// to dense memory of floats; elsewhere that is unsupported, and for integers type_mismatch.
enum class Absent : std::uint8_t { error, zero, nan };

struct ReadOptions {
  Absent absent = Absent::error;
  unsigned threads = 1;  // blocks decoded at once; 0: one per processor
};

/// A column of a file that holds no numbers, or a varying number of them: text, vectors of varying
/// length. It is not part of rows() x cols(), and conversions to numbers refuse it or leave it out.
struct TextColumn {
  std::string label;
  std::string type;          // as its format calls it, for example "Vector<Text>"
  std::uint64_t before = 0;  // the object's column that it precedes
  bool readable = true;      // false: not even as text
};

/// What a file says besides its cells, for people: "version", "metadata".
struct Detail {
  std::string title;
  std::string text;
};

/// Takes one cell of a text column; `text` is valid during the call.
using TakeText = std::function<void(std::uint64_t row, std::string_view text)>;

/// All blocks in file order, as a range of BlockInfo. Borrowed from its object.
class BlockRange {
 public:
  class iterator {
   public:
    using value_type = BlockInfo;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;  // gives values, not references
    using iterator_concept = std::forward_iterator_tag;

    iterator() = default;
    /// Throws corrupt when the index entry describes a block that cannot exist. O(1).
    BlockInfo operator*() const;
    iterator& operator++() noexcept {
      ++i_;
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator old = *this;
      ++i_;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.i_ == b.i_; }

   private:
    friend class BlockRange;
    iterator(const detail::Store* store, std::uint64_t i) noexcept : store_(store), i_(i) {}
    const detail::Store* store_ = nullptr;
    std::uint64_t i_ = 0;
  };

  std::uint64_t size() const noexcept { return size_; }
  /// Throws corrupt when the index is damaged. O(1), but for the first call: O(n).
  iterator begin() const;
  iterator end() const noexcept { return {store_, size_}; }

  /// Copies the blocks from `first` on in file order. Throws out_of_range when there are not as
  /// many; corrupt and, guarded, io as an iterator. With the guard, one system call for all of
  /// them.
  void copy(std::uint64_t first, std::span<BlockInfo> out) const;

 private:
  friend class BlockedObject;
  BlockRange(const detail::Store* store, std::uint64_t size) noexcept
      : store_(store), size_(size) {}
  const detail::Store* store_;
  std::uint64_t size_;
};

/// Cheap to copy: copies share one immutable map. All functions may be called from any number of
/// threads at once, without locks.
class BlockedObject {
 public:
  std::uint64_t rows() const noexcept;
  std::uint64_t cols() const noexcept;
  /// Of a matrix the same for all columns. Throws out_of_range.
  ValueType column_type(std::uint64_t col) const;

  /// "dbdf", or the foreign format that the file is in.
  std::string_view format() const noexcept;
  /// A note that the user should see, or "".
  const std::string& note() const noexcept;
  /// The objects in the file, in the words of its format ("[3][4]f32"), at most the first 1000;
  /// none in formats that hold just one.
  const std::vector<std::string>& contents() const noexcept;
  /// Length of the file in bytes.
  std::uint64_t bytes() const noexcept;
  IndexOrigin index_origin() const noexcept;
  BlockCounts counts() const;

  /// Blocks that hold cells, in file order.
  BlockRange blocks() const& noexcept;
  BlockRange blocks() const&& = delete;

  /// The tiling, when the blocks form a regular one.
  std::optional<Grid> grid() const noexcept;

  /// The tiles of a regular tiling as cells of type T, whatever they are stored as: made once and
  /// used in a loop, this is the fast way to them (tiles.h). Throws invalid_argument without a
  /// regular tiling, io. O(1), but maps the file.
  template <Value T>
  Tiles<T> tiles(Copy copy = Copy::allowed) const& {
    return {tile_table(), *grid(), copy};
  }
  template <Value T>
  Tiles<T> tiles(Copy copy = Copy::allowed) const&& = delete;

  /// The block stored at exactly this position. Throws absent; corrupt when the index does not
  /// agree with the block's header (rule 2.6). Regular tilings O(1), any other O(log n).
  Block block(BlockPos pos) const&;
  Block block(BlockPos pos) const&& = delete;
  /// The same, but nothing where none is stored at that position. Throws corrupt.
  std::optional<Block> find_block(BlockPos pos) const&;
  std::optional<Block> find_block(BlockPos pos) const&& = delete;

  /// The block that covers a cell; nothing where no block does. Throws out_of_range for a cell
  /// outside the object, corrupt. Regular tilings O(1), any other O(log n).
  std::optional<Block> find_cover(std::uint64_t row, std::uint64_t col) const&;
  std::optional<Block> find_cover(std::uint64_t row, std::uint64_t col) const&& = delete;

  /// Tile (i, j) of the grid. Throws invalid_argument without a regular tiling, out_of_range,
  /// corrupt as `block`. O(1).
  Block tile(std::uint64_t i, std::uint64_t j) const&;
  Block tile(std::uint64_t i, std::uint64_t j) const&& = delete;

  /// Columns that can only be shown, in the order of the file. Most formats have none.
  std::span<const TextColumn> text_columns() const noexcept;
  /// Calls `take` for each of these rows of text column `k`, in order. Throws out_of_range,
  /// corrupt; unsupported when it is not readable.
  void read_text(std::size_t k, Range rows, const TakeText& take) const;

  /// What the file says besides rows, columns and cells; most say nothing. Throws corrupt.
  std::vector<Detail> details() const;

  /// Throws io when the file was opened with OpenOptions::guard and has been cut or changed since:
  /// what views gave may be wrong. Does nothing without the guard. One system call.
  void require_intact() const;

  /// Asks the system to fetch the blocks of a region from storage now; returns at once. Throws
  /// out_of_range, corrupt. O(blocks that the region touches).
  void prefetch(const Region& region) const;

  /// For the library's own parts and its bindings.
  const detail::Store& store() const noexcept { return *store_; }
  std::shared_ptr<const detail::Store> share() const noexcept { return store_; }

 protected:
  explicit BlockedObject(std::shared_ptr<const detail::Store> store) noexcept;
  void read_to(const Region& region, void* out, std::size_t size, std::size_t row_stride,
               ValueType type, const ReadOptions& options) const;

  std::shared_ptr<const detail::Store> store_;

 private:
  detail::TileTable tile_table() const;
};

}  // namespace dapple

template <>
inline constexpr bool std::ranges::enable_borrowed_range<dapple::BlockRange> = true;
