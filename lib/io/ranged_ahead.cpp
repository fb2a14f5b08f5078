// What a RangedSource was told that will be needed, which waits until it is taken.

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/io/ranged_buffer.h"

namespace dapple::detail {

/// Bytes that wait to be taken; nullptr when they are not among them. REQUIRES the lock.
std::shared_ptr<const RangedSource::Buffer> RangedSource::find_ahead(std::uint64_t offset,
                                                                     std::uint64_t n) const {
  auto place = ahead_.upper_bound(offset);
  if (place == ahead_.begin()) return nullptr;
  const Buffer& buffer = *(--place)->second;
  const bool inside =
      offset - buffer.offset <= buffer.size && n <= buffer.size - (offset - buffer.offset);
  return inside ? place->second : nullptr;
}

/// Lets go of bytes that wait. REQUIRES the lock.
void RangedSource::drop_ahead(std::uint64_t offset) const {
  const auto place = ahead_.find(offset);
  ahead_bytes_ -= place->second->size;
  ahead_.erase(place);
  std::erase(ahead_order_, offset);
}

/// The same as `find_ahead`, for who holds them, and keeps what is needed again. Where all was
/// taken but headers, nothing waits any longer. REQUIRES the lock.
std::shared_ptr<const RangedSource::Buffer> RangedSource::take_ahead(std::uint64_t offset,
                                                                     std::uint64_t n) const {
  auto buffer = find_ahead(offset, n);
  if (buffer == nullptr) return nullptr;
  buffer->taken += n;
  if (buffer->taken >= buffer->asked - buffer->asked / 64) drop_ahead(buffer->offset);
  return buffer;
}

/// Bytes wait from now on. Others that are among them are dropped: they would hide them. REQUIRES
/// the lock.
void RangedSource::put_ahead(const std::shared_ptr<const Buffer>& buffer) const {
  auto place = ahead_.lower_bound(buffer->offset);
  while (place != ahead_.end() && place->first - buffer->offset < buffer->size) {
    const Buffer& other = *place->second;
    if (other.size > buffer->size - (other.offset - buffer->offset)) {
      ++place;
      continue;
    }
    drop_ahead((place++)->first);
  }
  if (!ahead_.emplace(buffer->offset, buffer).second) return;  // a larger one has them
  ahead_order_.push_back(buffer->offset);
  ahead_bytes_ += buffer->size;
}

/// Those of which something neither is kept nor waits, ascending, overlapping ones as one.
std::vector<Range> RangedSource::not_there(std::span<const Range> ranges) const {
  std::vector<Range> all;
  {
    const std::lock_guard lock(mutex_);
    for (const Range& range : ranges) {
      if (!range.empty() && !kept_.missing(range).empty() &&
          find_ahead(range.begin, range.size()) == nullptr) {
        all.push_back(range);
      }
    }
  }
  return merged(std::move(all), 0);
}

namespace {

/// Parts of these ranges of which something is asked for: what is of some size by itself, and what
/// small ones need together. Both ascend.
std::vector<Range> taken_apart(std::span<const Range> ranges, std::span<const Range> asked) {
  constexpr std::uint64_t kOwn = 16 << 10;
  std::vector<Range> result;
  for (const Range& range : ranges) {
    std::uint64_t at = range.begin;
    bool small = false;  // ones are asked for from there on
    for (; !asked.empty() && asked.front().begin < range.end; asked = asked.subspan(1)) {
      const Range& next = asked.front();
      if (next.size() < kOwn) {
        small = true;
        continue;
      }
      if (std::exchange(small, false)) result.push_back({at, next.begin});
      result.push_back(next);
      at = next.end;
    }
    if (small) result.push_back({at, range.end});
  }
  return result;
}

}  // namespace

void RangedSource::will_need(std::span<const Range> ranges) const noexcept {
  try {
    const std::vector<Range> asked = not_there(ranges);
    std::vector<Range> wanted;
    std::uint64_t bytes = 0;
    for (const Range& range : joined(asked)) {
      if (cache_ != nullptr && cache_->will_need(range)) continue;
      if (range.size() > habits_.ahead - bytes) break;
      bytes += range.size();
      wanted.push_back(range);
    }
    if (wanted.empty()) return;
    // Pieces for the cache of the machine stay whole; they are held where it has them.
    const auto buffers = fetched(cache_ != nullptr ? wanted : taken_apart(wanted, asked));
    for (const Range& range : ranges) {
      const auto after = std::upper_bound(
          buffers.begin(), buffers.end(), range.begin,
          [](std::uint64_t at, const auto& buffer) { return at < buffer->offset; });
      if (after == buffers.begin()) continue;
      const Buffer& buffer = **std::prev(after);
      if (range.begin - buffer.offset < buffer.size) buffer.asked += range.size();
    }
    const std::lock_guard lock(mutex_);
    for (const auto& buffer : buffers) put_ahead(buffer);
    while (ahead_bytes_ > habits_.ahead) drop_ahead(ahead_order_.front());
  } catch (...) {  // whoever needs the bytes asks again, and gets the error
  }
}

}  // namespace dapple::detail
