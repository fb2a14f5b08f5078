// Writing a matrix or a frame tile by tile, in any order, from any number of threads.
//
//   auto w = dapple::MatrixWriter::create("m.dbdf", rows, cols, dapple::ValueType::f64);
//   w.put<double>({0, 0}, {values, 256, 256});
//   w.finish();
//
// Nothing appears at the destination before finish(), and then all of it at once. Without finish()
// the destructor leaves no file. A writer that was moved from can only be destroyed or assigned to;
// one that is assigned to leaves no file, either, unless it was finished. Memory: the blocks being
// written, and 64 bytes for each block already written.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
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
  bool off_grid = false;   // `put` takes blocks of any place and size, not only tiles
  /// The user's attributes, a JSON object in UTF-8: at most a mebibyte, and 64 objects and arrays
  /// in each other. Empty: those of what is copied, if anything is; "{}": none. `plain` leaves them
  /// out.
  std::string attributes{};
  /// The names of rows, and of the columns of a matrix; a frame's columns have labels. Null: those
  /// of what is copied, if anything is; of size 0: none. `plain` leaves them out.
  std::shared_ptr<const Names> row_names{}, col_names{};
};

/// The tile shape of dense objects when none is given: about 512 KiB of f64, never larger than the
/// object.
TileShape default_tile(std::uint64_t rows, std::uint64_t cols) noexcept;

/// The same of sparse objects that store `stored` values: a band of whole rows, or of 65,536
/// columns where there are more, with about a mebibyte of entries. `create` assumes a value in a
/// hundred cells where `Storage::csr` is asked for.
TileShape default_sparse_tile(std::uint64_t rows, std::uint64_t cols, double stored,
                              ValueType value_type) noexcept;

/// A row-major rectangle of the caller's values, rows `row_stride` values apart (0: no gap).
template <Value T>
struct DenseRef {
  const T* data = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::size_t row_stride = 0;
};

/// A sparse rectangle of the caller's values in three arrays, such as `Csr` has. The columns of a
/// row may be in any order, but none twice.
template <Value T, class Col = std::uint32_t, class Ptr = std::uint64_t>
struct CsrRef {
  static_assert(std::is_unsigned_v<Col> && (sizeof(Col) == 4 || sizeof(Col) == 8));
  static_assert(std::is_unsigned_v<Ptr> && (sizeof(Ptr) == 4 || sizeof(Ptr) == 8));
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  /// rows + 1 positions, which count from the first one; or nothing, of no rows.
  std::span<const Ptr> row_ptr;
  std::span<const Col> col_idx;
  std::span<const T> values;

  /// Rows that were read from a region of `cols` columns.
  static CsrRef of(const Csr<T, Col>& csr,
                   std::uint64_t cols) noexcept requires std::same_as<Ptr, std::uint64_t> {
    const std::size_t rows = csr.row_ptr.empty() ? 0 : csr.row_ptr.size() - 1;
    return {rows,
            cols,
            {csr.row_ptr.data(), csr.row_ptr.size()},
            {csr.col_idx.data(), csr.col_idx.size()},
            {csr.values.data(), csr.values.size()}};
  }
};

/// What a published file contains.
struct WriteSummary {
  BlockCounts counts;
  std::uint64_t bytes = 0;
};

namespace detail {
class BlockWriter;

/// A CsrRef of types that are known when the program runs.
struct CsrArrays {
  template <Value T, class Col, class Ptr>
  explicit CsrArrays(const CsrRef<T, Col, Ptr>& r) noexcept
      : rows(r.rows),
        cols(r.cols),
        row_ptr(r.row_ptr.data()),
        col_idx(r.col_idx.data()),
        values(r.values.data()),
        row_ptr_size(r.row_ptr.size()),
        col_idx_size(r.col_idx.size()),
        values_size(r.values.size()),
        ptr_bytes(sizeof(Ptr)),
        col_bytes(sizeof(Col)),
        type(value_type_of<T>()) {}

  std::uint64_t rows, cols;
  const void *row_ptr, *col_idx, *values;
  std::uint64_t row_ptr_size, col_idx_size, values_size;
  std::uint8_t ptr_bytes, col_bytes;
  ValueType type;
};
}  // namespace detail

/// What both writers share. `put` may be called from several threads at once.
class TileWriter {
 public:
  TileWriter(TileWriter&&) noexcept;
  TileWriter& operator=(TileWriter&&) noexcept;
  ~TileWriter();

  /// Writes cells as one block, whose first cell is at `pos`: a tile of the tiling, or with
  /// WriteOptions::off_grid any rectangle. T may be any type, but each value must fit the type of
  /// the object, or of its column, exactly. The caller's memory is free again afterwards. Throws
  /// out_of_range outside the object; invalid_argument for a block that is no tile or without
  /// cells, or with cells at no address, arrays that do not fit together, a cell twice, rows that
  /// overlap in memory, columns of different types, a code without a word, or after `finish`;
  /// type_mismatch; io. Blocks that share a cell are found by `finish`. O(cells), or O(entries) if
  /// they are in order.
  template <Value T>
  void put(BlockPos pos, const DenseRef<T>& cells) {
    put_dense(pos, cells.rows, cells.cols, value_type_of<T>(), cells.data, stride_of(cells), {});
  }
  template <Value T, class Col = std::uint32_t, class Ptr = std::uint64_t>
  void put(BlockPos pos, const CsrRef<T, Col, Ptr>& cells) {
    put_sparse(pos, detail::CsrArrays(cells), {});
  }
  /// `entries` may be in any order, but no cell may be there twice.
  template <Value T>
  void put(BlockPos pos, TileShape shape, std::span<const Triplet<T>> entries);
  /// A block of zeros, which takes a few bytes.
  void put_empty(BlockPos pos, TileShape shape);

  /// Writes a rectangle of any size and place, cut along the tiling: a block for each tile that it
  /// touches, by at most `threads` threads (0: one per processor). Strips of whole rows of a matrix
  /// may end anywhere: rows of a tile wait in memory, all of them in 256 MiB, until the others
  /// come, so that the tiling is regular. Regions of some columns, and of frames, get one that end
  /// where tiles do. Nothing is written for a region without cells. Throws what `put` throws; then
  /// some of the blocks may have been put. O(cells) or O(entries).
  template <Value T>
  void put_region(BlockPos pos, const DenseRef<T>& cells, unsigned threads = 1) {
    put_dense(pos, cells.rows, cells.cols, value_type_of<T>(), cells.data, stride_of(cells),
              threads);
  }
  template <Value T, class Col = std::uint32_t, class Ptr = std::uint64_t>
  void put_region(BlockPos pos, const CsrRef<T, Col, Ptr>& cells, unsigned threads = 1) {
    put_sparse(pos, detail::CsrArrays(cells), threads);
  }
  /// The same of values of `type`, anywhere in memory: cell (r, c) of the region is at byte
  /// r * strides.row + c * strides.col of `cells`. Also throws invalid_argument when they are not
  /// all in `cells`, or `type` is none.
  void put_region(const Region& region, ValueType type, std::span<const std::byte> cells,
                  Strides strides = {}, unsigned threads = 1);

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

 private:
  /// Throws invalid_argument when rows overlap.
  template <Value T>
  static std::size_t stride_of(const DenseRef<T>& cells) {
    if (cells.row_stride == 0) return cells.cols;
    if (cells.row_stride < cells.cols && cells.rows > 1) fail_overlap(cells.cols, cells.row_stride);
    return cells.row_stride;
  }
  [[noreturn]] static void fail_overlap(std::uint64_t cols, std::size_t row_stride);

  /// As one block, or cut along the tiling by this number of threads.
  void put_dense(BlockPos pos, std::uint64_t rows, std::uint64_t cols, ValueType type,
                 const void* data, std::size_t row_stride, std::optional<unsigned> cut);
  void put_sparse(BlockPos pos, const detail::CsrArrays& arrays, std::optional<unsigned> cut);
};

class MatrixWriter : public TileWriter {
 public:
  /// Throws io, invalid_argument for what is no value type, a bad alignment, a tile without cells,
  /// or a destination that exists.
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
