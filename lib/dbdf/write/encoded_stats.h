// Statistics of a sparse block, added up while its rows are encoded.
#pragma once

#include <cstdint>

#include "dapple/region.h"
#include "lib/dbdf/write/block_plan.h"
#include "lib/object/block_stats.h"

namespace dapple::detail::dbdf {

/// Values are looked at right after they were encoded, when they are in the cache: a pass of its
/// own over them halves the speed of writing. References must outlive the object.
class EncodedStats {
 public:
  /// Unless `wanted`, nothing is looked at and nothing known.
  EncodedStats(const CsrCells& cells, const Plan& plan, bool wanted);

  /// Rows up to `end` have been encoded.
  void reach(std::uint32_t end);
  /// Of the values that the whole block stores. REQUIRES that all rows were reached; once.
  const BlockStats& finish();

 private:
  BlockStats of(Range entries) const;

  const CsrCells& cells_;
  const Plan& plan_;
  bool wanted_;
  std::uint64_t done_ = 0;  // entries
  BlockStats stats_;
};

}  // namespace dapple::detail::dbdf
