#include "lib/object/row_access.h"

#include <algorithm>
#include <limits>

namespace dapple::detail {

namespace {

std::size_t size_of_rows(const BlockRows& rows) { return sizeof rows + rows.directory.bytes(); }

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

RowAccess::RowAccess(const Store& store, std::size_t budget)
    : store_(store), budget_(budget), pages_(store.index().size() / std::tuple_size_v<Page> + 1) {}

void RowAccess::make(std::span<const std::uint64_t> numbers) {
  for (const std::uint64_t number : numbers) {
    if (Reader(*this).find(number) != nullptr) continue;
    auto rows = load(number);
    rows->used = ++clock_;
    const std::size_t size = size_of_rows(*rows);
    const std::unique_lock lock(mutex_);
    if (bytes_ > 0 && bytes_ + size > budget_) forget_least_used();
    auto& page = pages_[number / std::tuple_size_v<Page>];
    if (page == nullptr) page = std::make_unique<Page>();
    auto& place = *slot(number);
    if (place == nullptr) {
      place = std::move(rows);
      bytes_ += size;
    }
  }
}

/// Forgets about half of them. REQUIRES the lock.
void RowAccess::forget_least_used() {
  std::vector<std::uint64_t> times;
  const auto each = [&](const auto& f) {
    for (auto& page : pages_) {
      if (page == nullptr) continue;
      for (auto& rows : *page) {
        if (rows != nullptr) f(rows);
      }
    }
  };
  each([&](const auto& rows) { times.push_back(rows->used); });
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  each([&](auto& rows) {
    if (rows->used > *middle) return;
    bytes_ -= size_of_rows(*rows);
    rows.reset();
  });
}

const BlockRows* RowAccess::Reader::find(std::uint64_t number) const noexcept {
  const auto* const place = access_.slot(number);
  const BlockRows* const rows = place == nullptr ? nullptr : place->get();
  if (rows == nullptr) return nullptr;
  const std::uint64_t now = access_.clock_.load(std::memory_order_relaxed);
  if (rows->used.load(std::memory_order_relaxed) != now) {
    rows->used.store(now, std::memory_order_relaxed);
  }
  return rows;
}

std::size_t RowAccess::bytes() const {
  const std::shared_lock lock(mutex_);
  return bytes_;
}

}  // namespace dapple::detail
