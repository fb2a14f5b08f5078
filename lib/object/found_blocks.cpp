#include "lib/object/found_blocks.h"

#include <algorithm>
#include <utility>

namespace dapple::detail {

void FoundBlocks::keep_run() {
  table_.reserve(std::max(expected_, run_.size() + 1));
  for (std::uint64_t i = 0; i < run_.size(); ++i) table_.push_back(run_[i]);
}

BlockIndex FoundBlocks::make_index(const std::string& file) && {
  if (table_.size() == 0 && summary_.grid()) return BlockIndex::from_run(run_, summary_);
  if (table_.size() == 0) keep_run();
  return BlockIndex::from_entries(std::move(table_), summary_, file);
}

}  // namespace dapple::detail
