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

/// Bytes of all cells, or of the entries that are stored, at most.
double bytes_of(const detail::Store& store) {
  const detail::Schema& schema = store.schema();
  double bytes = 0;
  if (schema.storage == Storage::csr && schema.kind == detail::ObjectKind::matrix) {
    for (std::uint64_t i = 0; i < store.index().size(); ++i) {
      bytes += static_cast<double>(store.index().entry(i).stored) * 12;
    }
    return bytes;
  }
  if (schema.kind == detail::ObjectKind::matrix) {
    bytes = static_cast<double>(schema.cols * size_of(schema.value_type));
  } else {
    for (std::uint64_t c = 0; c < schema.cols; ++c) {
      bytes += static_cast<double>(size_of(schema.type_of(c)));
    }
  }
  return bytes * static_cast<double>(schema.rows);
}

}  // namespace

PackingEstimate estimate_packing(const std::variant<Matrix, Frame>& in,
                                 const ConvertOptions& options) {
  const auto store = detail::store_of(in);
  const std::uint64_t rows = store->schema().rows;
  const double runs = std::ceil(bytes_of(*store) / kRunBytes);
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
