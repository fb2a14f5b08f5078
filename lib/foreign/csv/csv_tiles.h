// The cells of delimited text as blocks of a file that is being written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/dbdf/write/block_writer.h"
#include "lib/foreign/csv/csv_cells.h"
#include "lib/foreign/csv/csv_scan.h"
#include "lib/foreign/text/import.h"

namespace dapple::detail::csv {

/// Collects the cells of rows until a row of tiles is full. Columns are grouped as the plan says;
/// one that turns out to be wider is in blocks of its own from then on.
class Tiles {
 public:
  /// All three must outlive this.
  Tiles(texts::Import& import, const ScanInput& input, const Plan& plan);

  /// Adds rows; `offsets` are those of their starts. Throws io, and type_mismatch for a number of a
  /// given type that the matrix cannot hold.
  void append(std::vector<ColumnCells>& cells, const std::vector<std::uint64_t>& offsets);
  /// Puts what is left.
  void finish();

  /// True when numbers of the column were put as integers, or as floats.
  bool put_integers(std::size_t col) const noexcept { return integers_[col]; }
  bool put_floats(std::size_t col) const noexcept { return floats_[col]; }

 private:
  std::size_t rows() const noexcept { return cells_.empty() ? 0 : cells_.front().size(); }
  void start();
  void put();
  void put_run(Range cols, ValueType type);
  void settle(std::size_t col);
  ValueType type_of(std::size_t col) const;
  ValueType common_type() const;
  [[noreturn]] void fail_cell(std::size_t row, std::size_t col, ValueType type) const;
  void gather(std::size_t col, ValueType from, ValueType to, std::byte* out, std::size_t step);

  texts::Import& import_;
  const ScanInput& in_;
  const Plan& plan_;
  BlockWriter* writer_ = nullptr;  // once the shape of tiles is known
  std::uint64_t tile_rows_;
  std::uint64_t first_row_ = 0;         // of this row of tiles,
  std::vector<std::uint64_t> offsets_;  // and where its rows are
  std::vector<ColumnCells> cells_;
  std::vector<ValueType> types_;  // that they are put as
  std::vector<bool> integers_, floats_;
  std::vector<std::byte> memory_;
};

}  // namespace dapple::detail::csv
