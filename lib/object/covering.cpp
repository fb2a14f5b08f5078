// Which blocks a region touches, and whether they cover it (R3, R7).

#include <algorithm>

#include "lib/index/overlap.h"
#include "lib/object/store.h"

namespace dapple::detail {

namespace {

Area area(const Region& region) { return Area{region.rows.size()} * region.cols.size(); }

// The entries of an index in place are not checked for overlaps at open, as those of a walk are.
void require_disjoint(const Store& store, std::span<const std::uint64_t> numbers) {
  if (!store.index().is_in_place() || numbers.size() < 2) return;
  EntryTable entries;
  entries.reserve(numbers.size());
  for (const std::uint64_t number : numbers) entries.push_back(store.index().entry(number));
  const auto overlaps = find_overlaps(entries);
  if (overlaps.empty()) return;
  // If one of the two entries does not match its block, that is the error.
  for (const std::uint64_t i : {overlaps.front().earlier, overlaps.front().later}) {
    store.confirm_entry(numbers[i], entries[i]);
  }
  throw overlap_error(entries, overlaps.front(), store.file().name());
}

// True when these blocks, which share no cell, cover the region: their areas add up.
bool cover_all(const BlockIndex& index, std::span<const std::uint64_t> numbers,
               const Region& region) {
  Area covered = 0;
  for (const std::uint64_t number : numbers) {
    covered += area(intersect(index.entry(number).cells(), region));
  }
  return covered == area(region);
}

// Bisects the region to its first row, then column, that is not covered: at most 128 steps.
[[noreturn]] void fail_first_absent(const Store& store, Region region) {
  for (Range Region::*side : {&Region::rows, &Region::cols}) {
    while ((region.*side).size() > 1) {
      const std::uint64_t middle = (region.*side).begin + (region.*side).size() / 2;
      Region first = region;
      (first.*side).end = middle;
      if (cover_all(store.index(), store.index().touching(first), first)) {
        (region.*side).begin = middle;
      } else {
        region = first;
      }
    }
  }
  store.fail_absent({region.rows.begin, region.cols.begin});
}

// Throws when the blocks of the file in `region` are not those of the index.
void require_touching(const Store& store, const Region& region,
                      std::span<const std::uint64_t> numbers) {
  const BlockIndex* truth = store.truth();
  if (truth == nullptr) return;
  auto known = numbers.begin();  // both ascend by position
  for (const std::uint64_t number : truth->touching(region)) {
    const Entry entry = truth->entry(number);
    if (known == numbers.end() || store.index().entry(*known++).pos != entry.pos) {
      store.fail_missing(entry);
    }
  }
}

}  // namespace

void Store::fail_absent(BlockPos cell) const {
  if (driver_->fail_absent != nullptr) driver_->fail_absent(*this, cell);
  throw Error(Errc::absent, known_as(), std::nullopt,
              "no block covers cell " + text(cell) + " (R7)", "absent");
}

bool Store::covers(Range rows, std::span<const std::uint64_t> cols) const {
  if (index_.grid() || rows.empty() || cols.empty()) return true;
  const std::vector<std::uint64_t> numbers =
      index_.touching({rows, {cols.front(), cols.back() + 1}});
  index_.will_need(numbers);
  const auto place = [&](std::uint64_t col) {
    return std::lower_bound(cols.begin(), cols.end(), col);
  };
  Area covered = 0;
  for (const std::uint64_t number : numbers) {
    const Region cells = index_.entry(number).cells();
    const auto of_block = place(cells.cols.end) - place(cells.cols.begin);
    covered += Area{intersect(cells.rows, rows).size()} * static_cast<std::uint64_t>(of_block);
  }
  return covered == Area{rows.size()} * cols.size();
}

Store::Covering Store::covering(const Region& region, Absent absent) const {
  require_inside(region);
  Covering covering{index_.touching(region)};
  index_.will_need(covering.numbers);
  if (index_.grid() || region.empty()) return covering;
  require_disjoint(*this, covering.numbers);
  covering.whole = cover_all(index_, covering.numbers, region);
  if (!covering.whole) {
    require_touching(*this, region, covering.numbers);
    if (absent == Absent::error) fail_first_absent(*this, region);
    if (absent == Absent::nan) {
      throw Error(Errc::unsupported, known_as(), std::nullopt,
                  "absent cells can be NaN only where cells are copied to dense memory");
    }
  }
  return covering;
}

}  // namespace dapple::detail
