// Few neighbouring columns of a grid of CSR tiles, as sparse rows.
#include "lib/compute/few_columns.h"

#include <vector>

#include "lib/base/parallel.h"
#include "lib/compute/csr.h"

namespace dapple::detail {

namespace {

/// Columns of a tile for each wanted one, at least.
constexpr std::uint64_t kColumnsPerWanted = 16;

}  // namespace

template <class Col>
bool collect_few_columns(const Store& store, const Region& region, const ReadOptions& options,
                         const CsrOut<Col>& out) {
  const auto& grid = store.index().grid();
  if (!possible_to_pick(store) || region.empty() ||
      grid->tile.cols / kColumnsPerWanted < region.cols.size() ||
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
    const Part part = shared_part(tile, region);
    const auto left = static_cast<std::uint32_t>(part.cols.begin);
    const auto width = static_cast<std::uint32_t>(part.cols.size());
    std::vector<Pick>& picks = memory[worker];
    HeldBytes held;
    pick_from(
        store, tile, part.rows,
        [&](std::uint32_t col) { return col - left < width ? col - left : kNoSlot; }, picks, held);
    if (tile.kind == BlockKind::empty) return;
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
                      cols[k] = static_cast<Col>(p.slot);
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
