#include "lib/index/found_blocks.h"

#include <new>
#include <utility>

namespace dapple::detail {

void FoundBlocks::make_room() noexcept {
  try {
    table_.reserve(expected_);
  } catch (const std::bad_alloc&) {
  }
}

void FoundBlocks::keep_run() {
  make_room();
  table_.reserve(run_.size() + 1);
  for (std::uint64_t i = 0; i < run_.size(); ++i) table_.push_back(run_[i]);
}

BlockIndex FoundBlocks::make_index(const std::string& file) && {
  if (table_.size() == 0 && summary_.grid()) return BlockIndex::from_run(run_, summary_);
  if (table_.size() == 0) keep_run();
  return BlockIndex::from_entries(std::move(table_), summary_, file);
}

}  // namespace dapple::detail
