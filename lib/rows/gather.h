// What gathering rows, cells and compressed rows share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/gather.h"
#include "lib/base/parallel.h"
#include "lib/rows/csr.h"
#include "lib/rows/row_finder.h"

namespace dapple::detail {

/// Parts of rows that are found together. As many reads from storage are under way at once.
inline constexpr std::uint64_t kPartsAtOnce = 512;
/// Bytes of blocks far away that are fetched at once for them.
inline constexpr std::uint64_t kBytesAtOnce = 16 << 20;
/// Cells of dense rows that are copied between two reports of progress.
inline constexpr std::uint64_t kCellsAtOnce = 1 << 22;

/// How many of these rows or cells are found together: more of those that have to be decoded, so
/// that what is decoded is of use for many. `cells`: dense ones of each, which are copied.
template <class T>
std::uint64_t found_at_once(const Store& store, RowFinder& finder, std::span<const T> list,
                            std::uint64_t cells, unsigned threads) {
  const auto fitting = [&](std::uint64_t most_parts, std::uint64_t most_cells) {
    const std::uint64_t n =
        std::min(most_parts / std::max<std::uint64_t>(1, finder.parts_per_row()),
                 most_cells / std::max<std::uint64_t>(1, cells));
    return std::max<std::uint64_t>(1, n);
  };
  std::uint64_t at_once = fitting(kPartsAtOnce, kCellsAtOnce);
  if (store.blocks().fetches()) {  // no more than wait to be used
    const std::uint64_t most = kBytesAtOnce / std::max<std::uint64_t>(1, store.typical_bytes());
    return std::min(at_once, fitting(most, kCellsAtOnce));
  }
  if (list.size() <= at_once) return at_once;
  bool decodes = false;
  store.watched([&] {
    const RowFinder::Hold hold(finder);
    finder.find(list.first(1));
    decodes = finder.decodes();
  });
  if (!decodes) return at_once;
  const std::uint64_t share = (list.size() - 1) / worker_limit(threads) + 1;
  return std::clamp(share, at_once, fitting(16 * kPartsAtOnce, 16 * kCellsAtOnce));
}

/// Reports from one worker only, so that no two calls overlap.
inline void report(const GatherOptions& options, unsigned worker, std::uint64_t done,
                   std::uint64_t total) {
  if (worker == 0 && options.progress) options.progress(done, total);
}

/// Throw out_of_range: an item of the list, or a column, is not in the object.
[[noreturn]] void fail_outside(const Store& store, const char* what, std::uint64_t number,
                               std::size_t at, std::uint64_t limit);
void require_rows(const Store& store, std::span<const std::uint64_t> rows);
Range require_columns(const Store& store, const GatherOptions& options);
/// Throws invalid_argument when the list and the output overlap.
void require_apart(const Store& store, const void* list, std::size_t list_bytes, const void* out,
                   std::size_t out_bytes);
template <Value T, class Col>
void require_apart(const Store& store, std::span<const std::uint64_t> list,
                   const Csr<T, Col>& out) {
  const std::size_t bytes = list.size_bytes();
  require_apart(store, list.data(), bytes, out.row_ptr.data(), out.row_ptr.capacity() * 8);
  require_apart(store, list.data(), bytes, out.col_idx.data(),
                out.col_idx.capacity() * sizeof(Col));
  require_apart(store, list.data(), bytes, out.values.data(), out.values.capacity() * sizeof(T));
}

/// Gathers the entries of rows in these columns. REQUIRES that they are inside the object.
template <class Col>
void gather_csr_to(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                   const CsrOut<Col>& out, const GatherOptions& options);

}  // namespace dapple::detail
