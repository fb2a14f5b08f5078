// Few columns of a grid of CSR tiles: rows are scanned where they lie, and nothing is made of the
// entries that are not wanted.

#include <algorithm>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/csr.h"

namespace dapple::detail {

/// A wanted entry. Lambdas of a function with linkage capture it, so it has linkage as well.
struct Pick {
  std::uint32_t row, col;  // in the tile
  const std::byte* value;
};

namespace {

/// Columns of a tile for each wanted one, at least.
constexpr std::uint64_t kColumnsPerWanted = 16;

/// Something that only RowStream copes with: entries that are not sorted, values that do not fit,
/// damage.
struct NeedsCloserLook {};

/// Lists the entries of a part of a CSR tile. All columns of its rows are looked at, because rows
/// need not be sorted (R5).
template <std::size_t kSize>
void pick(const std::byte* p, const Entry& tile, const Part& part, std::vector<Pick>& picks) {
  constexpr std::size_t stride = 4 + kSize;
  const auto first = static_cast<std::uint32_t>(part.cols.begin);
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  std::uint64_t left = tile.stored;
  std::int64_t sound = -1;  // negative while columns ascend inside the tile
  for (std::uint32_t row = 0; row < part.rows.end; ++row) {
    const auto count = load_le<std::uint32_t>(p);
    if (count > left) throw NeedsCloserLook();
    left -= count;
    p += 4;
    const std::byte* const end = p + std::size_t{count} * stride;
    if (row >= part.rows.begin) {
      std::int64_t last = -1;
      for (; p != end; p += stride) {
        const auto col = load_le<std::uint32_t>(p);
        sound &= last - std::int64_t{col};
        last = col;
        if (col - first < width) picks.push_back({row, col, p + 4});
      }
      sound &= last - std::int64_t{tile.cols};
    }
    p = end;
  }
  if (sound >= 0 || (part.rows.end == tile.rows && left != 0)) throw NeedsCloserLook();
}

}  // namespace

template <class Col>
bool collect_few_columns(const Store& store, const Region& region, const ReadOptions& options,
                         const CsrOut<Col>& out) {
  const auto& grid = store.index().grid();
  const ValueType declared = store.schema().value_type;
  if (!grid || !store.codec().sparse_in_place || store.schema().kind != ObjectKind::matrix ||
      region.empty() || grid->tile.cols / kColumnsPerWanted < region.cols.size() ||
      region.cols.begin / grid->tile.cols != (region.cols.end - 1) / grid->tile.cols) {
    return false;
  }
  store.require_inside(region);
  const std::uint64_t height = grid->tile.rows, first = region.rows.begin / height;
  const std::uint64_t tiles = (region.rows.end - 1) / height + 1 - first;
  CsrCollector<Col> collector(region.rows.size(), 0, out);
  const std::size_t size = size_of(out.type);
  std::vector<std::vector<Pick>> memory(worker_limit(options.threads));
  const auto read = [&](std::uint64_t i, unsigned worker, Turn& turn) {
    const Entry tile =
        store.confirmed_entry((first + i) * grid->cols + region.cols.begin / grid->tile.cols);
    if (tile.kind == BlockKind::empty) return;
    if (tile.kind != BlockKind::csr || !holds_all(declared, tile.value_type))
      throw NeedsCloserLook();
    const Part part = shared_part(tile, region);
    std::vector<Pick>& picks = memory[worker];
    picks.clear();
    const std::uint64_t header = store.codec().header_size(tile);
    const std::byte* const data = store.file().at(tile.offset + header, tile.bytes - header);
    visit_bits(tile.value_type, [&](auto bits) { pick<sizeof bits>(data, tile, part, picks); });
    // A stored zero is no entry of the result.
    std::erase_if(picks, [&](const Pick& p) { return load_bits(tile.value_type, p.value) == 0; });
    const Range rows{tile.pos.rx + part.rows.begin - region.rows.begin,
                     tile.pos.rx + part.rows.end - region.rows.begin};
    collector.add(turn, rows, picks.size(),
                  [&](std::uint64_t base, std::uint64_t* row_ptr, Col* cols, std::byte* values) {
                    std::uint64_t row = 0, k = 0;
                    for (const Pick& p : picks) {
                      for (; row < p.row - part.rows.begin; ++row) row_ptr[row + 1] = base + k;
                      std::uint64_t bits = load_bits(tile.value_type, p.value);
                      if (!convert_cell(tile.value_type, bits, out.type, bits))
                        throw NeedsCloserLook();
                      cols[k] = static_cast<Col>(p.col - part.cols.begin);
                      store_bits(out.type, values + k++ * size, bits);
                    }
                    for (; row < rows.size(); ++row) row_ptr[row + 1] = base + k;
                  });
  };
  try {
    parallel_in_order(tiles, options.threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
      store.watched([&] { read(i, worker, turn); });
    });
  } catch (const NeedsCloserLook&) {
    return false;
  }
  collector.finish();
  return true;
}

template bool collect_few_columns(const Store&, const Region&, const ReadOptions&,
                                  const CsrOut<std::uint32_t>&);
template bool collect_few_columns(const Store&, const Region&, const ReadOptions&,
                                  const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail
