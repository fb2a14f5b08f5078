// Regions as compressed sparse rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "dapple/array.h"
#include "dapple/view.h"
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

/// Puts the cells of `region` that are stored and not positive zero into `out`, as sorted rows,
/// with `options.threads`. Throws type_mismatch when one does not fit the type exactly. REQUIRES
/// that Col (u32 or u64) holds the region's columns.
template <class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 const CsrOut<Col>& out);

template <Value T, class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 Csr<T, Col>& out) {
  collect_csr<Col>(
      store, region, options,
      {out.row_ptr, out.col_idx, value_type_of<T>(), [&](std::size_t kept, std::size_t n) {
         if (kept == 0 || n > out.values.size()) {
           Array<T> old;
           if (kept > 0) old.swap(out.values);
           out.values.reset(n);
           std::copy_n(old.data(), kept, out.values.data());
         } else {
           out.values.shorten(n);
         }
         return reinterpret_cast<std::byte*>(out.values.data());
       }});
}

}  // namespace dapple::detail
