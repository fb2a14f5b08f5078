#include "lib/object/row_access.h"

#include <algorithm>
#include <limits>

namespace dapple::detail {

namespace {

std::size_t size_of_rows(const BlockRows& rows) {
  constexpr std::size_t kNode = 64;  // of the map, about
  return sizeof rows + rows.directory.bytes() + kNode;
}

}  // namespace

RowDirectory::RowDirectory(const Store& store, const Entry& entry) {
  const std::uint64_t count = entry.rows / kStep + 1;
  const bool narrow = entry.stored <= std::numeric_limits<std::uint32_t>::max();
  if (narrow) {
    halves_.reset(count);
  } else {
    words_.reset(count);
  }
  RowCursor cursor;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (narrow) {
      halves_[i] = static_cast<std::uint32_t>(cursor.entries);
    } else {
      words_[i] = cursor.entries;
    }
    store.codec().skip_rows(store, entry, std::min<std::uint64_t>((i + 1) * kStep, entry.rows),
                            cursor);
  }
}

std::unique_ptr<BlockRows> RowAccess::load(std::uint64_t number) const {
  auto rows = std::make_unique<BlockRows>();
  rows->entry = store_.confirmed_entry(number);
  const Entry& entry = rows->entry;
  const Codec& codec = store_.codec();
  store_.watched(
      [&] {
        if (entry.kind == BlockKind::dense && codec.in_place != nullptr) {
          if (const auto place = codec.in_place(store_, entry)) {
            rows->data = place->data;
            rows->row_step = place->row_step;
          }
        }
        rows->by_row = entry.kind == BlockKind::csr && codec.skip_rows != nullptr;
        if (!rows->by_row) return;
        if (codec.sparse_in_place) {
          const std::uint64_t header = codec.header_size(entry);
          rows->data = store_.file().at(entry.offset + header, entry.bytes - header);
        }
        // Without one, rows are found by a walk.
        if (RowDirectory::bytes_for(entry.rows) <= budget_ / 2) {
          rows->directory = RowDirectory(store_, entry);
        }
      },
      &entry);
  return rows;
}

void RowAccess::make(std::span<const std::uint64_t> numbers) {
  for (const std::uint64_t number : numbers) {
    {
      const std::shared_lock lock(mutex_);
      if (blocks_.contains(number)) continue;
    }
    auto rows = load(number);
    rows->used.store(++clock_, std::memory_order_relaxed);
    const std::unique_lock lock(mutex_);
    const std::size_t size = size_of_rows(*rows);
    if (bytes_ + size > budget_) forget_least_used();
    if (blocks_.try_emplace(number, std::move(rows)).second) bytes_ += size;
  }
}

/// Forgets about half of them. REQUIRES the lock.
void RowAccess::forget_least_used() {
  std::vector<std::uint64_t> times;
  times.reserve(blocks_.size());
  for (const auto& [number, rows] : blocks_) times.push_back(rows->used);
  if (times.empty()) return;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::erase_if(blocks_, [&](const auto& item) {
    if (item.second->used > *middle) return false;
    bytes_ -= size_of_rows(*item.second);
    return true;
  });
}

const BlockRows* RowAccess::Reader::find(std::uint64_t number) const noexcept {
  const auto found = access_.blocks_.find(number);
  if (found == access_.blocks_.end()) return nullptr;
  found->second->used.store(access_.clock_.load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
  return found->second.get();
}

std::size_t RowAccess::bytes() const {
  const std::shared_lock lock(mutex_);
  return bytes_;
}

}  // namespace dapple::detail
