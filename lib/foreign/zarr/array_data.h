// The cells of one Zarr array, of which a slice of two dimensions is read.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/array.h"
#include "dapple/region.h"
#include "lib/base/serial_number.h"
#include "lib/foreign/zarr/hierarchy.h"
#include "lib/foreign/zarr/metadata.h"

namespace dapple::detail::zarr {

/// What is read of an array: all of two dimensions, and one index of each other.
struct Slice {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  Extents index;             // one for each dimension
  std::size_t rows = 0;      // the dimension of the rows
  std::size_t cols = kNone;  // of the columns; arrays of one dimension have one column
};

/// Which chunk of the slice: down and across.
struct ChunkPlace {
  std::uint64_t i, j;
  friend auto operator<=>(const ChunkPlace&, const ChunkPlace&) = default;
};

/// Decoded cells of a chunk.
struct Cells {
  std::shared_ptr<const void> memory;
  const std::byte* first = nullptr;  // cell (0, 0) of the slice
  std::size_t row_step = 0, col_step = 0;
};

/// Any thread.
class ArrayData {
 public:
  /// REQUIRES a slice that fits the array. Throws unsupported for more chunks than can be counted.
  ArrayData(std::shared_ptr<const Keys> keys, std::string path, ArrayMetadata metadata,
            Slice slice);
  ~ArrayData();
  ArrayData(const ArrayData&) = delete;
  ArrayData& operator=(const ArrayData&) = delete;

  const std::string& path() const noexcept { return path_; }
  const ArrayMetadata& metadata() const noexcept { return metadata_; }
  std::uint64_t rows() const noexcept { return extent(metadata_.shape, slice_.rows); }
  std::uint64_t cols() const noexcept { return extent(metadata_.shape, slice_.cols); }
  std::uint64_t chunk_rows() const noexcept { return extent(metadata_.chunk, slice_.rows); }
  std::uint64_t chunk_cols() const noexcept { return extent(metadata_.chunk, slice_.cols); }
  ValueType type() const noexcept { return metadata_.type.read_as; }

  /// Chunk (i, j) of the slice; nothing when all of it is the fill value. `kept`: for the next
  /// time, by the one cache. Throws corrupt, naming the key; io.
  std::optional<Cells> chunk(std::uint64_t i, std::uint64_t j, bool kept) const;
  /// Chunks that will be needed: where they are far away, many are fetched at once, and kept by the
  /// one cache.
  void will_need(std::span<const ChunkPlace> chunks) const noexcept;
  bool fetches() const noexcept { return keys_->fetches(); }
  /// Copies items of an array of one dimension.
  void read(Range items, std::byte* out) const;
  /// Hands out the strings of an array of one dimension. Throws corrupt.
  void read_words(const std::function<void(std::string_view)>& take) const;
  /// Throws corrupt: something is wrong with what the key holds.
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

 private:
  using Bytes = Array<std::byte>;
  struct Place {  // of a chunk inside of a shard
    std::uint64_t offset, bytes;
  };
  using ShardIndex = std::vector<Place>;
  struct OpenShard {
    std::shared_ptr<const ByteSource> file;  // null: there is none
    ShardIndex index;
  };

  static std::uint64_t extent(const Extents& of, std::size_t dimension) noexcept {
    return dimension == Slice::kNone ? 1 : of[dimension];
  }
  Extents place_of(std::uint64_t i, std::uint64_t j) const;
  std::string key_of(const Extents& place) const;
  void take_words(const Bytes& chunk, std::uint64_t wanted, const std::string& key,
                  const std::function<void(std::string_view)>& take) const;
  std::optional<Bytes> unpacked(ChunkPlace chunk, std::string& key) const;
  std::shared_ptr<const Bytes> load(std::uint64_t i, std::uint64_t j) const;
  std::optional<Bytes> stored_chunk(const Extents& place, std::string& key) const;
  std::optional<Bytes> shard_part(const Extents& place, std::string& key) const;
  std::shared_ptr<const OpenShard> open_shard(const Extents& shard, const std::string& key) const;
  ShardIndex read_index(const std::string& key, const ByteSource& file) const;
  void check_overlap(const std::string& key, const ShardIndex& index, Range room) const;
  void undo_steps(Bytes& bytes, const std::string& key) const;
  void undo_types(Bytes& bytes) const;

  std::shared_ptr<const Keys> keys_;
  std::string path_;
  ArrayMetadata metadata_;
  Slice slice_;
  const Unpacker unpacker_;
  std::uint64_t chunks_across_ = 1;
  std::size_t first_ = 0, row_step_ = 0, col_step_ = 0;  // bytes in a decoded chunk
  const std::uint64_t number_ = serial_number(), index_number_ = serial_number();  // in the cache
};

/// The array at a path. Throws corrupt when there is none, or of another rank; unsupported.
std::shared_ptr<const ArrayData> open_vector(const Hierarchy& hierarchy, const std::string& path);

}  // namespace dapple::detail::zarr
