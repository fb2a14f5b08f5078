#include "lib/compute/csr.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/compute/row_decoder.h"
#include "lib/compute/row_stream.h"

namespace dapple::detail {

template <class Col>
CsrCollector<Col>::CsrCollector(std::uint64_t rows, std::uint64_t expected, const CsrOut<Col>& out)
    : out_(out) {
  out_.row_ptr.reset(rows + 1);
  out_.row_ptr[0] = 0;
  reserve(expected);
}

template <class Col>
std::uint64_t CsrCollector<Col>::claim(Range rows, std::uint64_t entries) {
  const std::uint64_t base = size_;
  std::uint64_t* const row_ptr = out_.row_ptr.data();
  std::fill(row_ptr + row_ + 1, row_ptr + rows.begin + 1, base);
  if (entries > room_ - size_) {
    const std::unique_lock lock(moved_);
    reserve(std::max(size_ + entries, room_ + room_ / 2));
  }
  size_ += entries;
  row_ = rows.end;
  return base;
}

template <class Col>
void CsrCollector<Col>::finish() {
  std::fill(out_.row_ptr.begin() + row_ + 1, out_.row_ptr.end(), size_);
  out_.col_idx.shorten(size_);
  out_.resize_values(size_, size_);
}

template <class Col>
void CsrCollector<Col>::reserve(std::uint64_t room) {
  if (size_ == 0 || room <= out_.col_idx.capacity()) {
    out_.col_idx.reset(room);
  } else {
    Array<Col> larger(room);
    std::copy_n(out_.col_idx.data(), size_, larger.data());
    out_.col_idx.swap(larger);
  }
  values_ = out_.resize_values(size_, room);
  room_ = room;
}

template class CsrCollector<std::uint32_t>;
template class CsrCollector<std::uint64_t>;

void fail_memory(const Store& store, const Region& region) {
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
              std::to_string(region.rows.size()) + " x " + std::to_string(region.cols.size()) +
                  " cells do not fit in memory");
}

namespace {

/// Something that only RowStream copes with: entries that are not sorted, zeros, damage.
struct NeedsStream {};

/// A CSR tile that is read row by row beside others.
template <class Col>
struct TileRows {
  const std::byte* at;  // of the next row: its count, then its entries
  std::uint64_t left;   // entries to come
  DecodeRow<Col> decode;
  Col first;
  std::uint32_t cols, stride;
  HeldBytes held;
};

/// Tiles of a grid that make up a region, whose entries' places are known before any is read.
template <class Col>
class TileMerge {
 public:
  TileMerge(const Store& store, const Region& region, const CsrOut<Col>& out)
      : store_(store), grid_(*store.index().grid()), region_(region), out_(out) {}

  /// True when the region is made of whole tiles, all of them empty or of CSR whose rows
  /// `row_decoder` decodes.
  static bool possible(const Store& store, const Region& region, unsigned workers) {
    const auto& grid = store.index().grid();
    const Schema& schema = store.schema();
    const auto whole = [](Range range, std::uint32_t tile, std::uint64_t size) {
      return range.begin % tile == 0 && (range.end % tile == 0 || range.end == size);
    };
    return grid && store.driver().sparse_in_place && schema.kind == ObjectKind::matrix &&
           !region.empty() && whole(region.rows, grid->tile.rows, schema.rows) &&
           whole(region.cols, grid->tile.cols, schema.cols) &&
           (region.rows.size() - 1) / grid->tile.rows + 1 >= workers;
  }
  bool list();
  void run(unsigned threads);

 private:
  void read_band(std::uint64_t i) const;

  const Store& store_;
  const Grid grid_;
  const Region region_;
  const CsrOut<Col>& out_;
  std::vector<Entry> tiles_;          // those that hold entries, row after row
  std::vector<std::size_t> first_;    // of each row of tiles, the first of them, and the end
  std::vector<std::uint64_t> begin_;  // of its entries, and the end
  std::byte* values_ = nullptr;
};

template <class Col>
bool TileMerge<Col>::list() {
  const ValueType declared = store_.schema().value_type;
  first_.assign(1, 0);
  begin_.assign(1, 0);
  std::uint64_t entries = 0;
  for (std::uint64_t row = region_.rows.begin; row < region_.rows.end; row += grid_.tile.rows) {
    for (std::uint64_t col = region_.cols.begin; col < region_.cols.end; col += grid_.tile.cols) {
      const Entry tile =
          store_.confirmed_entry(row / grid_.tile.rows * grid_.cols + col / grid_.tile.cols);
      if (tile.kind == BlockKind::empty) continue;
      if (tile.kind != BlockKind::csr || !holds_all(out_.type, tile.value_type) ||
          (out_.type != declared && !holds_all(declared, tile.value_type))) {
        return false;
      }
      tiles_.push_back(tile);
      entries += tile.stored;
    }
    first_.push_back(tiles_.size());
    begin_.push_back(entries);
  }
  return true;
}

template <class Col>
void TileMerge<Col>::run(unsigned threads) {
  out_.row_ptr.reset(region_.rows.size() + 1);
  out_.row_ptr[0] = 0;
  out_.col_idx.reset(begin_.back());
  values_ = out_.resize_values(0, begin_.back());
  parallel_for(begin_.size() - 1, threads,
               [&](std::uint64_t i) { store_.watched([&] { read_band(i); }); });
}

/// Decodes a row of tiles, row by row of the result, so that it is written in order.
template <class Col>
void TileMerge<Col>::read_band(std::uint64_t i) const {
  constexpr std::size_t kAhead = 512;  // bytes; the processor follows a few streams by itself
  std::vector<TileRows<Col>> tiles;
  for (std::size_t t = first_[i]; t < first_[i + 1]; ++t) {
    const Entry& tile = tiles_[t];
    HeldBytes held = store_.payload(tile);
    tiles.push_back({held.data(), tile.stored, row_decoder<Col>(tile.value_type, out_.type),
                     static_cast<Col>(tile.pos.cx - region_.cols.begin), tile.cols,
                     static_cast<std::uint32_t>(4 + size_of(tile.value_type)), std::move(held)});
  }
  const std::size_t size = size_of(out_.type);
  std::uint64_t* const row_ptr = out_.row_ptr.data();
  const std::uint64_t row = i * grid_.tile.rows;
  const std::uint64_t end = std::min<std::uint64_t>(row + grid_.tile.rows, region_.rows.size());
  std::uint64_t k = begin_[i];
  for (std::uint64_t r = row; r < end; ++r) {
    for (TileRows<Col>& tile : tiles) {
      const auto count = load_le<std::uint32_t>(tile.at);
      if (count > tile.left || !tile.decode(tile.at + 4, count, tile.cols, tile.first,
                                            out_.col_idx.data() + k, values_ + k * size)) {
        throw NeedsStream();
      }
      tile.left -= count;
      tile.at += 4 + std::size_t{count} * tile.stride;
      __builtin_prefetch(tile.at + kAhead);
      k += count;
    }
    row_ptr[r + 1] = k;
  }
  if (k != begin_[i + 1]) throw NeedsStream();
}

}  // namespace

template <class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 const CsrOut<Col>& out) {
  // A pointer to each row and one to the end: more than there are numbers for.
  if (region.rows.size() == std::numeric_limits<std::uint64_t>::max()) throw std::bad_alloc();
  if (TileMerge<Col>::possible(store, region, worker_limit(options.threads))) {
    try {
      TileMerge<Col> tiles(store, region, out);
      if (tiles.list()) return tiles.run(options.threads);
    } catch (const NeedsStream&) {
    }
  }
  if (collect_few_columns(store, region, options, out)) return;
  RowStream stream(store, region, out.type, options.absent);
  CsrCollector<Col> collector(region.rows.size(), stream.expected(), out);
  stream.for_each(options.threads, [&](const RowBand& band, unsigned, Turn& turn) {
    collector.add(turn, band.rows(), band.entries(),
                  [&](std::uint64_t base, std::uint64_t* row_ptr, Col* cols, std::byte* values) {
                    band.place(base, row_ptr, cols, values);
                  });
  });
  collector.finish();
}

template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint32_t>&);
template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail
