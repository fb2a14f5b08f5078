#include <cmath>
#include <utility>

#include "dapple/packing.h"
#include "lib/compute/used_words.h"
#include "lib/dbdf/write/retile.h"
#include "lib/object/make_object.h"
#include "lib/object/store.h"

namespace dapple {

namespace {

/// About this many bytes of cells or entries are in a run of rows; runs are from all over the
/// object: runs that are too short would not be packed as a whole file is.
constexpr double kRunBytes = 4 << 20;
constexpr std::uint64_t kRuns = 8;

/// Bytes of the cells and entries that are stored, whatever storage the object declares.
double bytes_of(const detail::BlockIndex& index) {
  constexpr std::size_t kEntry = 12;
  double bytes = 0;
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    const detail::Entry entry = index.entry(i);
    const std::size_t cell = entry.kind == BlockKind::dense ? size_of(entry.value_type) : kEntry;
    bytes += static_cast<double>(entry.stored) * static_cast<double>(cell);
  }
  return bytes;
}

}  // namespace

PackingEstimate estimate_packing(const std::variant<Matrix, Frame>& in,
                                 const ConvertOptions& options) {
  const auto store = detail::store_of(in);
  const std::uint64_t rows = store->schema().rows;
  const double runs = std::ceil(bytes_of(store->index()) / kRunBytes);
  PackingEstimate estimate;
  estimate.sampled = runs > static_cast<double>(kRuns);
  const std::uint64_t count = estimate.sampled ? kRuns : 1;
  const auto each = static_cast<std::uint64_t>(
      estimate.sampled ? std::ceil(static_cast<double>(rows) / runs) : static_cast<double>(rows));
  ConvertOptions as = options;
  as.write.sync = false;
  const std::pair<Packing, std::uint64_t PackingEstimate::*> ways[] = {
      {Packing::none, &PackingEstimate::plain},
      {Packing::fast, &PackingEstimate::fast},
      {Packing::small, &PackingEstimate::small}};
  for (const auto& [packing, bytes] : ways) {
    as.write.pack = packing;
    double sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      Selection part;
      const std::uint64_t first =
          count == 1
              ? 0
              : static_cast<std::uint64_t>(static_cast<double>(rows - each) *
                                           static_cast<double>(i) / static_cast<double>(count - 1));
      if (estimate.sampled) part.rows = Range{first, first + each};
      const detail::Source source(detail::with_used_words(store, part, as.threads), part, as);
      sum += static_cast<double>(detail::dbdf::measure_dbdf(source, as.write).bytes);
    }
    const double share = static_cast<double>(rows) / static_cast<double>(each * count);
    estimate.*bytes = static_cast<std::uint64_t>(estimate.sampled ? sum * share : sum);
  }
  return estimate;
}

}  // namespace dapple
