// What gathering rows, cells and compressed rows share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "dapple/gather.h"
#include "lib/compute/csr.h"
#include "lib/compute/row_finder.h"
#include "lib/compute/stream_block.h"

namespace dapple::detail {

/// Parts of rows that are found together. So many reads from storage are under way at once.
inline constexpr std::uint64_t kPartsAtOnce = 512;
/// So many parts of rows ahead of their use, bytes are asked for.
inline constexpr std::size_t kPartsAhead = 6;

/// Cells of dense rows that are copied between two reports of progress.
inline constexpr std::uint64_t kCellsAtOnce = 1 << 22;

/// How many rows, of so many tiles and dense cells each, are found together.
inline std::uint64_t rows_at_once(std::size_t tiles, std::uint64_t cells) noexcept {
  const std::uint64_t rows = std::min(kPartsAtOnce / std::max<std::uint64_t>(1, tiles),
                                      kCellsAtOnce / std::max<std::uint64_t>(1, cells));
  return std::max<std::uint64_t>(1, rows);
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
template <Value T>
void require_apart(const Store& store, std::span<const std::uint64_t> list, const Csr<T>& out) {
  const std::size_t bytes = list.size_bytes();
  require_apart(store, list.data(), bytes, out.row_ptr.data(), out.row_ptr.capacity() * 8);
  require_apart(store, list.data(), bytes, out.col_idx.data(), out.col_idx.capacity() * 8);
}

/// Positions of a list in ascending order of what stands there.
template <class T, class Before>
std::vector<std::size_t> ascending(std::span<const T> list, const Before& before) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return before(list[a], list[b]); });
  return order;
}

/// Room for the entries of a row of one tile.
struct RowScratch {
  RowArrays arrays;

  CsrTarget target(const FoundRow& row, ValueType type) {
    const bool dense = row.block->entry.kind == BlockKind::dense;
    return arrays.target(1, dense ? row.cols.size() : row.entries, type);
  }
};

/// Asks for the bytes of rows that were found directly some time before they are used.
class AskAhead {
 public:
  explicit AskAhead(const RowFinder& finder) noexcept : finder_(finder), parts_(finder.direct()) {}

  /// Part `i` is used next.
  void use(std::size_t i) noexcept {
    for (; asked_ < parts_.size() && ahead_ < kBytesAhead; ++asked_) {
      finder_.prefetch(parts_[asked_]);
      ahead_ += parts_[asked_].bytes;
    }
    ahead_ -= parts_[i].bytes;
  }

 private:
  static constexpr std::size_t kBytesAhead = 8192;

  const RowFinder& finder_;
  const std::span<const DirectRow> parts_;
  std::size_t asked_ = 0;  // parts,
  std::size_t ahead_ = 0;  //   and their bytes that were not used yet
};

/// Gathers the entries of rows in these columns. REQUIRES that they are inside the object.
void gather_csr_to(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                   const CsrOut<std::uint64_t>& out, const GatherOptions& options);

/// Gathers rows of CSR tiles, tile by tile. False, and what `out` holds is unspecified, when that
/// would not pay, or some of them need a closer look.
bool gather_csr_by_tile(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                        const CsrOut<std::uint64_t>& out, const GatherOptions& options);

/// Copies the cells of a row of a dense tile.
void copy_dense(const Store& store, const FoundRow& row, const Target& out);

}  // namespace dapple::detail
