// Writing blocks to a file, from any number of threads: checks them, chooses the smallest
// representation, and places them in the file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "dapple/writer.h"
#include "lib/base/pool.h"
#include "lib/dbdf/row_directory.h"
#include "lib/dbdf/write/block_plan.h"
#include "lib/dbdf/write/item_file.h"
#include "lib/dbdf/write/open_tiles.h"
#include "lib/dbdf/write/sparse_cells.h"
#include "lib/io/piece_buffer.h"
#include "lib/object/schema.h"

namespace dapple::detail {

/// Whether empty blocks are written for cells that were never put (R7).
enum class Gaps : bool { fill, leave };

/// Whether rows of a tile become a block of their own, or wait for the rest of it.
enum class Parts : bool { alone, joined };

class BlockWriter {
 public:
  /// Writes the header. A writer that leaves gaps has no column strips: a damaged header may have a
  /// shape with any number of them. Throws io, invalid_argument.
  BlockWriter(const std::filesystem::path& path, Schema schema, const WriteOptions& options,
              Gaps gaps = Gaps::fill);
  /// The same into a file that was created for it.
  BlockWriter(OutputFile file, Schema schema, const WriteOptions& options, Gaps gaps = Gaps::fill);

  const Schema& schema() const noexcept { return schema_; }
  TileShape tile() const noexcept { return tile_; }
  const std::vector<Range>& column_strips() const noexcept { return strips_; }

  /// From now on the cells are those of this file, which is to blame for what is wrong with them.
  void take_from(std::string file) { source_ = std::move(file); }

  /// Throws what `put` throws before it looks at cells, and invalid_argument for
  /// one that is no tile, unless WriteOptions::off_grid is set.
  void require_block(BlockPos pos, std::uint64_t rows, std::uint64_t cols) const;

  /// Any thread. Cells of any value type whose values are exact in the object's type. With a turn,
  /// the block is placed in the file in that turn.
  void put(BlockPos pos, const dbdf::DenseCells& cells, Turn* turn = nullptr,
           Parts parts = Parts::alone);
  /// Any thread. `cells` may be in any order and may be zero; they are sorted in place.
  void put(BlockPos pos, TileShape shape, ValueType type, std::span<dbdf::SparseCell> cells,
           Turn* turn = nullptr, Parts parts = Parts::alone);
  /// Any thread. Writes nothing and returns false unless the rows meet the conditions of CsrCells,
  /// are inside the block, and their values are exact in the object's type.
  bool put_if_clean(BlockPos pos, const dbdf::CsrCells& cells, Parts parts = Parts::alone);
  /// The same without checks. REQUIRES rows that meet the conditions of CsrCells, are inside the
  /// block, and have the object's type.
  void put(BlockPos pos, const dbdf::CsrCells& cells, Turn* turn = nullptr,
           Parts parts = Parts::alone);
  void put_empty(BlockPos pos, TileShape shape);

  /// Copies all blocks of a file unchanged, before any other is put. Its header must be as long as
  /// this one's; `blocks` are in file order, `stats` are theirs.
  void take_over(const ByteSource& from, EntryTable blocks, std::vector<BlockStats> stats);
  /// The row counts of a block that was copied so.
  void take_over(const Entry& block, const RowCounts& counts);
  /// Reserves memory for what will be known about that many blocks.
  void expect(std::uint64_t blocks) { file_.expect(blocks); }
  /// Writes the bytes of a block, including its position, as they are; `entry` describes them.
  void put_bytes(const Entry& entry, std::span<const std::byte> item);

  /// A hint of the caller's, which `finish` puts after the others.
  void add_hint(std::vector<std::byte> content) { hint_ = std::move(content); }
  /// One thread, once, after every put.
  WriteSummary finish();

  // For objects of which the rows, and the types and meanings of columns, are known only once all
  // is put.

  /// From now on the cells of a column are put as this type; for all columns of a matrix.
  void declare(std::uint64_t col, ValueType type);
  /// As `finish`; this is the object after all. REQUIRES the kind, the columns and the labels that
  /// the writer was made with, and types that hold every value that was put. Gives the index.
  BlockIndex finish_as(Schema schema);
  /// See `OutputFile`, afterwards.
  Descriptor take_unnamed() noexcept { return file_.take_unnamed(); }

 private:
  /// Of blocks that are copied as bytes, none are known.
  bool keeps_stats() const noexcept { return !options_.plain && gaps_ == Gaps::fill; }
  bool is_part(Parts parts, BlockPos pos, TileShape shape) const;
  std::uint64_t rows_of_tile(std::uint64_t row) const noexcept;
  template <class Cells>
  void keep_part(BlockPos pos, const Cells& cells);
  /// Puts the parts that `take` takes out of `open_tiles_`. An error loses them, which were put.
  void put_parts(const std::function<std::vector<dbdf::TilePart>()>& take);
  void fill_gaps();
  BlockIndex write_index();
  ValueType declared_type(BlockPos pos, TileShape shape) const;
  template <class Cells>
  void require_codes(BlockPos pos, const Cells& cells) const;
  void write_planned(BlockPos pos, const dbdf::DenseCells& cells, ValueType declared, Turn* turn);
  void write_in_place(BlockPos pos, const dbdf::DenseCells& cells, ValueType declared, Turn* turn);
  BlockStats stats_of(const dbdf::DenseCells& cells, ValueType stored) const;
  void write_empty(BlockPos pos, TileShape shape, Turn* turn = nullptr);
  void write_gathered(const Entry& entry, const BlockStats& stats,
                      std::span<const std::byte> header, const dbdf::DenseCells& cells, Turn* turn);
  void write_rows(BlockPos pos, const dbdf::CsrCells& cells, const dbdf::Survey& found,
                  ValueType declared, Turn* turn);
  std::vector<std::byte> take_scratch(std::size_t bytes);

  Schema schema_;
  WriteOptions options_;
  Gaps gaps_;
  TileShape tile_;
  std::vector<Range> strips_;
  dbdf::ItemFile file_;
  dbdf::OpenTiles open_tiles_;
  dbdf::RowDirectoryWriter row_directory_;
  std::vector<std::byte> hint_;
  std::string source_;                 // as `take_from` names it
  std::atomic<bool> finished_{false};  // `finish` was called
  Pool<std::vector<std::byte>> scratch_;
  Pool<PieceBuffer> buffers_;
  Pool<dbdf::ListedRows> rows_;
};

}  // namespace dapple::detail
