#include "lib/foreign/idv/idv_block.h"

#include <cstring>

#include "lib/foreign/idv/idv_deflate.h"

namespace dapple::detail::idv {

void BlockBytes::fail(std::uint64_t at, std::string detail) const {
  if (owner == nullptr) throw Error(Errc::corrupt, *file, offset + at, std::move(detail));
  throw Error(Errc::corrupt, *file, offset,
              detail + " (at byte " + std::to_string(at) + " of the inflated block)");
}

std::span<const std::byte> BlockReader::take(std::uint64_t n, std::string_view what) {
  if (n > remaining()) {
    fail(at_, too_short(n, what, remaining()));
  }
  const auto part = block_->bytes.subspan(at_, n);
  at_ += n;
  return part;
}

std::span<const std::byte> BlockReader::rest() noexcept {
  const auto part = block_->bytes.subspan(at_);
  at_ = block_->bytes.size();
  return part;
}

namespace {

void inflate_block(const ByteSource& file, Compression compression, const BlockPlace& place,
                   std::byte* out) {
  const std::string wrong =
      inflate(compression, file.bytes(place.offset, place.bytes), std::span(out, place.inflated));
  if (!wrong.empty()) throw Error(Errc::corrupt, file.name(), place.offset, wrong);
}

}  // namespace

void InflatedBlocks::copy(const ByteSource& file, Compression compression, const BlockPlace& place,
                          std::byte* out) {
  if (compression == Compression::none) {
    std::memcpy(out, file.at(place.offset, place.inflated), place.inflated);
  } else if (const auto kept = find(compression, place)) {
    std::memcpy(out, kept.get(), place.inflated);
  } else {
    inflate_block(file, compression, place, out);
  }
}

BlockBytes InflatedBlocks::read(const ByteSource& file, Compression compression,
                                const BlockPlace& place, Again again) {
  BlockBytes block;
  block.offset = place.offset;
  block.file = &file.name();
  if (compression == Compression::none) {
    block.bytes = file.bytes(place.offset, place.inflated);
    return block;
  }
  std::shared_ptr<const std::byte[]> bytes = find(compression, place);
  if (bytes == nullptr) {
    auto fresh = std::make_shared_for_overwrite<std::byte[]>(place.inflated);
    inflate_block(file, compression, place, fresh.get());
    bytes = std::move(fresh);
    if (again == Again::yes) keep({place, compression, bytes});
  }
  block.bytes = {bytes.get(), static_cast<std::size_t>(place.inflated)};
  block.owner = std::move(bytes);
  return block;
}

std::shared_ptr<const std::byte[]> InflatedBlocks::find(Compression compression,
                                                        const BlockPlace& place) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_offset_.find(place.offset);
  if (found == by_offset_.end()) return nullptr;
  const Kept& kept = *found->second;
  // Two lookup tables may disagree about one place; each gets what it asked for.
  if (kept.compression != compression || kept.place != place) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return kept.bytes;
}

void InflatedBlocks::keep(Kept block) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t offset = block.place.offset;
  if (const auto old = by_offset_.find(offset); old != by_offset_.end()) drop(old->second);
  total_ += block.place.inflated + kOverhead;
  kept_.push_front(std::move(block));
  by_offset_[offset] = kept_.begin();
  while (total_ > kBytes && kept_.size() > 1) drop(std::prev(kept_.end()));
}

void InflatedBlocks::drop(List::iterator block) noexcept {
  total_ -= block->place.inflated + kOverhead;
  by_offset_.erase(block->place.offset);
  kept_.erase(block);
}

}  // namespace dapple::detail::idv
