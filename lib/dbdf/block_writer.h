// Blocks into a file: placed behind each other from any number of threads, indexed, published.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dapple/writer.h"
#include "lib/dbdf/encode.h"
#include "lib/file.h"
#include "lib/object/index.h"
#include "lib/object/schema.h"

namespace dapple::detail {

class Turn;

/// What becomes of cells that nobody has put: empty blocks cover them (R7), or none does.
enum class Gaps : bool { fill, leave };

class BlockWriter {
 public:
  /// Writes the header. A writer that leaves gaps has no column strips, of which a shape from a
  /// damaged header may ask for any number. Throws io, invalid_argument.
  BlockWriter(const std::filesystem::path& path, Schema schema, const WriteOptions& options,
              Gaps gaps = Gaps::fill);

  const Schema& schema() const noexcept { return schema_; }
  TileShape tile() const noexcept { return tile_; }
  const std::vector<Range>& column_strips() const noexcept { return strips_; }

  /// Any thread. `cells` may have any value type that holds the same values as the object's. With
  /// a turn, the block takes its place in the file in that turn.
  void put(BlockPos pos, const dbdf::DenseCells& cells, Turn* turn = nullptr);
  /// Any thread. `cells` in any order and with zeros; the memory is used to sort them.
  void put(BlockPos pos, TileShape shape, ValueType type, std::span<dbdf::SparseCell> cells);
  /// The same without a look at the cells. REQUIRES that they are as SparseCells says, inside the
  /// block, and of the object's type there.
  void put(BlockPos pos, const dbdf::SparseCells& cells, Turn* turn = nullptr);
  void put_empty(BlockPos pos, TileShape shape);

  /// A block as its bytes are, position included; `entry` describes them.
  void put_bytes(const Entry& entry, std::span<const std::byte> item);

  /// One thread, once, after every put.
  WriteSummary finish();

 private:
  ValueType declared_type(BlockPos pos, TileShape shape) const;
  template <class Cells>
  void write_planned(BlockPos pos, const Cells& cells, ValueType declared, Turn* turn);
  void write_in_place(BlockPos pos, const dbdf::DenseCells& cells, ValueType declared, Turn* turn);
  void write_item(Entry entry, std::span<const std::byte> item, Turn* turn = nullptr);
  std::uint64_t reserve(Entry& entry, Turn* turn);
  void append_small(Entry& entry, std::span<const std::byte> item);
  template <class Bytes>
  void write_at(std::uint64_t offset, Bytes bytes);
  static std::uint64_t padding_in_front_of(std::uint64_t item, std::uint64_t align);
  void append_padding(std::uint64_t bytes);
  void flush_tail();
  void write_index(const BlockIndex& index);
  std::vector<std::byte> take_scratch(std::size_t bytes);
  void return_scratch(std::vector<std::byte> scratch);

  Schema schema_;
  WriteOptions options_;
  Gaps gaps_;
  TileShape tile_;
  std::vector<Range> strips_;
  OutputFile file_;

  std::atomic<bool> finished_{false};  // `finish` was called
  std::atomic<bool> failed_{false};    // a write failed: the file has a hole

  std::mutex mutex_;             // guards what follows
  std::uint64_t end_ = 0;        // bytes of the file that are taken
  EntryTable entries_;           // in file order
  std::vector<std::byte> tail_;  // the last bytes, not written yet: [end_ - tail_.size(), end_)
  std::vector<std::vector<std::byte>> scratch_;
};

}  // namespace dapple::detail
