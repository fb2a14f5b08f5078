#include "lib/dbdf/walk.h"

#include <algorithm>

namespace dapple::detail::dbdf {

namespace {

constexpr std::size_t kItemHeader = kPosition + kCsrHeader;  // the longest
// Reads double from the first to the largest: where the first block is a large one, most of a large
// read would be for nothing.
constexpr std::size_t kFirstRead = 4 << 10, kLargestRead = 256 << 10;
// Behind a block of this size the next header is read alone.
constexpr std::uint64_t kFarJump = 32 << 10;

}  // namespace

Walk::Walk(const MappedFile& file, std::uint64_t body, std::uint64_t rows, std::uint64_t cols)
    : file_(&file),
      rows_(rows),
      cols_(cols),
      at_(body),
      window_(std::make_unique_for_overwrite<std::byte[]>(kLargestRead)),
      window_at_(body),
      next_read_(kFirstRead) {}

// The bytes of the next item's header, as many of them as the file has.
std::span<const std::byte> Walk::look() {
  const std::uint64_t left = file_->size() - at_;
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, kItemHeader));
  const std::uint64_t window_end = window_at_ + window_size_;
  if (window_end - at_ < wanted || at_ >= window_end) {
    const bool far = at_ > window_end && at_ - window_end >= kFarJump;
    window_size_ =
        static_cast<std::size_t>(std::min<std::uint64_t>(left, far ? kItemHeader : next_read_));
    if (!far) next_read_ = std::min(2 * next_read_, kLargestRead);
    window_at_ = at_;
    file_->read_at(at_, {window_.get(), window_size_});
  }
  return {window_.get() + (at_ - window_at_), wanted};
}

std::optional<Item> Walk::next() {
  if (at_ == file_->size()) return std::nullopt;
  const std::uint64_t left = file_->size() - at_;
  ByteReader reader(look(), at_, file_->name());
  const Item item = read_item_header(reader, rows_, cols_, left);
  at_ = item.entry.offset + item.entry.bytes;
  return item;
}

}  // namespace dapple::detail::dbdf
