// Regions as the caller's compressed sparse rows: of CSR tiles by the shortest way, of others by a
// stream (row_stream.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <shared_mutex>
#include <stdexcept>
#include <string>

#include "dapple/array.h"
#include "dapple/view.h"
#include "lib/base/parallel.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Throws invalid_argument: memory cannot hold arrays for the cells of `region`.
[[noreturn]] void fail_memory(const Store& store, const Region& region);

/// Calls `f`, which makes arrays for the cells of `region`; `fail_memory` when it cannot.
template <class F>
auto fill_memory(const Store& store, const Region& region, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  fail_memory(store, region);
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

/// A Csr as it grows: bands of rows take their places in turn, and are filled in at the same time
/// by any number of threads.
template <class Col>
class CsrCollector {
 public:
  /// For `rows` rows, with room for `expected` entries at first.
  CsrCollector(std::uint64_t rows, std::uint64_t expected, const CsrOut<Col>& out);

  /// Gives these rows a place for `entries` entries; those above them that have none are empty.
  /// Then calls fill(base, row_ptr, cols, values), which writes the entries, and to row_ptr[1], ...
  /// where its rows end, counted from `base`.
  template <class Fill>
  void add(Turn& turn, Range rows, std::uint64_t entries, const Fill& fill) {
    std::uint64_t base = 0;
    turn.take([&] { base = claim(rows, entries); });
    const std::shared_lock lock(moved_);
    fill(base, out_.row_ptr.data() + rows.begin, out_.col_idx.data() + base,
         values_ + base * size_of(out_.type));
  }
  /// After the last rows.
  void finish();

 private:
  std::uint64_t claim(Range rows, std::uint64_t entries);
  void reserve(std::uint64_t room);

  const CsrOut<Col>& out_;
  std::shared_mutex moved_;  // shared by those who fill the arrays: they must stay where they are
  std::byte* values_ = nullptr;
  std::uint64_t room_ = 0;  // entries that the arrays can take,
  std::uint64_t size_ = 0;  //   and that have a place
  std::uint64_t row_ = 0;   // rows above it have one
};

/// Puts the cells of `region` that are stored and not positive zero into `out`, as sorted rows,
/// with `options.threads`. Throws type_mismatch when one does not fit the type exactly. REQUIRES
/// that Col (u32 or u64) holds the region's columns.
template <class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 const CsrOut<Col>& out);

/// The same for a few columns of one column of CSR tiles. False, and what `out` holds is
/// unspecified, for other regions, and when something needs a closer look.
template <class Col>
bool collect_few_columns(const Store& store, const Region& region, const ReadOptions& options,
                         const CsrOut<Col>& out);

/// The same for a region that suits the copy by column. False, and what `out` holds is unspecified,
/// when there is none that could be used.
bool collect_from_copy(const Store& store, const Region& region, const ReadOptions& options,
                       const CsrOut<std::uint64_t>& out);

template <Value T, class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 Csr<T, Col>& out) {
  collect_csr<Col>(store, region, options, csr_out(out));
}

}  // namespace dapple::detail
