#include "lib/io/ranged_source.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "dapple/array.h"
#include "dapple/error.h"
#include "lib/io/ranged_buffer.h"

namespace dapple::detail {

RangedSource::RangedSource(std::string name, const Identity& identity, const Habits& habits)
    : ByteSource(std::move(name), identity), habits_(habits) {}

RangedSource::~RangedSource() {
  if (area_ != nullptr) ::munmap(area_, static_cast<std::size_t>(size()));
}

/// The addresses of all kept bytes. REQUIRES the lock, and a size above 0. Throws bad_alloc.
std::byte* RangedSource::area() const {
  if (area_ == nullptr) {
    void* const memory = ::mmap(nullptr, static_cast<std::size_t>(size()), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    area_ = static_cast<std::byte*>(memory);
  }
  return area_;
}

Range RangedSource::in_units(const Range& range) const noexcept {
  const std::uint64_t unit = habits_.unit, begin = range.begin / unit * unit;
  const std::uint64_t left = size() - range.end, over = (unit - range.end % unit) % unit;
  return {begin, range.end + std::min(left, over)};
}

/// In units, ascending, near ones as one.
std::vector<Range> RangedSource::joined(std::span<const Range> ranges) const {
  std::vector<Range> all;
  for (const Range& range : ranges) {
    if (!range.empty()) all.push_back(in_units(range));
  }
  return merged(std::move(all), habits_.gap + 1);
}

std::vector<RangedSource::Near> RangedSource::joined(std::span<const Part> parts,
                                                     std::uint64_t most) const {
  std::vector<Near> result;
  for (std::size_t i = 0, first = 0; i < parts.size(); ++i) {
    const Range bytes{parts[i].offset, end_of(parts[i])};
    const Range* const before = result.empty() ? nullptr : &result.back().bytes;
    if (before != nullptr && bytes.begin >= before->end &&
        bytes.begin - before->end <= habits_.gap && bytes.end - before->begin <= most) {
      result.back().bytes.end = bytes.end;
    } else {
      first = i;
      result.push_back({bytes, {}});
    }
    result.back().parts = parts.subspan(first, i + 1 - first);
  }
  return result;
}

/// Keeps bytes that were fetched. Those that are kept already are not written again: others may be
/// reading them. REQUIRES the lock.
void RangedSource::put_kept(std::uint64_t offset, std::span<const std::byte> bytes) const {
  for (const Range& gap : kept_.missing({offset, offset + bytes.size()})) {
    std::memcpy(area() + gap.begin, bytes.data() + (gap.begin - offset), gap.size());
    kept_.add(gap);
  }
}

void RangedSource::use_cache(const CacheFolder& folder, const std::string& object) {
  if (folder.path.empty() || size() == 0) return;
  try {
    cache_ = std::make_unique<const PieceCache>(folder, object, size());
  } catch (const Error& e) {
    set_note("the cache folder is not used: " + std::string(e.what()));
  }
}

/// Bytes in the map of the cache; without a `keep` where they are not there, or where the first
/// bytes are to be compared with fetched ones yet.
HeldBytes RangedSource::in_cache(std::uint64_t offset, std::uint64_t n) const noexcept {
  if (cache_ == nullptr || (presumed_ != nullptr && !compared_)) return {};
  return cache_->hold(offset, n);
}

/// Pieces in a row that are not in the cache, as far as a part needs them.
struct RangedSource::Gap {
  Part part;
  Range pieces;
  std::vector<std::byte> around{};  // all of them, where they are more than the part
};

void RangedSource::get(std::span<const Part> parts) const {
  if (cache_ == nullptr) return fetch(parts);
  constexpr std::uint64_t kKept = PieceCache::kPiece;
  std::vector<Gap> gaps;
  for (const Part& part : parts) {
    const std::uint64_t end = part.offset + part.to.size();
    bool in_gap = false;
    for (std::uint64_t at = part.offset; at < end;) {
      const std::uint64_t piece = at / kKept, next = std::min(end, (piece + 1) * kKept);
      const HeldBytes kept = cache_->hold(at, next - at);
      if (kept.keep != nullptr) {
        std::memcpy(part.to.data() + (at - part.offset), kept.data(), kept.size());
        in_gap = false;
      } else if (std::exchange(in_gap, true)) {
        ++gaps.back().pieces.end;
      } else {
        gaps.push_back({part, {piece, piece + 1}});
      }
      at = next;
    }
  }
  if (gaps.empty()) return;
  std::vector<Part> wanted;
  for (Gap& gap : gaps) {
    const std::uint64_t begin = gap.pieces.begin * kKept;
    const auto n = static_cast<std::size_t>(std::min(size(), gap.pieces.end * kKept) - begin);
    const auto& [offset, to] = gap.part;
    const bool inside = begin >= offset && begin - offset + n <= to.size();
    if (!inside) gap.around.resize(n);
    wanted.push_back(
        {begin, inside ? to.subspan(static_cast<std::size_t>(begin - offset), n) : gap.around});
  }
  fetch(wanted);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const auto& [begin, bytes] = wanted[i];
    cache_->write(begin, bytes);
    if (gaps[i].around.empty()) continue;
    const auto& [offset, to] = gaps[i].part;
    const std::uint64_t first = std::max(begin, offset);
    const std::uint64_t last = std::min(begin + bytes.size(), offset + to.size());
    std::memcpy(to.data() + (first - offset), bytes.data() + (first - begin),
                static_cast<std::size_t>(last - first));
  }
}

void RangedSource::know(std::uint64_t offset, std::span<const std::byte> bytes) const {
  {
    const std::lock_guard lock(mutex_);
    put_kept(offset, bytes);
  }
  // Only whole pieces, of which the last of all may be short.
  constexpr std::uint64_t kKept = PieceCache::kPiece;
  const std::uint64_t skipped = (kKept - offset % kKept) % kKept;
  if (cache_ == nullptr || skipped >= bytes.size()) return;
  bytes = bytes.subspan(static_cast<std::size_t>(skipped));
  const bool ends = offset + skipped + bytes.size() == size();
  cache_->write(offset + skipped, bytes.first(bytes.size() - (ends ? 0 : bytes.size() % kKept)));
}

std::vector<std::shared_ptr<RangedSource::Buffer>> RangedSource::fetched(
    std::span<const Range> ranges) const {
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<Part> parts;
  for (const Range& range : ranges) {
    auto& buffer = buffers.emplace_back(std::make_shared<Buffer>(range.begin, range.size()));
    parts.push_back({range.begin, {buffer->data, static_cast<std::size_t>(range.size())}});
  }
  get_compared(std::move(parts));
  return buffers;
}

/// Fetches parts, and with the first of them what is presumed, to compare it; and what follows
/// that: the header of the first block, which statistics are compared with.
void RangedSource::get_compared(std::vector<Part> parts) const {
  if (presumed_ == nullptr || compared_) return get(parts);
  constexpr std::uint64_t kMore = 256;
  const std::uint64_t n = presumed_->size, next = parts.empty() ? size() : parts.front().offset;
  const bool apart = next >= n;
  std::vector<std::byte> first(
      static_cast<std::size_t>(apart ? std::min({size(), n + kMore, next}) : n));
  parts.insert(apart ? parts.begin() : parts.end(), {0, first});
  get(parts);
  if (!std::equal(presumed_->data, presumed_->data + n, first.begin())) {
    throw Error(Errc::corrupt, name(), 0,
                "the header of the file is not the one that its index was made for");
  }
  const std::lock_guard lock(mutex_);
  put_kept(0, first);
  compared_ = true;
}

bool RangedSource::receive(std::span<const RangeRequest> wanted) const {
  if (cache_ != nullptr) return false;
  if (!wanted.empty()) get_compared({wanted.begin(), wanted.end()});
  return true;
}

void RangedSource::presume(std::span<const std::byte> first) {
  {
    const std::lock_guard lock(mutex_);
    if (kept_.missing({0, first.size()}).empty()) return;
  }
  const auto buffer = std::make_shared<Buffer>(0, first.size());
  std::memcpy(buffer->data, first.data(), first.size());
  presumed_ = buffer;
}

std::span<const std::byte> RangedSource::presumed() const noexcept {
  if (presumed_ == nullptr) return {};
  return {presumed_->data, static_cast<std::size_t>(presumed_->size)};
}

void RangedSource::take_copy(std::uint64_t offset, std::span<const std::byte> bytes) const {
  const std::lock_guard lock(mutex_);
  put_kept(offset, bytes);
}

const std::byte* RangedSource::keep(std::uint64_t offset, std::uint64_t n) const {
  static constexpr std::byte kNothing{};
  if (n == 0) return &kNothing;
  if (presumed_ != nullptr && offset <= presumed_->size && n <= presumed_->size - offset) {
    return presumed_->at(offset);
  }
  std::vector<Range> gaps;
  {
    const std::lock_guard lock(mutex_);
    if (kept_.missing({offset, offset + n}).empty()) return area() + offset;
  }
  if (const HeldBytes cached = in_cache(offset, n); cached.keep != nullptr) {
    const std::lock_guard lock(mutex_);
    if (pinned_.empty() || pinned_.back() != cached.keep) pinned_.push_back(cached.keep);
    return cached.data();
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto buffer = find_ahead(offset, n)) {
      put_kept(offset, {buffer->at(offset), static_cast<std::size_t>(n)});
      return area() + offset;
    }
    gaps = kept_.missing(in_units({offset, offset + n}));
  }
  const auto buffers = fetched(joined(gaps));
  const std::lock_guard lock(mutex_);
  for (const auto& buffer : buffers) {
    put_kept(buffer->offset, {buffer->data, static_cast<std::size_t>(buffer->size)});
  }
  return area() + offset;
}

HeldBytes RangedSource::hold_anew(std::uint64_t offset, std::uint64_t n) const {
  if (HeldBytes kept = in_cache(offset, n); kept.keep != nullptr) return kept;
  const auto size = static_cast<std::size_t>(n);
  std::shared_ptr<const Buffer> buffer;
  {
    const std::lock_guard lock(mutex_);
    buffer = take_ahead(offset, n);
    if (buffer == nullptr && kept_.missing({offset, offset + n}).empty()) {
      auto copy = std::make_shared<Buffer>(offset, n);
      if (n > 0) std::memcpy(copy->data, area() + offset, size);
      buffer = std::move(copy);
    }
  }
  if (buffer != nullptr && n < buffer->size / 2) {
    // What is held does not keep alive much more than itself.
    auto copy = std::make_shared<Buffer>(offset, n);
    if (n > 0) std::memcpy(copy->data, buffer->at(offset), size);
    buffer = std::move(copy);
  }
  if (buffer == nullptr) {
    const Range range{offset, offset + n};
    buffer = fetched({&range, 1}).front();
  }
  return {{buffer->at(offset), size}, buffer};
}

void RangedSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const HeldBytes held = hold_anew(offset, out.size());
  if (!out.empty()) std::memcpy(out.data(), held.data(), out.size());
}

}  // namespace dapple::detail
