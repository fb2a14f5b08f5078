// Writing a matrix or a frame tile by tile, in any order, from any number of threads.
//
//   auto w = dapple::MatrixWriter::create("m.dbdf", rows, cols, dapple::ValueType::f64);
//   w.put<double>({0, 0}, {values, 256, 256});
//   w.finish();
//
// Nothing appears at the destination before finish(), and then all of it at once. Without finish()
// the destructor leaves no file. Memory: the blocks being written, and 64 bytes for each block
// already written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dapple/block.h"
#include "dapple/column.h"
#include "dapple/matrix.h"
#include "dapple/names.h"

namespace dapple {

/// Which kinds of block the writer may choose from, besides empty ones.
enum class KindChoice : std::uint8_t { automatic, dense, csr, coo };

/// Whether blocks are packed where that makes them smaller. Other programs cannot read packed
/// blocks, and say so; writing the file once more without packing gives them back bit for bit.
enum class Packing : std::uint8_t {
  none,   // the published format
  fast,   // bits: read as fast as plain blocks, single rows and cells, too
  small,  // and zstd where that is smaller
};

struct WriteOptions {
  std::optional<TileShape> tile{};          // unset: as below
  KindChoice kind = KindChoice::automatic;  // automatic: the smallest
  bool narrow = true;        // store a block in a smaller value type if that loses nothing
  std::uint32_t align = 64;  // dense payloads start at a multiple of this power of two, <= 2 MiB
  Packing pack = Packing::none;
  bool plain = false;      // no index, statistics or padding: only the published format
  bool overwrite = false;  // replace an existing file
  bool sync = true;        // fsync before publishing; false is for throw-away files
  /// The user's attributes, a JSON object in UTF-8: at most a mebibyte, and 64 objects and arrays
  /// in each other. Empty: those of what is copied, if anything is; "{}": none. Not with `plain`.
  std::string attributes{};
  /// The names of rows, and of the columns of a matrix; a frame's columns have labels. Null: those
  /// of what is copied, if anything is; of size 0: none. Not with `plain`.
  std::shared_ptr<const Names> row_names{}, col_names{};
};

/// The tile shape of dense objects when none is given: about 512 KiB of f64, never larger than the
/// object.
TileShape default_tile(std::uint64_t rows, std::uint64_t cols) noexcept;

/// The same of sparse objects that store so many values: a band of whole rows, or of 65,536 columns
/// where there are more, with about a mebibyte of entries. `create` assumes a value in a hundred
/// cells where `Storage::csr` is asked for.
TileShape default_sparse_tile(std::uint64_t rows, std::uint64_t cols, double stored,
                              ValueType value_type) noexcept;

/// A row-major rectangle of the caller's values, rows `row_stride` values apart (0: no gap).
template <Value T>
struct DenseRef {
  const T* data = nullptr;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::size_t row_stride = 0;
};

/// A sparse rectangle of the caller's values in three arrays. The columns of a row may be in any
/// order, but none twice.
template <Value T>
struct CsrRef {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::span<const std::uint64_t> row_ptr;  // rows + 1 positions
  std::span<const std::uint32_t> col_idx;
  std::span<const T> values;
};

/// What a published file contains.
struct WriteSummary {
  BlockCounts counts;
  std::uint64_t bytes = 0;
};

namespace detail {
class BlockWriter;
}

/// What both writers share. `put` may be called from several threads at once.
class TileWriter {
 public:
  TileWriter(TileWriter&&) noexcept;
  TileWriter& operator=(TileWriter&&) noexcept;
  ~TileWriter();

  /// Writes the block whose first cell is `pos`. T may be any type, but each value must fit the
  /// type of the object, or of its column, exactly. The caller's memory is free again afterwards.
  /// Throws out_of_range outside the object; invalid_argument for a block without cells, arrays
  /// that do not fit together, a cell twice, rows that overlap in memory, columns of different
  /// types, a code without a word, or after `finish`; type_mismatch; io. Blocks that share a cell
  /// are found by `finish`. O(cells), or O(entries) if they are in order.
  template <Value T>
  void put(BlockPos pos, DenseRef<T> cells);
  template <Value T>
  void put(BlockPos pos, CsrRef<T> cells);
  /// `entries` may be in any order, but no cell may be there twice.
  template <Value T>
  void put(BlockPos pos, TileShape shape, std::span<const Triplet<T>> entries);
  /// A block of zeros, which takes a few bytes.
  void put_empty(BlockPos pos, TileShape shape);

  /// The tiling that `create` chose, and where it cuts the columns; in a frame, also where the
  /// value type changes and, in tall tiles, around columns with a dictionary. An object without
  /// rows has no strips. The reference lives as long as the writer.
  TileShape tile() const noexcept;
  const std::vector<Range>& column_strips() const noexcept;

  /// Makes cells that were never put zeros, in empty blocks (R7), writes the index, syncs and
  /// publishes. No `put` may be running. Throws io; invalid_argument when two blocks share a cell,
  /// when cells that were never put would take more than 2^24 empty blocks, when the destination
  /// exists and may not be replaced, and on a second call. After an exception nothing is published,
  /// unless only the folder could not be synced.
  WriteSummary finish();

 protected:
  explicit TileWriter(std::unique_ptr<detail::BlockWriter> impl) noexcept;
  std::unique_ptr<detail::BlockWriter> impl_;
};

class MatrixWriter : public TileWriter {
 public:
  /// Throws io, invalid_argument for a bad alignment, a tile without cells, or a destination that
  /// exists.
  static MatrixWriter create(const std::filesystem::path& path, std::uint64_t rows,
                             std::uint64_t cols, ValueType value_type,
                             const WriteOptions& options = {}, Storage storage = Storage::dense);

 private:
  using TileWriter::TileWriter;
};

class FrameWriter : public TileWriter {
 public:
  /// Like MatrixWriter::create; also throws invalid_argument for a label of more than 65535 bytes,
  /// and, unless `plain` leaves meanings out, for one that the column's value type cannot have,
  /// words without a dictionary, and a mark of missing cells that is no value of the type.
  static FrameWriter create(const std::filesystem::path& path, std::uint64_t rows,
                            std::vector<Column> columns, const WriteOptions& options = {});

 private:
  using TileWriter::TileWriter;
};

}  // namespace dapple
