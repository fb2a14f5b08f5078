// Many rows of a grid of CSR tiles: each tile is visited once for all rows that are in it.

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/compute/gather_parts.h"

namespace dapple::detail {

namespace {

/// Rows that are taken together, so that what is written for them stays in the cache.
constexpr std::size_t kRowsTogether = 64;
/// Parts ahead of their use that are prefetched.
constexpr std::size_t kPrefetched = 12;

/// True when rows of a tile are so close to each other that they share pages: then it is the
/// translation of addresses that is saved.
bool would_pay(const Store& store, std::uint64_t rows, const RowFinder& finder) {
  constexpr std::uint64_t kNear = 8 << 10;
  const Grid& grid = *store.index().grid();
  const std::uint64_t blocks = store.index().size();
  if (blocks == 0 || finder.tiles_per_row() < 2) return false;
  return rows / grid.rows > store.file().size() / blocks / kNear;
}

class ByTile {
 public:
  ByTile(const Store& store, std::span<const std::uint64_t> rows, std::vector<RowFinder>& finders,
         const CsrOut<std::uint64_t>& out)
      : store_(store), finders_(finders), out_(out), order_(ascending(rows, std::less<>())) {
    const std::uint64_t height = store.index().grid()->tile.rows;
    rows_.reserve(rows.size());
    for (const std::size_t at : order_) {
      const std::uint64_t row = rows[at];
      if (pieces_.empty() || rows_.size() - pieces_.back() == kRowsTogether ||
          row / height != rows_.back() / height) {
        pieces_.push_back(rows_.size());
      }
      rows_.push_back(row);
    }
    pieces_.push_back(rows_.size());
  }

  /// False when a row needs a closer look.
  bool run(const GatherOptions& options) {
    out_.row_ptr.reset(rows_.size() + 1);
    out_.row_ptr[0] = 0;
    if (!each_piece(options, 0, [&](RowFinder& finder, std::size_t first, std::size_t n) {
          count(finder, first, n);
          return true;
        })) {
      return false;
    }
    for (std::size_t k = 0; k < rows_.size(); ++k) out_.row_ptr[k + 1] += out_.row_ptr[k];
    const std::uint64_t entries = out_.row_ptr[rows_.size()];
    out_.col_idx.reset(entries);
    values_ = out_.resize_values(0, entries);
    return each_piece(options, 1, [&](RowFinder& finder, std::size_t first, std::size_t n) {
      return decode(finder, first, n);
    });
  }

 private:
  /// Calls f(finder, first, n) for pieces of the ascending rows that were found: the first or the
  /// second of two passes.
  template <class F>
  bool each_piece(const GatherOptions& options, std::uint64_t pass, const F& f) {
    std::atomic<bool> all{true};
    parallel_for(pieces_.size() - 1, options.threads, [&](std::uint64_t i, unsigned worker) {
      if (!all.load(std::memory_order_relaxed)) return;
      report(options, worker, (pass * rows_.size() + pieces_[i]) / 2, rows_.size());
      RowFinder& finder = finders_[worker];
      const std::size_t first = pieces_[i], n = pieces_[i + 1] - first;
      const auto rows = std::span<const std::uint64_t>(rows_).subspan(first, n);
      const bool done = store_.watched([&] {
        const RowFinder::Hold hold(finder);
        return finder.find_direct(rows, RowFinder::Dense::no) && f(finder, first, n);
      });
      if (!done) all = false;
    });
    return all;
  }

  void count(const RowFinder& finder, std::size_t first, std::size_t n) {
    const DirectRow* part = finder.direct().data();
    for (std::size_t r = 0; r < n; ++r) {
      std::uint64_t entries = 0;
      for (std::size_t j = 0; j < finder.tiles_per_row(); ++j) entries += part++->entries;
      out_.row_ptr[order_[first + r] + 1] = entries;
    }
  }

  bool decode(const RowFinder& finder, std::size_t first, std::size_t n) {
    const std::span<const DirectRow> parts = finder.direct();
    const std::size_t tiles = finder.tiles_per_row(), size = size_of(out_.type);
    std::array<std::uint64_t, kRowsTogether> next;  // entry of the result
    for (std::size_t r = 0; r < n; ++r) next[r] = out_.row_ptr[order_[first + r]];
    std::size_t asked = 0, asked_row = 0, asked_tile = 0;  // in the order of use
    const auto ask = [&] {
      finder.prefetch(parts[asked_row * tiles + asked_tile]);
      ++asked;
      if (++asked_row < n) return;
      asked_row = 0;
      ++asked_tile;
    };
    while (asked < std::min(kPrefetched, parts.size())) ask();
    for (std::size_t j = 0; j < tiles; ++j) {
      for (std::size_t r = 0; r < n; ++r) {
        if (asked < parts.size()) ask();
        const DirectRow& part = parts[r * tiles + j];
        if (part.at == nullptr) continue;
        // Blocks may have been found anew, and otherwise, since their rows were counted.
        const std::uint64_t room = out_.row_ptr[order_[first + r] + 1] - next[r];
        if (part.entries > room || load_le<std::uint32_t>(part.at) != part.entries) return false;
        const auto put = finder.decoder(part.block->value_type);
        if (!put(part.at + 4, part.entries, part.block->cols, finder.at(j),
                 out_.col_idx.data() + next[r], values_ + next[r] * size)) {
          return false;
        }
        next[r] += part.entries;
      }
    }
    for (std::size_t r = 0; r < n; ++r) {
      if (next[r] != out_.row_ptr[order_[first + r] + 1]) return false;
    }
    return true;
  }

  const Store& store_;
  std::vector<RowFinder>& finders_;
  const CsrOut<std::uint64_t>& out_;
  std::vector<std::size_t> order_;   // places in the list, by row
  std::vector<std::uint64_t> rows_;  // in that order
  std::vector<std::size_t> pieces_;  // where in it pieces begin, and the end
  std::byte* values_ = nullptr;
};

}  // namespace

bool gather_csr_by_tile(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                        const CsrOut<std::uint64_t>& out, const GatherOptions& options) {
  if (rows.empty() || !RowFinder::possible(store)) return false;
  std::vector<RowFinder> finders;
  finders.emplace_back(store, cols, out.type);
  if (!would_pay(store, rows.size(), finders[0])) return false;
  while (finders.size() < worker_limit(options.threads)) {
    finders.emplace_back(store, cols, out.type);
  }
  return ByTile(store, rows, finders, out).run(options);
}

}  // namespace dapple::detail
