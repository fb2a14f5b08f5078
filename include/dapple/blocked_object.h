// What a Matrix and a Frame have in common: an object made of positioned blocks.
//
// Caveats. The file is mapped, not read: it must not be truncated or changed in place while it is
// open; truncation ends the process with SIGBUS, unless it was opened with OpenOptions::guard.
// Writers therefore create a new file and rename it over the old one, as dapple does; readers that
// have the old one open keep it.
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

/// What to do with cells that no block covers (rule R7).
enum class Absent : std::uint8_t { error, zero };

struct ReadOptions {
  Absent absent = Absent::error;
  unsigned threads = 1;  // blocks decoded at once; 0: one per processor
};

/// A column of a file that holds no numbers, or not as many in every row: text, vectors of varying
/// length. It is no part of rows() x cols(), and conversions to numbers refuse or leave it out.
struct TextColumn {
  std::string label;
  std::string type;          // as its format calls it, for example "Vector<Text>"
  std::uint64_t before = 0;  // it stands in front of this column of the object
  bool readable = true;      // false: not even as text
};

/// What a format knows of a file beside its cells, for people: "version", "metadata".
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
    using iterator_category = std::input_iterator_tag;

    iterator() = default;
    /// Throws corrupt when the index holds what no block can be. O(1).
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
  /// A note that the format wants the user to see, or "".
  const std::string& note() const noexcept;
  /// The objects in the file, in the words of its format ("[3][4]f32"), at most the first 1000;
  /// none in formats that hold just one.
  const std::vector<std::string>& contents() const noexcept;
  /// Length of the file in bytes.
  std::uint64_t bytes() const noexcept;
  IndexOrigin index_origin() const noexcept;
  BlockCounts counts() const;

  /// Blocks that hold cells, in file order.
  BlockRange blocks() const noexcept;

  /// The tiling, when the blocks form a regular one.
  std::optional<Grid> grid() const noexcept;

  // `block` and `tile` are inlined always: only then can what is known leave a caller's loop.

  /// The block stored at exactly this position. Throws absent; corrupt when the index does not
  /// agree with the block's header (rule 2.6). Regular tilings O(1), any other O(log n).
  [[gnu::always_inline]] Block block(BlockPos pos) const {
    const detail::KnownPlaces& known = hot_->known();
    const TileShape tile = known.tile;
    // What is no first cell of a tile is taken for a row behind all tiles: no branch, as below.
    const std::uint64_t beside = pos.rx % tile.rows | pos.cx % tile.cols;
    const std::uint64_t i = pos.rx / tile.rows | -std::uint64_t{beside != 0};
    const std::uint64_t j = pos.cx / tile.cols;
    std::uint64_t number = i * known.even_cols + j;
    detail::Place place = known.of_even_tile(i, j);
    if (place.tag == detail::Place::kUnknown) [[unlikely]] {
      if (i < known.rows && j < known.cols) {
        number = i * known.cols + j;
        place = other_tile(known, i, j);
      } else {
        // Only what differs is taken over: the rest then takes no register in a caller's loop.
        const Block other = block_at(pos);
        detail::keep(other.number_);
        number = other.number_;
        place = other.place_;
      }
    }
    return Block(*hot_, number, place, tile);
  }
  /// The same, but nothing where none is stored at that position. Throws corrupt.
  std::optional<Block> find_block(BlockPos pos) const;

  /// The block that covers a cell; nothing where no block does. Throws out_of_range for a cell
  /// outside the object, corrupt. Regular tilings O(1), any other O(log n).
  std::optional<Block> find_cover(std::uint64_t row, std::uint64_t col) const;

  /// Tile (i, j) of the grid. Throws invalid_argument without one, out_of_range, corrupt as
  /// `block`. O(1).
  [[gnu::always_inline]] Block tile(std::uint64_t i, std::uint64_t j) const {
    const detail::KnownPlaces& known = hot_->known();
    const TileShape tile = known.tile;
    std::uint64_t number = i * known.even_cols + j;
    detail::Place place = known.of_even_tile(i, j);
    if (place.tag == detail::Place::kUnknown) [[unlikely]] {
      number = i * known.cols + j;
      place = other_tile(known, i, j);
    }
    return Block(*hot_, number, place, tile);
  }

  /// Columns that can only be shown, in the order of the file. Most formats have none.
  std::span<const TextColumn> text_columns() const noexcept;
  /// Calls `take` for each of these rows of text column `k`, in order. Throws out_of_range,
  /// corrupt; unsupported when it is not readable.
  void read_text(std::size_t k, Range rows, const TakeText& take) const;

  /// What the format has to say beside rows, columns and cells; most have nothing. Throws corrupt.
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
  DAPPLE_PURE Block block_at(BlockPos pos) const;
  void read_to(const Region& region, void* out, std::size_t size, std::size_t row_stride,
               ValueType type, const ReadOptions& options) const;

  std::shared_ptr<const detail::Store> store_;

 private:
  // A tile that does not lie evenly, was not touched, or not when the caller's loop began.
  detail::Place other_tile(const detail::KnownPlaces& known, std::uint64_t i,
                           std::uint64_t j) const {
    detail::Place place = known.of_uneven_tile(i, j);
    if (place.tag == detail::Place::kUnknown) [[unlikely]] {
      place = hot_->known_now().of_tile(i, j);
      if (place.tag == detail::Place::kUnknown) place = touch_tile(i, j);
      detail::keep(place.tag);
    }
    return place;
  }
  DAPPLE_PURE detail::Place touch_tile(std::uint64_t i, std::uint64_t j) const;
  const detail::HotStore* hot_;  // store_ as what tile() needs
};

}  // namespace dapple
