// Regions as the caller's compressed sparse rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>

#include "dapple/array.h"
#include "dapple/view.h"
#include "lib/base/bytes.h"
#include "lib/object/in_memory.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Calls `f`, which makes arrays for the cells of `region`. Throws no_memory.
template <class F>
auto fill_memory(const Store& store, const Region& region, const F& f) {
  const auto told = [&] { return extents_text(region.rows.size(), region.cols.size()) + " cells"; };
  return in_memory(store, 0, 1, told, f);  // of what size is not known
}

/// The number of cells of `region`. Throws out_of_range, and bad_alloc beyond 2^64.
inline std::size_t count_of_cells(const Store& store, const Region& region) {
  store.require_inside(region);
  std::uint64_t cells = 0;
  if (!multiply(region.rows.size(), region.cols.size(), cells)) throw std::bad_alloc();
  return cells;
}

/// The arrays of a Csr whose values have a type that is known when the program runs.
template <class Col>
struct CsrOut {
  Array<std::uint64_t>& row_ptr;
  Array<Col>& col_idx;
  ValueType type;
  /// Makes room for `n`, of which the first `kept` stay as they are.
  std::function<std::byte*(std::size_t kept, std::size_t n)> resize_values;
};

/// The same of a Csr; uses the memory that it has.
template <Value T, class Col>
CsrOut<Col> csr_out(Csr<T, Col>& csr) {
  return {csr.row_ptr, csr.col_idx, value_type_of<T>(), [&csr](std::size_t kept, std::size_t n) {
            if (kept == 0 || n <= csr.values.capacity()) {
              csr.values.reset(n);
            } else {
              Array<T> larger(n);
              std::copy_n(csr.values.data(), kept, larger.data());
              csr.values.swap(larger);
            }
            return reinterpret_cast<std::byte*>(csr.values.data());
          }};
}

/// A Csr as it grows, row by row. One thread at a time.
template <class Col>
class CsrCollector {
 public:
  /// For `rows` rows, with room for `expected` entries at first.
  CsrCollector(std::uint64_t rows, std::uint64_t expected, const CsrOut<Col>& out);

  /// Makes room for that many more entries of rows from `row` on, and for about as many of later
  /// rows; rows above `row` that have no end yet end here.
  void prepare(std::uint64_t row, std::uint64_t rows, std::uint64_t entries);
  /// Entries so far, and where the next ones go.
  std::uint64_t size() const noexcept { return size_; }
  Col* cols() const noexcept { return out_.col_idx.data(); }
  std::byte* values() const noexcept { return values_; }
  std::uint64_t* ends(std::uint64_t row) const noexcept { return out_.row_ptr.data() + row + 1; }
  /// Rows before `row` have their ends, the last of which is `size`.
  void added(std::uint64_t row, std::uint64_t size) noexcept {
    row_ = row;
    size_ = size;
  }
  /// Copies rows from `row` on; row pointers count from 0.
  void add(std::uint64_t row, std::uint64_t rows, const std::uint64_t* row_ptr, const Col* cols,
           const std::byte* values);
  /// After the last rows.
  void finish();

 private:
  void reserve(std::uint64_t room);

  const CsrOut<Col>& out_;
  std::byte* values_ = nullptr;
  std::uint64_t room_ = 0;  // entries that the arrays can take,
  std::uint64_t size_ = 0;  //   and that are there
  std::uint64_t row_ = 0;   // rows above it have ends
};

/// Puts the cells of `region` that are stored and not positive zero into `out`, as sorted rows,
/// with `options.threads`. Throws type_mismatch when one does not fit the type exactly. REQUIRES
/// that Col (u32 or u64) holds the region's columns.
template <class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 const CsrOut<Col>& out);

/// The same for a region that suits the copy by column. False, and what `out` holds is unspecified,
/// when there is none that could be used.
template <class Col>
bool collect_from_copy(const Store& store, const Region& region, const ReadOptions& options,
                       const CsrOut<Col>& out);

/// Throws invalid_argument unless Col holds `n` columns.
template <class Col>
void require_narrow(const Store& store, std::uint64_t n);

template <Value T, class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 Csr<T, Col>& out) {
  collect_csr<Col>(store, region, options, csr_out(out));
}

/// `Matrix::read_csr`, of any object, with the memory of `out`.
template <Value T, class Col>
void read_csr(const Store& store, const Region& region, const ReadOptions& options,
              Csr<T, Col>& out) {
  store.require_inside(region);
  require_narrow<Col>(store, region.cols.size());
  fill_memory(store, region, [&] {
    if (store.suits_copy(region) && collect_from_copy(store, region, options, csr_out(out))) return;
    collect_csr(store, region, options, out);
  });
}

/// `Block::to_csr`.
template <Value T>
void block_to_csr(const Store& store, const Entry& e, Csr<T, std::uint32_t>& out);

}  // namespace dapple::detail
