#include "lib/index/entries.h"

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "lib/index/entry_pages.h"

namespace dapple::detail {

std::string text(BlockPos pos) {
  std::string s = std::to_string(pos.rx);
  s.insert(s.begin(), '(');
  return s.append(", ").append(std::to_string(pos.cx)).append(")");
}

std::string stored_as(const Entry& e) {
  return std::string(name(e.kind)) +
         (e.kind == BlockKind::empty ? "" : " of " + std::string(name(e.value_type)));
}

void store_entry(std::byte* p, const Entry& e) noexcept {
  store_le(p + entry_at::rx, e.pos.rx);
  store_le(p + entry_at::cx, e.pos.cx);
  store_le(p + entry_at::offset, e.offset);
  store_le(p + entry_at::bytes, e.bytes);
  store_le(p + entry_at::stored, e.stored);
  store_le(p + entry_at::hash, e.hash);
  store_le(p + entry_at::rows, e.rows);
  store_le(p + entry_at::cols, e.cols);
  p[entry_at::kind] = static_cast<std::byte>(e.kind);
  p[entry_at::value_type] = static_cast<std::byte>(e.value_type);
  p[entry_at::codec] = static_cast<std::byte>(e.codec);
  std::memset(p + entry_at::reserved, 0, Entry::kBytes - entry_at::reserved);
}

void EntryTable::reserve(std::uint64_t n) {
  if (n <= lines_.size()) return;
  Array<Line> larger(n);
  std::copy_n(lines_.begin(), size_, larger.begin());
  lines_ = std::move(larger);
}

void EntryTable::grow() { reserve(std::max<std::uint64_t>(16, 2 * size_)); }

Entries::Entries(std::shared_ptr<EntryPages> pages)
    : size_(pages->size()), pages_(std::move(pages)) {}

void Entries::will_need(std::span<const std::uint64_t> numbers) const noexcept {
  constexpr std::size_t kMost = (32 << 20) / Entry::kBytes;
  if (file_ == nullptr || !file_->fetches()) return;
  try {
    std::vector<Range> wanted;
    for (const std::uint64_t number : numbers.first(std::min(numbers.size(), kMost))) {
      const std::uint64_t at = byte_of(number);
      if (!wanted.empty() && wanted.back().end == at) {
        wanted.back().end += Entry::kBytes;
      } else {
        wanted.push_back({at, at + Entry::kBytes});
      }
    }
    file_->will_need(wanted);
  } catch (const std::bad_alloc&) {
  }
}

Entry Entries::made(std::uint64_t number) const { return load_entry(pages_->at(number)); }

std::span<const std::byte> Entries::bytes(Range numbers, std::span<std::byte> scratch) const {
  const std::size_t n = static_cast<std::size_t>(numbers.size()) * Entry::kBytes;
  if (memory_ != nullptr) return {memory_ + numbers.begin * Entry::kBytes, n};
  std::byte* p = scratch.data();
  for (std::uint64_t i = numbers.begin; i < numbers.end; ++i, p += Entry::kBytes) {
    store_entry(p, made(i));
  }
  return scratch.first(n);
}

}  // namespace dapple::detail
