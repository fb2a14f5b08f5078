#include "lib/dbdf/walk.h"

#include <algorithm>

namespace dapple::detail::dbdf {

namespace {

// The window doubles in size up to the largest, so that a file that starts with a large block costs
// a small read. Small windows are read, large ones used in the map.
constexpr std::size_t kFirstWindow = 4 << 10, kLargestRead = 64 << 10, kLargestWindow = 256 << 10;
// After a block of this size, the next header is read alone.
constexpr std::uint64_t kFarJump = 32 << 10;

// Small blocks often have the same size: both cache lines of the header that is this many items
// ahead are prefetched, which halves the time of a walk over small blocks.
constexpr std::uint64_t kAhead = 16;

}  // namespace

Walk::Walk(const ByteSource& file, std::uint64_t body, std::uint64_t rows, std::uint64_t cols)
    : file_(&file),
      rows_(rows),
      cols_(cols),
      at_(body),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kLargestRead)),
      window_at_(body),
      next_window_(kFirstWindow) {}

// The header of the next item, or as much of it as the file has.
std::span<const std::byte> Walk::look() {
  const std::uint64_t left = file_->size() - at_;
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(left, kLongestItemHeader));
  const std::uint64_t window_end = window_at_ + window_size_;
  if (window_end - at_ < wanted || at_ >= window_end) {
    const bool far = at_ > window_end && at_ - window_end >= kFarJump;
    window_size_ = static_cast<std::size_t>(
        std::min<std::uint64_t>(left, far ? kLongestItemHeader : next_window_));
    window_at_ = at_;
    if (window_size_ > kLargestRead) {
      window_ = file_->at(at_, window_size_);
      // The missing part of a truncated, guarded file would read as millions of empty items.
      if (!file_->is_intact()) file_->fail_changed("it");
    } else {
      file_->read_at(at_, {buffer_.get(), window_size_});
      window_ = buffer_.get();
    }
    if (!far) next_window_ = std::min(2 * next_window_, kLargestWindow);
  }
  return {window_ + (at_ - window_at_), wanted};
}

bool Walk::next(Item& item) {
  if (at_ == file_->size()) return false;
  const std::uint64_t left = file_->size() - at_;
  const std::span<const std::byte> bytes = look();
  read_item_header(bytes, at_, rows_, cols_, left, file_->name(), item);
  const std::uint64_t length = item.entry.offset + item.entry.bytes - at_;
  const std::uint64_t window_left = window_at_ + window_size_ - at_;
  if (length <= window_left / kAhead) {
    const std::byte* const ahead = bytes.data() + kAhead * length;
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + kPosition + kDenseHeader - 1);
  }
  at_ += length;
  return true;
}

}  // namespace dapple::detail::dbdf
