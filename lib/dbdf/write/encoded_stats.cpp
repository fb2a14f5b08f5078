#include "lib/dbdf/write/encoded_stats.h"

namespace dapple::detail::dbdf {

EncodedStats::EncodedStats(const CsrCells& cells, const Plan& plan, bool wanted)
    : cells_(cells), plan_(plan), wanted_(wanted) {
  if (wanted_) stats_ = of({0, 0});
}

void EncodedStats::reach(std::uint32_t end) {
  constexpr std::uint64_t kAtOnce = 4096;  // stays in the cache, and is worth a call
  const std::uint64_t entries = cells_.row_ptr[end];
  if (!wanted_ || (entries - done_ < kAtOnce && end < cells_.row_count())) return;
  stats_.merge(of({done_, entries}));
  done_ = entries;
}

const BlockStats& EncodedStats::finish() {
  const std::uint64_t zeros = std::uint64_t{cells_.rows} * cells_.cols - cells_.stored();
  if (wanted_ && plan_.kind == BlockKind::dense && zeros > 0) {  // which a dense block stores
    visit_type(plan_.type, [&](auto zero) {
      using T = decltype(zero);
      TallyOf<T> tally;
      tally.add(T{0});
      if constexpr (std::is_floating_point_v<T>) tally.pending = zeros;
      stats_.merge(BlockStats::of<T>(tally));
    });
  }
  return stats_;
}

BlockStats EncodedStats::of(Range entries) const {
  const std::size_t size = size_of(cells_.type);
  return stats_of_values(plan_.type, cells_.type, cells_.values + entries.begin * size, 1,
                         entries.size(), entries.size() * size);
}

}  // namespace dapple::detail::dbdf
