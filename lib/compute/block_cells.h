// The cells of blocks where they are, in their stored type: what products, statistics and searches
// are written against. No block is decoded as a whole.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/array.h"
#include "dapple/value_type.h"
#include "lib/base/ask_ahead.h"
#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/codec/codecs.h"
#include "lib/object/decoded_cells.h"
#include "lib/object/sparse.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Rows of dense cells of one type, from (row, col) of the object on; `row_step` bytes apart.
template <Value T>
struct DenseRows {
  std::uint64_t row, col;
  std::uint64_t rows, cols;
  const std::byte* data;
  std::size_t row_step;
};

/// The stored entries of one row of a CSR block, from `col` of the object on.
template <Value T>
struct SparseRow {
  using Type = T;
  std::uint64_t row;
  std::uint64_t col;
  StoredRow stored;

  std::uint32_t count() const noexcept { return stored.count; }
  /// Calls f(column in the block, value) for each entry. Throws corrupt.
  template <class F>
  [[gnu::always_inline]] void each(const F& f) const {
    stored.each<sizeof(T)>(
        [&](int, std::uint32_t column, const std::byte* value) { f(column, load_le<T>(value)); });
  }
  /// The same as f(lane, column, value), with lanes as of `StoredRow::each`.
  template <class F>
  [[gnu::always_inline]] void each_in_lanes(const F& f) const {
    stored.each<sizeof(T)>([&](int lane, std::uint32_t column, const std::byte* value) {
      f(lane, column, load_le<T>(value));
    });
  }
};

/// The same of an encoded block. Columns ascend.
template <Value T>
struct DecodedRow {
  using Type = T;
  std::uint64_t row;
  std::uint64_t col;
  std::span<const std::uint32_t> cols;
  const T* values;

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(cols.size()); }
  template <class F>
  [[gnu::always_inline]] void each(const F& f) const {
    for (std::size_t k = 0; k < cols.size(); ++k) f(cols[k], values[k]);
  }
  template <class F>
  [[gnu::always_inline]] void each_in_lanes(const F& f) const {
    std::size_t k = 0;
    for (; cols.size() - k >= 4; k += 4) {
      f(0, cols[k], values[k]);
      f(1, cols[k + 1], values[k + 1]);
      f(2, cols[k + 2], values[k + 2]);
      f(3, cols[k + 3], values[k + 3]);
    }
    for (; k < cols.size(); ++k) f(0, cols[k], values[k]);
  }
};

/// Either of the two.
template <class R>
concept AnyRow = requires {
  typename R::Type;
};

/// Rows of an encoded block in order, about as many entries at a time as stay in a core's cache.
class EncodedRun {
 public:
  EncodedRun(const EncodedRows& from, const Entry& entry, Range rows);

  /// Decodes the next rows; false at the end. Throws corrupt.
  bool next();
  /// Of those: the first one in the block, how many they are, and of each the entries.
  std::uint64_t first() const noexcept { return first_; }
  std::uint64_t rows() const noexcept { return end_ - first_; }
  std::span<const std::uint32_t> cols(std::uint64_t i) const noexcept {
    return {cols_.data() + (starts_[i] - starts_[0]), starts_[i + 1] - starts_[i]};
  }
  /// REQUIRES that T is the block's type.
  template <Value T>
  const T* values(std::uint64_t i) const noexcept {
    return reinterpret_cast<const T*>(values_.data()) + (starts_[i] - starts_[0]);
  }

 private:
  const EncodedRows& from_;
  const Entry& entry_;
  const std::uint64_t stop_, at_once_;
  std::uint64_t first_, end_;
  Array<std::uint32_t> starts_, cols_;
  Array<std::byte> values_;
};

/// True when every value of the stored type is one of the declared type of these columns of the
/// object, so that stored values need no look (R6).
bool holds_stored(const Schema& schema, Range cols, ValueType stored);

namespace block_cells {

/// Calls take(cells) for runs of the entries of a sparse block inside `part`; the bits of each are
/// those of a value of the block's type. Positive zeros that are stored are among them.
void each_stored_run(const Store& store, const Entry& e, const Part& part,
                     const CellRun::Take& take);

template <class Kernel>
void put_cells(std::span<const StoredCell> cells, ValueType type, Kernel& kernel) {
  visit_type(type, [&](auto tag) {
    using T = decltype(tag);
    for (const StoredCell& cell : cells) {
      kernel.cell(cell.row, cell.col, std::bit_cast<T>(static_cast<BitsOf<T>>(cell.bits)));
    }
  });
}

/// The rows of an encoded block, of which a few at a time are decoded.
template <class Kernel>
void encoded_rows(const EncodedRows& rows, const Entry& e, const Part& part, Kernel& kernel) {
  EncodedRun run(rows, e, part.rows);
  visit_type(e.value_type, [&](auto tag) {
    using T = decltype(tag);
    while (run.next()) {
      for (std::uint64_t i = 0; i < run.rows(); ++i) {
        const DecodedRow<T> row{e.pos.rx + run.first() + i, e.pos.cx, run.cols(i),
                                run.template values<T>(i)};
        if (part.cols.size() == e.cols) {
          kernel.row(row);
          continue;
        }
        row.each([&](std::uint32_t col, T value) {
          if (col - part.cols.begin >= part.cols.size()) return;
          kernel.cell(row.row, e.pos.cx + col, value);
        });
      }
    }
  });
}

template <class Kernel>
void sparse_in_place(const Store& store, const Entry& e, const Part& part, Kernel& kernel) {
  if (e.kind != BlockKind::csr || part.cols.size() != e.cols) {
    return each_stored_run(store, e, part, [&](std::span<const StoredCell> cells) {
      put_cells(cells, e.value_type, kernel);
    });
  }
  const SparsePayload payload = sparse_payload(store, e);
  RowCursor cursor = cursor_at(store, e, part.rows.begin);
  visit_type(e.value_type, [&](auto tag) {
    using T = decltype(tag);
    each_csr_row<sizeof(T)>(payload, part.rows, cursor, [&](const StoredRow& row) {
      kernel.row(SparseRow<T>{e.pos.rx + row.row, e.pos.cx, row});
    });
  });
}

template <class Kernel>
[[gnu::noinline]] void dense_cells(const Entry& e, const Part& part, ValueType type,
                                   const std::byte* cells, std::size_t step, Kernel& kernel) {
  visit_type(type, [&](auto tag) {
    kernel.dense(DenseRows<decltype(tag)>{e.pos.rx + part.rows.begin, e.pos.cx + part.cols.begin,
                                          part.rows.size(), part.cols.size(), cells, step});
  });
}

template <class Kernel>
void sparse_entries(const Store& store, const Entry& e, const Part& part, Kernel& kernel) {
  const Schema& schema = store.schema();
  store.entries(e, part, [&](std::span<const StoredCell> cells) {
    if (schema.kind == ObjectKind::matrix) return put_cells(cells, schema.value_type, kernel);
    for (const StoredCell& cell : cells) {
      put_cells({&cell, 1}, schema.type_of(cell.col), kernel);
    }
  });
}

}  // namespace block_cells

/// Hands the cells of `part` of a block, whose entry is known to be right, to the kernel:
/// `kernel.dense(DenseRows<T>)` for dense cells, `kernel.row(SparseRow<T>)` for each row of CSR
/// entries or DecodedRow<T> where they are encoded, `kernel.cell(row, col, T)` for each other
/// stored entry, of which none is called for zeros that are not stored. T is the stored type, or
/// the declared one where values must be compared with it. Throws corrupt, type_mismatch.
template <class Kernel>
void visit_cells(const Store& store, const Entry& e, const Part& part, Band& band, Kernel& kernel) {
  if (e.kind == BlockKind::empty) return;
  const Driver& driver = store.driver();
  const Range cols{e.pos.cx + part.cols.begin, e.pos.cx + part.cols.end};
  const bool as_stored = holds_stored(store.schema(), cols, e.value_type);
  if (e.kind != BlockKind::dense) {
    if (driver.sparse_in_place && as_stored) {
      if (const HeldRows encoded = store.encoded_rows(e); encoded.rows != nullptr) {
        return block_cells::encoded_rows(*encoded.rows, e, part, kernel);
      }
      return block_cells::sparse_in_place(store, e, part, kernel);
    }
    return block_cells::sparse_entries(store, e, part, kernel);
  }
  if (driver.in_place != nullptr && as_stored) {
    if (const auto place = driver.in_place(store, e)) {
      return block_cells::dense_cells(e, part, e.value_type,
                                      place->data() + part.rows.begin * place->row_step +
                                          part.cols.begin * size_of(e.value_type),
                                      place->row_step, kernel);
    }
  }
  for_each_decoded(
      store, e, part, band,
      [&](const Part& piece, ValueType type, const std::byte* cells, std::size_t step) {
        block_cells::dense_cells(e, piece, type, cells, step, kernel);
      });
}

/// The same for all blocks of a region, in ascending order of positions; absent cells as `options`
/// says.
template <class Kernel>
void visit_region(const Store& store, const Region& region, const ReadOptions& options, Band& band,
                  Kernel& kernel) {
  if (region.empty()) return;
  store.for_each_block(region, options, [&](std::uint64_t, const Entry& e, const Part& part) {
    visit_cells(store, e, part, band, kernel);
  });
}

/// Throws absent unless blocks cover the whole object, or zeros are asked for. Threads that each
/// look at a part of it would name any of the cells; this names the first.
void require_covered(const Store& store, Absent absent);

/// Cuts rows (or columns) into at most `most` strips for threads, at the edges of tiles where there
/// is a grid of enough of them. The cuts depend on nothing else.
std::vector<Range> row_strips(const Store& store, std::uint64_t most);
std::vector<Range> column_strips(const Store& store, std::uint64_t most);
/// More of them than threads, so that no thread waits long for the last one.
inline std::uint64_t strips_for(unsigned threads) noexcept {
  const unsigned workers = worker_limit(threads);
  return workers == 1 ? 1 : std::uint64_t{workers} * 8;
}

}  // namespace dapple::detail
