#include "lib/compute/cell_search.h"

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/value_types.h"
#include "lib/base/vectors.h"
#include "lib/object/misfit.h"

namespace dapple::detail {

namespace {

/// Counts the values for which `match` holds, in counters as wide as values, so that the loop
/// vectorises without widening.
template <Value T, class Match>
[[gnu::always_inline]] inline std::uint64_t count_matches(const std::byte* values, std::size_t n,
                                                          const Match& match) {
  using Count = BitsOf<T>;
  constexpr std::size_t kLongest =
      std::min<std::uint64_t>(std::numeric_limits<Count>::max(), 1U << 16);
  std::uint64_t found = 0;
  while (n > 0) {
    const std::size_t run = std::min(n, kLongest);
    Count here = 0;
    for (std::size_t i = 0; i < run; ++i) {
      here = static_cast<Count>(here + (match(load_le<T>(values + i * sizeof(T))) ? 1 : 0));
    }
    found += here;
    values += run * sizeof(T);
    n -= run;
  }
  return found;
}

template <Value T>
DAPPLE_VECTORS std::uint64_t count_vectors(const std::byte* values, std::size_t n,
                                           const Matching<T>& match) {
  const T low = match.low, high = match.high;
  if (match.nan) return count_matches<T>(values, n, [](T v) { return v != v; });
  if (match.excludes_zero()) {
    return count_matches<T>(values, n, [=](T v) { return (v >= low) & (v <= high) & (v != 0); });
  }
  return count_matches<T>(values, n, [=](T v) { return (v >= low) & (v <= high); });
}

}  // namespace

template <Value T>
std::uint64_t count_run(const std::byte* values, std::size_t n, const Matching<T>& match) {
  return count_vectors<T>(values, n, match);
}

void Finder::end_entries() {
  const auto before = [](const StoredCell& a, const StoredCell& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    std::sort(entries.begin(), entries.end(), before);
  }
  hits.add(type, entries);
  entries.clear();
}

Skipped verdict(const Interval& interval, const Entry& entry, ValueType declared) {
  if (entry.kind == BlockKind::empty) return Skipped::empty;
  // Text has no stored type: a block of it may be said to have one that its columns do not have.
  const ValueType type = holds_all(declared, entry.value_type) ? entry.value_type : declared;
  const bool none = visit_type(type, [&](auto tag) { return interval.of<decltype(tag)>().none(); });
  return none ? Skipped::value_type : Skipped::no;
}

Skipped verdict(const Interval& interval, const Store& store, std::uint64_t number,
                const Entry& entry, ValueType declared) {
  const Skipped skipped = verdict(interval, entry, declared);
  if (skipped != Skipped::no) return skipped;
  const BlockStatsTable* const known = store.block_stats();
  return known != nullptr && rules_out(interval, (*known)[number]) ? Skipped::statistics
                                                                   : Skipped::no;
}

bool rules_out(const Interval& interval, const BlockStats& stats) {
  const auto type = stats.type();
  return type && visit_type(*type, [&](auto tag) {
           using T = decltype(tag);
           const Matching<T>& match = interval.of<T>();
           if (match.nan) return stats.nans() == 0;
           if (match.nonzero && stats.nonzero() == 0) return true;
           const TallyOf<T> tally = stats.tally<T>();
           return !(tally.min <= match.high && tally.max >= match.low);
         });
}

void fail_fit(const Store& store, const StoredCell& cell, ValueType type, ValueType wanted) {
  throw Error(Errc::type_mismatch, store.known_as(), std::nullopt,
              misfit_of(type, cell.bits, {cell.row, cell.col}, wanted).text);
}

#define DAPPLE_INSTANTIATE(T) \
  template std::uint64_t count_run<T>(const std::byte*, std::size_t, const Matching<T>&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple::detail
