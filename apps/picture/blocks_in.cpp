#include "blocks_in.h"

namespace dapple::picture {

BlockInfo BlocksIn::find(const BlockRange& blocks, BlockPos pos) const {
  const auto number = [&](BlockPos at) {
    return at.rx / grid_->tile.rows * grid_->cols + at.cx / grid_->tile.cols;
  };
  std::call_once(once_, [&] {
    order_.resize(blocks.size());
    std::uint64_t k = 0;
    for_each_in(blocks, 0, blocks.size(), [&](const BlockInfo& block) {
      order_.at(number(block.pos)) = k++;
      return true;
    });
  });
  BlockInfo found;
  blocks.copy(order_.at(number(pos)), {&found, 1});
  return found;
}

}  // namespace dapple::picture
