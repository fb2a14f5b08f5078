#include "lib/index/entries.h"

#include <algorithm>
#include <new>
#include <string>

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

const std::vector<std::uint64_t>& EntryMaker::file_order(std::uint64_t n) const {
  std::call_once(ordered_, [&] {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places(n);
    for (std::uint64_t i = 0; i < n; ++i) places[i] = {make(i).offset, i};
    std::sort(places.begin(), places.end());
    order_.reserve(n);
    for (const auto& [offset, number] : places) order_.push_back(number);
  });
  return order_;
}

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

}  // namespace dapple::detail
