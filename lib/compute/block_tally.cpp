#include "lib/compute/block_tally.h"

#include <vector>

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

bool knows_all_blocks(const Store& store) {
  if (store.block_stats() == nullptr) return false;
  if (store.index().grid()) return true;
  const Region object{{0, store.schema().rows}, {0, store.schema().cols}};
  const auto all = store.watched([&] { return store.covering(object, Absent::zero); });
  return all.numbers.size() == store.index().size();
}

std::uint64_t WholeTally::add(const BlockStatsTable& known, Range numbers) {
  std::uint64_t number = numbers.begin;
  while (number < numbers.end) {
    const auto type = known[number].type();
    if (!type || !known[number].knows_spread()) break;
    visit_type(*type, [&](auto tag) {
      using T = decltype(tag);
      TallyOf<T> tally = *tallies.of<T>();  // in registers
      for (; number < numbers.end; ++number) {
        const BlockStats stats = known[number];
        if (stats.type() != type || !stats.knows_spread()) break;
        tally.merge(stats.tally<T>());
      }
      *tallies.of<T>() = tally;
    });
  }
  return number;
}

void tally_blocks(const Store& store, const BlockStatsTable* known, Range numbers, Band& band,
                  WholeTally& tallies) {
  std::vector<std::uint64_t> unknown;
  for (std::uint64_t number = numbers.begin; number < numbers.end; ++number) {
    if (known != nullptr) number = tallies.add(*known, {number, numbers.end});
    if (number < numbers.end) unknown.push_back(number);
  }
  store.watched_blocks(unknown, [&](std::uint64_t number, const Entry& entry) {
    store.confirm_entry(number, entry);
    visit_cells(store, entry, whole(entry), band, tallies);
  });
}

Totals tally_region(const Store& store, const Region& region, Absent absent) {
  WholeTally tallies;
  Band band;
  visit_region(store, region, {absent}, band, tallies);
  return tallies.tallies.totals(0);
}

}  // namespace dapple::detail
