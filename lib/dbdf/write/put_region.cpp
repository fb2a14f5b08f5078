// Rectangles of any size, cut into blocks along the tiling.

#include <algorithm>
#include <cstring>
#include <string>

#include "dapple/writer.h"
#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/dbdf/write/checks.h"

namespace dapple {

using detail::BlockWriter;
using detail::CsrArrays;
using detail::Parts;
using detail::dbdf::CsrCells;
using detail::dbdf::DenseCells;
using detail::dbdf::SparseCell;

namespace {

[[noreturn]] void fail(const std::string& detail) { throw Error(Errc::invalid_argument, detail); }

/// Parts of rows that end where tiles do, and parts of columns that end where strips do.
struct Cuts {
  std::vector<Range> bands, strips;
  Parts parts = Parts::alone;
};

/// REQUIRES a region of the object that is not empty.
Cuts cut(const BlockWriter& writer, const Region& region) {
  Cuts cuts;
  const std::uint64_t height = writer.tile().rows;
  for (std::uint64_t row = region.rows.begin; row < region.rows.end;) {
    const std::uint64_t end = row + std::min(height - row % height, region.rows.end - row);
    cuts.bands.push_back({row, end});
    row = end;
  }
  const auto& strips = writer.column_strips();
  auto strip = std::upper_bound(strips.begin(), strips.end(), region.cols.begin,
                                [](std::uint64_t col, const Range& s) { return col < s.end; });
  for (; strip != strips.end() && strip->begin < region.cols.end; ++strip) {
    cuts.strips.push_back(intersect(*strip, region.cols));
  }
  cuts.parts = Parts::joined;
  return cuts;
}

void require_inside(const BlockWriter& writer, const Region& region) {
  const Range rows{0, writer.schema().rows}, cols{0, writer.schema().cols};
  if (rows.contains(region.rows) && cols.contains(region.cols)) return;
  const auto told = [](const Range& r) {
    return std::to_string(r.begin) + ":" + std::to_string(r.end);
  };
  throw Error(Errc::out_of_range, "rows " + told(region.rows) + ", columns " + told(region.cols) +
                                      " are not inside the " +
                                      detail::extents_text(rows.end, cols.end) + " object");
}

/// The region of `rows` x `cols` cells from `pos` on. Throws out_of_range beyond 2^64.
Region region_of(BlockPos pos, std::uint64_t rows, std::uint64_t cols) {
  if (rows > ~pos.rx || cols > ~pos.cx) {
    throw Error(Errc::out_of_range,
                detail::extents_text(rows, cols) + " cells do not fit after " + detail::text(pos));
  }
  return {{pos.rx, pos.rx + rows}, {pos.cx, pos.cx + cols}};
}

/// True when rows x cols cells that are so far apart end within `room` bytes.
bool within(std::uint64_t rows, std::uint64_t cols, std::size_t size, const Strides& strides,
            std::size_t room) {
  std::uint64_t down = 0, right = 0;
  return detail::multiply(rows - 1, std::uint64_t{strides.row}, down) &&
         detail::multiply(cols - 1, std::uint64_t{strides.col}, right) && size <= room &&
         down <= room - size && right <= room - size - down;
}

std::uint32_t extent(const Range& part) { return static_cast<std::uint32_t>(part.size()); }

/// Puts the cells of one block, or of a part of a tile; the first of them is at `first`.
void put_block(BlockWriter& to, const Region& block, ValueType type, const std::byte* first,
               const Strides& strides, Parts parts) {
  const std::size_t size = size_of(type);
  DenseCells cells{first, type, extent(block.rows), extent(block.cols), strides.row};
  std::vector<std::byte> gathered;  // cells that are not next to each other in their rows
  if (strides.col != size) {
    gathered.resize(std::size_t{cells.rows} * cells.row_bytes());
    std::byte* next = gathered.data();
    for (std::size_t r = 0; r < cells.rows; ++r) {
      for (std::size_t c = 0; c < cells.cols; ++c, next += size) {
        std::memcpy(next, first + r * strides.row + c * strides.col, size);
      }
    }
    cells.data = gathered.data();
    cells.row_step = cells.row_bytes();
  }
  to.put({block.rows.begin, block.cols.begin}, cells, nullptr, parts);
}

void put_cells(BlockWriter& to, const Region& region, const Cuts& cuts, ValueType type,
               const std::byte* first, const Strides& strides, unsigned threads) {
  detail::parallel_for(cuts.bands.size(), threads, [&](std::uint64_t i) {
    const Range& band = cuts.bands[i];
    const std::byte* const row = first + (band.begin - region.rows.begin) * strides.row;
    for (const Range& strip : cuts.strips) {
      put_block(to, {band, strip}, type, row + (strip.begin - region.cols.begin) * strides.col,
                strides, cuts.parts);
    }
  });
}

std::vector<SparseCell> list_of(const CsrCells& cells) {
  std::vector<SparseCell> list;
  list.reserve(cells.stored());
  for (std::uint32_t r = 0; r < cells.rows; ++r) {
    for (std::uint64_t i = cells.row_ptr[r]; i < cells.row_ptr[r + 1]; ++i) {
      list.push_back({r, cells.col_idx[i], detail::load_bits(cells.type, cells.value(i))});
    }
  }
  return list;
}

/// Puts rows whose columns may be in any order, and whose values may be zero.
void put_block(BlockWriter& to, BlockPos pos, const CsrCells& rows, Parts parts) {
  if (to.put_if_clean(pos, rows, parts)) return;
  std::vector<SparseCell> list = list_of(rows);
  to.put(pos, {rows.rows, rows.cols}, rows.type, list, nullptr, parts);
}

/// Item `i` of integers of 4 or 8 bytes.
std::uint64_t item(const void* items, std::size_t bytes, std::uint64_t i) noexcept {
  return bytes == 8 ? static_cast<const std::uint64_t*>(items)[i]
                    : static_cast<const std::uint32_t*>(items)[i];
}

/// Sparse rows of a region, whose columns count from its first.
class Rows {
 public:
  explicit Rows(const CsrArrays& all) : all_(all), first_(ptr(0)) {}

  /// The first entry of a row, or of the one after the last.
  std::uint64_t begin(std::uint64_t row) const noexcept { return ptr(row) - first_; }
  std::uint64_t col(std::uint64_t k) const noexcept {
    return item(all_.col_idx, all_.col_bytes, k);
  }
  /// Columns from entry `k` on; null unless they have 4 bytes.
  const std::uint32_t* narrow_cols(std::uint64_t k) const noexcept {
    return all_.col_bytes == 4 ? static_cast<const std::uint32_t*>(all_.col_idx) + k : nullptr;
  }
  const std::byte* value(std::uint64_t k) const noexcept {
    return static_cast<const std::byte*>(all_.values) + k * size_of(all_.type);
  }
  ValueType type() const noexcept { return all_.type; }

  /// Throws invalid_argument unless the row pointers ascend from the first entry to the last.
  void require_ascending() const {
    const std::uint64_t n = all_.values_size;
    for (std::uint64_t r = 0; r < all_.rows; ++r) {
      if (ptr(r) <= ptr(r + 1) && begin(r + 1) <= n) continue;
      fail("row pointers must ascend by " + std::to_string(n) + " in all, but row " +
           std::to_string(r) + " goes from " + std::to_string(ptr(r)) + " to " +
           std::to_string(ptr(r + 1)));
    }
    if (begin(all_.rows) == n) return;
    fail("row pointers end after " + std::to_string(begin(all_.rows)) + ", but there are " +
         detail::counted(n, "value"));
  }
  /// Throws out_of_range when an entry of these rows is outside.
  void require_columns(std::uint64_t row, std::uint64_t end) const {
    for (; row < end; ++row) {
      for (std::uint64_t k = begin(row); k < begin(row + 1); ++k) {
        if (col(k) < all_.cols) continue;
        throw Error(Errc::out_of_range, "entry " + detail::text({row, col(k)}) +
                                            " is outside the rows of " +
                                            detail::counted(all_.cols, "cell"));
      }
    }
  }

 private:
  std::uint64_t ptr(std::uint64_t row) const noexcept {
    return item(all_.row_ptr, all_.ptr_bytes, row);
  }

  const CsrArrays& all_;
  const std::uint64_t first_;
};

/// The entries of a band that are in one strip.
struct Dealt {
  std::vector<std::uint64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx{};
  std::vector<std::byte> values{};
};

/// Deals the entries of a band, whose first row is `row` of `rows`, to strips.
std::vector<Dealt> deal(const Rows& rows, std::uint64_t row, std::uint64_t count,
                        const std::vector<Range>& strips) {
  std::vector<Dealt> dealt(strips.size());
  for (std::uint64_t r = row; r < row + count; ++r) {
    std::size_t strip = 0;
    for (std::uint64_t k = rows.begin(r), end = rows.begin(r + 1); k < end; ++k) {
      const std::uint64_t col = strips.front().begin + rows.col(k);
      if (!strips[strip].contains(col)) {
        const auto found =
            std::upper_bound(strips.begin(), strips.end(), col,
                             [](std::uint64_t c, const Range& s) { return c < s.end; });
        strip = static_cast<std::size_t>(found - strips.begin());
      }
      Dealt& to = dealt[strip];
      to.col_idx.push_back(static_cast<std::uint32_t>(col - strips[strip].begin));
      to.values.insert(to.values.end(), rows.value(k), rows.value(k + 1));
    }
    for (Dealt& to : dealt) to.row_ptr.push_back(to.col_idx.size());
  }
  return dealt;
}

/// Puts a band, whose first row is `row` of `rows`, in a block of each strip.
void put_band(BlockWriter& to, const Range& band, const Cuts& cuts, std::uint64_t row,
              const Rows& rows) {
  const std::vector<Range>& strips = cuts.strips;
  rows.require_columns(row, row + band.size());
  const std::uint64_t first = rows.begin(row);
  if (const auto* const cols = rows.narrow_cols(first); cols && strips.size() == 1) {
    std::vector<std::uint64_t> row_ptr;  // the rest is put where it is
    row_ptr.reserve(band.size() + 1);
    for (std::uint64_t r = row; r <= row + band.size(); ++r) {
      row_ptr.push_back(rows.begin(r) - first);
    }
    put_block(
        to, {band.begin, strips[0].begin},
        {row_ptr.data(), cols, rows.value(first), rows.type(), extent(band), extent(strips[0])},
        cuts.parts);
    return;
  }
  const std::vector<Dealt> dealt = deal(rows, row, band.size(), strips);
  for (std::size_t i = 0; i < strips.size(); ++i) {
    put_block(to, {band.begin, strips[i].begin},
              {dealt[i].row_ptr.data(), dealt[i].col_idx.data(), dealt[i].values.data(),
               rows.type(), extent(band), extent(strips[i])},
              cuts.parts);
  }
}

/// Throws invalid_argument unless the arrays have the lengths that go together.
void require_lengths(const CsrArrays& arrays) {
  const bool none = arrays.rows == 0 && arrays.row_ptr_size == 0;  // a Csr that is still empty
  const bool enough = none || (arrays.row_ptr_size > 0 && arrays.row_ptr_size - 1 == arrays.rows);
  if (!enough || arrays.col_idx_size != arrays.values_size) {
    fail(detail::counted(arrays.rows, "row") + (arrays.rows == 1 ? " needs" : " need") +
         " one row pointer more, and as many columns as values, but there are " +
         detail::counted(arrays.row_ptr_size, "row pointer") + ", " +
         detail::counted(arrays.col_idx_size, "column") + " and " +
         detail::counted(arrays.values_size, "value"));
  }
}

/// REQUIRES arrays whose lengths go together.
void put_arrays(BlockWriter& to, const Region& region, const Cuts& cuts, const CsrArrays& arrays,
                unsigned threads) {
  const Rows rows(arrays);
  rows.require_ascending();
  detail::parallel_for(cuts.bands.size(), threads, [&](std::uint64_t i) {
    put_band(to, cuts.bands[i], cuts, cuts.bands[i].begin - region.rows.begin, rows);
  });
}

/// Those of a region that is cut along the tiling, or of a block, which has none. Throws unless the
/// one is inside the object, and the other a tile, or may be any rectangle.
Cuts cuts_of(const BlockWriter& to, const Region& region, bool cuts) {
  if (cuts) {
    require_inside(to, region);
    return region.empty() ? Cuts() : cut(to, region);
  }
  to.require_block({region.rows.begin, region.cols.begin}, region.rows.size(), region.cols.size());
  return {{region.rows}, {region.cols}};
}

}  // namespace

void TileWriter::fail_overlap(std::uint64_t cols, std::size_t row_stride) {
  fail("rows of " + detail::counted(cols, "value") + " overlap when they are " +
       detail::counted(row_stride, "value") + " apart");
}

void TileWriter::put_dense(BlockPos pos, std::uint64_t rows, std::uint64_t cols, ValueType type,
                           const void* data, std::size_t row_stride, std::optional<unsigned> cut) {
  const Region region = region_of(pos, rows, cols);
  if (data == nullptr && !region.empty()) fail("the cells are nowhere: their address is null");
  const Cuts cuts = cuts_of(*impl_, region, cut.has_value());
  put_cells(*impl_, region, cuts, type, static_cast<const std::byte*>(data),
            {row_stride * size_of(type), size_of(type)}, cut.value_or(1));
}

void TileWriter::put_sparse(BlockPos pos, const CsrArrays& arrays, std::optional<unsigned> cut) {
  const Region region = region_of(pos, arrays.rows, arrays.cols);
  require_lengths(arrays);  // before a cut of 2^64 rows
  const Cuts cuts = cuts_of(*impl_, region, cut.has_value());
  if (!region.empty()) put_arrays(*impl_, region, cuts, arrays, cut.value_or(1));
}

void TileWriter::put_empty(BlockPos pos, TileShape shape) {
  cuts_of(*impl_, region_of(pos, shape.rows, shape.cols), false);
  impl_->put_empty(pos, shape);
}

void TileWriter::put_region(const Region& region, ValueType type, std::span<const std::byte> cells,
                            Strides strides, unsigned threads) {
  require_inside(*impl_, region);
  if (region.empty()) return;
  detail::require_known(type);
  const std::size_t size = size_of(type);
  if (strides.col == 0) strides.col = size;
  if (strides.row == 0) strides.row = region.cols.size() * strides.col;
  if (!within(region.rows.size(), region.cols.size(), size, strides, cells.size())) {
    fail("with these strides, " + detail::extents_text(region.rows.size(), region.cols.size()) +
         " values of " + std::string(name(type)) + " are not all in " +
         detail::counted(cells.size(), "byte"));
  }
  // After that: a cut of 2^64 rows takes memory, and their cells are not there.
  put_cells(*impl_, region, cut(*impl_, region), type, cells.data(), strides, threads);
}

}  // namespace dapple
