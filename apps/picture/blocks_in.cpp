#include "blocks_in.h"

namespace dapple::picture {

namespace {

BlockInfo info_of(const BlockedObject& object, std::uint64_t number) {
  BlockRange::iterator at = object.blocks().begin();
  // Compiles to one addition.
  for (std::uint64_t i = 0; i < number; ++i) ++at;
  return *at;
}

}  // namespace

BlockInfo BlocksIn::tile_info(std::uint64_t i, std::uint64_t j) const {
  const BlockPos pos{i * grid_->tile.rows, j * grid_->tile.cols};
  const std::uint64_t number = i * grid_->cols + j;
  const BlockInfo likely = info_of(object_, number);
  if (likely.pos == pos) return likely;
  std::call_once(once_, [&] {
    order_.resize(grid_->rows * grid_->cols);
    std::uint64_t k = 0;
    for (const BlockInfo& block : object_.blocks()) {
      order_[block.pos.rx / grid_->tile.rows * grid_->cols + block.pos.cx / grid_->tile.cols] = k++;
    }
  });
  return info_of(object_, order_[number]);
}

}  // namespace dapple::picture
