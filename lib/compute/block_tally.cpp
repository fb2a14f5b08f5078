#include "lib/compute/block_tally.h"

namespace dapple::detail {

namespace {

Part whole(const Entry& entry) { return {{0, entry.rows}, {0, entry.cols}}; }

}  // namespace

BlockStats scan_block(const Store& store, const Entry& entry) {
  const Region cells = entry.cells();
  if (entry.kind != BlockKind::empty &&
      !holds_stored(store.schema(), cells.cols, entry.value_type)) {
    return {};
  }
  WholeTally tallies;
  Band band;
  visit_cells(store, entry, whole(entry), band, tallies);
  return visit_type(entry.value_type, [&](auto tag) {
    using T = decltype(tag);
    return BlockStats::of<T>(*tallies.tallies.of<T>());
  });
}

void tally_block(const Store& store, const BlockStatsTable* known, std::uint64_t number, Band& band,
                 WholeTally& tallies) {
  if (known != nullptr) {
    const BlockStats stats = (*known)[number];
    if (const auto type = stats.type()) return tallies.add(stats, *type);
  }
  const Entry entry = store.confirmed_entry(number);
  store.watched([&] { visit_cells(store, entry, whole(entry), band, tallies); }, &entry);
}

Totals tally_region(const Store& store, const Region& region, Absent absent) {
  WholeTally tallies;
  Band band;
  visit_region(store, region, {absent}, band, tallies);
  return tallies.tallies.totals(0);
}

}  // namespace dapple::detail
