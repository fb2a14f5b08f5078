#include "lib/dbdf/write/tile_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::dbdf {

void TileRows::clear() {
  row_idx_.clear();
  row_ptr_.assign(1, 0);
  col_idx_.clear();
  values_.clear();
}

void TileRows::append(const SourceRows& band) {
  type_ = band.type;
  const std::uint64_t base = col_idx_.size();
  for (std::uint64_t row = 0; row < band.rows.size(); ++row) {
    if (band.row_ptr[row + 1] == band.row_ptr[row]) continue;
    row_idx_.push_back(band.rows.begin + row);
    row_ptr_.push_back(base + band.row_ptr[row + 1]);
  }
  const std::uint64_t count = band.entries();
  col_idx_.insert(col_idx_.end(), band.col_idx.data(), band.col_idx.data() + count);
  values_.insert(values_.end(), band.values.data(),
                 band.values.data() + count * size_of(band.type));
}

namespace {

/// Finds the column strips of ascending columns, mostly the same one or the next.
class StripFinder {
 public:
  StripFinder(const Range* first, std::uint64_t count) noexcept : first_(first), count_(count) {}

  /// REQUIRES a column in one of the strips, not below that of the last call.
  std::uint64_t find(std::uint64_t col) noexcept {
    if (col < first_[strip_].end) return strip_;
    if (col < first_[++strip_].end) return strip_;
    const Range* const found =
        std::upper_bound(first_ + strip_, first_ + count_, col,
                         [](std::uint64_t c, const Range& strip) { return c < strip.end; });
    return strip_ = static_cast<std::uint64_t>(found - first_);
  }
  /// Of ascending columns, the index from which on they are beyond that strip. REQUIRES that column
  /// `k` is in it.
  std::uint64_t end_of_piece(const std::uint64_t* cols, std::uint64_t k,
                             std::uint64_t n) const noexcept {
    const std::uint64_t end = first_[strip_].end;
    if (cols[n - 1] < end) return n;
    do ++k;
    while (cols[k] < end);
    return k;
  }

 private:
  const Range* first_;
  std::uint64_t count_;
  std::uint64_t strip_ = 0;
};

}  // namespace

void TileRows::deal(std::uint64_t top, std::uint64_t count, Range strips, unsigned threads) {
  const std::uint64_t tiles = count * strips.size(), n = entries();
  first_strip_ = strips.begin;
  strip_count_ = strips.size();
  first_.reset(tiles);
  listed_.reset(tiles);
  tile_row_ptr_.reset(n + tiles);
  tile_row_idx_.reset(n + 1);  // never null, which would mean all rows
  tile_col_idx_.reset(n);
  tile_values_.reset(n * size_of(type_));
  const auto at = [&](std::uint64_t row) {
    return static_cast<std::uint64_t>(std::lower_bound(row_idx_.begin(), row_idx_.end(), row) -
                                      row_idx_.begin());
  };
  // The tiles of a tile row are contiguous, and so are its rows: tile rows are independent.
  parallel_for(count, threads, [&](std::uint64_t i) {
    const std::uint64_t begin = top + i * tile_rows_;
    const std::uint64_t end = i + 1 == count ? row_idx_.size() : at(begin + tile_rows_);
    deal_tile_row(begin, {at(begin), end}, strips, i * strips.size());
  });
}

void TileRows::deal_tile_row(std::uint64_t top, Range rows, Range strips, std::uint64_t tile) {
  const std::uint64_t* const row_ptr = row_ptr_.data();
  const std::uint64_t* const cols = col_idx_.data();
  const Range* const first_strip = strips_.data() + strips.begin;
  std::uint64_t* const first = first_.data() + tile;
  std::fill_n(first, strips.size(), 0);
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    StripFinder finder(first_strip, strips.size());
    for (std::uint64_t k = row_ptr[row], last = row_ptr[row + 1]; k < last;) {
      std::uint64_t& count = first[finder.find(cols[k])];
      const std::uint64_t end = finder.end_of_piece(cols, k, last);
      count += end - k;
      k = end;
    }
  }
  std::vector<Cursor> cursors;
  cursors.reserve(strips.size());
  std::uint64_t before = row_ptr[rows.begin];
  for (std::uint64_t i = 0; i < strips.size(); ++i) {
    before += std::exchange(first[i], before);
    cursors.push_back({first[i], first[i], first_strip[i].begin, tile_row_idx_.data() + first[i],
                       tile_row_ptr_.data() + first[i] + tile + i});
    *cursors[i].row_ptr = 0;
  }
  visit_bits(type_, [&](auto tag) {
    using Bits = decltype(tag);
    const std::byte* const values = values_.data();
    std::byte* const tile_values = tile_values_.data();
    std::uint32_t* const tile_cols = tile_col_idx_.data();
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      StripFinder finder(first_strip, strips.size());
      const std::uint64_t last = row_ptr[row + 1];
      for (std::uint64_t k = row_ptr[row]; k < last;) {
        Cursor& cursor = cursors[finder.find(cols[k])];
        const std::uint64_t n = finder.end_of_piece(cols, k, last) - k;
        std::uint32_t* const to = tile_cols + cursor.entry;
        for (std::uint64_t i = 0; i < n; ++i) {
          to[i] = static_cast<std::uint32_t>(cols[k + i] - cursor.left);
        }
        std::memcpy(tile_values + cursor.entry * sizeof(Bits), values + k * sizeof(Bits),
                    n * sizeof(Bits));
        k += n;
        cursor.entry += n;
        *cursor.row_idx++ = static_cast<std::uint32_t>(row_idx_[row] - top);
        *++cursor.row_ptr = cursor.entry - cursor.first;
      }
    }
  });
  for (std::uint64_t i = 0; i < strips.size(); ++i) {
    listed_[tile + i] =
        static_cast<std::uint32_t>(cursors[i].row_idx - (tile_row_idx_.data() + first[i]));
    narrow(first[i], cursors[i].entry - first[i], schema_.type_of(first_strip[i].begin));
  }
}

/// Values that come as words have the column's type in their low bytes.
void TileRows::narrow(std::uint64_t first, std::uint64_t count, ValueType type) {
  const std::size_t step = size_of(type_);
  if (size_of(type) == step) return;
  std::byte* const values = tile_values_.data() + first * step;
  visit_bits(type, [&](auto tag) {
    for (std::uint64_t k = 0; k < count; ++k) {
      store_le(values + k * sizeof tag, load_le<decltype(tag)>(values + k * step));
    }
  });
}

CsrCells TileRows::tile(std::uint64_t i, TileShape shape) const {
  const std::uint64_t first = first_[i];
  const std::uint64_t left = strips_[first_strip_ + i % strip_count_].begin;
  const bool all = listed_[i] == shape.rows;
  return {tile_row_ptr_.data() + first + i,
          tile_col_idx_.data() + first,
          tile_values_.data() + first * size_of(type_),
          schema_.type_of(left),
          shape.rows,
          shape.cols,
          all ? nullptr : tile_row_idx_.data() + first,
          listed_[i]};
}

}  // namespace dapple::detail::dbdf
