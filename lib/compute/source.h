// What writers of any format pull from: a selection of an object's rows and columns, read region
// by region. Rows and columns here count within the selection. All const functions may be called
// from any thread.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dapple/convert.h"
#include "lib/object/store.h"
#include "lib/rows/row_reader.h"

namespace dapple::detail {

class Turn;

/// Rows of the output: columns ascend within a row, no value is positive zero.
struct SourceRows : BandArrays<std::uint64_t> {
  ValueType type =
      ValueType::f64;  // u64: each value as its column's type, in the low bytes of a word
};

class Source {
 public:
  /// Throws out_of_range when the selection leaves the object.
  Source(std::shared_ptr<const Store> store, const Selection& selection,
         const ConvertOptions& options);

  ObjectKind kind() const noexcept { return schema_.kind; }
  /// Rows, columns, labels and types as the output has them.
  const Schema& schema() const noexcept { return schema_; }
  /// Names of a matrix's columns, slots among them, are to be left out.
  bool drops_labels() const noexcept { return options_.drop_labels; }
  /// The names of a matrix's columns for a format that keeps them: those that were given, or its
  /// own, which slots are not; null: none. Throws invalid_argument for another number than there
  /// are columns.
  std::shared_ptr<const Names> names_to_write() const;
  std::uint64_t rows() const noexcept { return schema_.rows; }
  std::uint64_t cols() const noexcept { return schema_.cols; }
  unsigned threads() const noexcept { return options_.threads; }
  /// Cells may be NaN that no block stores.
  bool fills_with_nan() const noexcept { return options_.absent == Absent::nan; }
  const Store& store() const noexcept { return *store_; }

  /// True when these are all cells of the object, with its value types.
  bool is_whole() const noexcept;

  /// Readable text columns of the object, by number; none where columns were chosen.
  const std::vector<std::size_t>& text_columns() const noexcept { return texts_; }
  /// Calls `take` with each of these rows of text column `k` of the object.
  void read_text(std::size_t k, Range rows, const TakeText& take) const;

  /// The column of the object that a column of the output is.
  std::uint64_t object_col(std::uint64_t col) const noexcept;

  /// Copies a region; cells of `out` may have any type that holds the values exactly (R6). Throws
  /// type_mismatch when a value does not fit the output's type (rounded, if that is allowed, but
  /// never wrapped), absent, corrupt. Decodes with `threads`.
  void read(const Region& region, const Target& out, unsigned threads = 1) const;

  /// Copies rows of several columns, each into memory of its own layout and type. Errors as `read`.
  void read_columns(Range rows, std::span<const ColumnBuffer> columns, unsigned threads = 1) const;

  /// Bytes of one row of these columns, every cell as its own column's type, without gaps; 2^64-1
  /// when there are too many to count.
  std::uint64_t packed_row(Range cols) const noexcept;
  std::uint64_t packed_row() const noexcept { return packed_row({0, cols()}); }

  /// Copies a region row after row without gaps, every cell as its own column's type. `out` must
  /// hold region.rows.size() * packed_row(region.cols) bytes.
  void read_packed(const Region& region, std::byte* out, unsigned threads = 1) const;

  /// Calls `take` for pieces of the object that follow each other in row-major order: strips of
  /// whole rows that follow the blocks of the source, or parts of single rows where one alone is
  /// larger than `bytes`. `bytes` bounds a piece in `read_packed` form. Reports progress.
  void for_each_piece(const std::function<void(const Region&)>& take,
                      std::uint64_t bytes = std::uint64_t{4} << 20) const;

  /// Calls take(piece, cells) for the same pieces, read as `read_packed` does. The first of the
  /// cells goes to byte `offset` of a file: they all stand as far from the start of a line as there
  /// (piece_buffer.h says why).
  void for_each_packed(
      std::uint64_t offset,
      const std::function<void(const Region&, std::span<const std::byte>)>& take) const;

  /// Calls take(rows, worker, turn) for bands of the region's rows, from the first to the last and
  /// without those between bands, which are empty; turns come in that order. Values are given as
  /// `type`, or each as its column's type where there is none or a conversion: SourceRows::type
  /// tells. Decodes with `threads`. Throws as `read`.
  /// REQUIRES that a type which is asked for holds all values of the output's.
  using TakeRows = std::function<void(const SourceRows&, unsigned worker, Turn& turn)>;
  void for_each_band(const Region& region, std::optional<ValueType> type,
                     const TakeRows& take) const;

  /// Every cell of the region that is not positive zero, in ascending order of rows, then columns,
  /// many at a time. `bits` holds a value of the output's type. Memory is bounded by what bands of
  /// rows hold.
  void entries(const Region& region, const CellRun::Take& take) const;
  /// The same, cell by cell.
  template <std::invocable<const StoredCell&> F>
  void entries(const Region& region, const F& take) const {
    entries(region, CellRun::Take([&take](std::span<const StoredCell> run) {
              for (const StoredCell& cell : run) take(cell);
            }));
  }

  /// What a region holds, as far as the index tells; no payload is read.
  struct Load {
    double area = 0;           // cells
    double stored = 0;         // values stored, if those of a sparse block lie evenly in it
    double widest_sparse = 0;  // values stored in the largest sparse block that it touches
  };
  Load load(const Region& region) const;

  /// Tells the caller of `convert` how far the work is. One thread at a time.
  void progress(std::uint64_t rows_done) const;

 private:
  /// Throws corrupt for a cell that was read and means no word and no truth value, unless
  /// stored numbers are wanted.
  void require_meant(Range rows, const ColumnBuffer& read) const;
  /// Neighbouring columns of the output that are neighbours in the object too.
  struct Run {
    std::uint64_t begin;  // first column of the output
    Range from;           // columns of the object
  };

  /// Calls `f` with each rectangle of the object that makes up the region, and with the column of
  /// the region at which it starts.
  template <class F>
  void for_each_run(const Region& region, const F& f) const {
    const Range rows{rows_.begin + region.rows.begin, rows_.begin + region.rows.end};
    auto run = std::upper_bound(runs_.begin(), runs_.end(), region.cols.begin,
                                [](std::uint64_t col, const Run& r) { return col < r.begin; });
    if (run != runs_.begin()) --run;
    for (; run != runs_.end() && run->begin < region.cols.end; ++run) {
      const Range out = intersect(region.cols, {run->begin, run->begin + run->from.size()});
      if (out.empty()) continue;
      const std::uint64_t skip = out.begin - run->begin;
      const std::uint64_t from = run->from.begin + skip;
      f(Region{rows, {from, from + out.size()}}, out.begin - region.cols.begin);
    }
  }

  void read_run(const Region& from, const Target& out, unsigned threads) const;
  void read_converted(const Region& from, ValueType stored, const Target& out,
                      unsigned threads) const;
  /// A missing cell among many, and the mark that it gets.
  struct Missing {
    std::size_t at;
    std::uint64_t mark;
  };
  std::optional<std::uint64_t> float_mark(const Column& column) const noexcept;
  std::vector<Missing> take_missing(Range cols, std::uint64_t rows, std::byte* cells) const;
  void convert_values(SourceRows& rows) const;
  [[noreturn]] void fail_value(std::uint64_t row, std::uint64_t col, ValueType type,
                               std::uint64_t bits) const;

  std::shared_ptr<const Store> store_;
  Schema schema_;
  Range rows_;             // of the object
  std::vector<Run> runs_;  // in output order
  std::vector<std::size_t> texts_;
  ConvertOptions options_;
  bool changes_marks_ = false;  // of missing cells, for NaNs
};

}  // namespace dapple::detail
