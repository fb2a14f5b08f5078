#include "lib/object/row_access.h"

#include <algorithm>
#include <limits>

#include "lib/object/entry_stream.h"

namespace dapple::detail {

namespace {

std::size_t size_of_rows(const BlockRows& rows) { return sizeof rows + rows.directory.bytes(); }

}  // namespace

RowDirectory::RowDirectory(const Store& store, const Entry& entry, std::size_t most) {
  // Positions of four bytes then take at most an eighth of the block.
  constexpr std::uint64_t kLeastRow = 32, kStepShift = 3;
  static_assert(kStep == 1 << kStepShift);
  const bool narrow = entry.stored <= std::numeric_limits<std::uint32_t>::max();
  shift_ =
      narrow && entry.bytes / kLeastRow >= entry.rows && entry.rows < most / 4 ? 0 : kStepShift;
  const std::uint64_t count = (std::uint64_t{entry.rows} >> shift_) + 1,
                      step = std::uint64_t{1} << shift_;
  if (narrow) {
    halves_.reset(count);
  } else {
    words_.reset(count);
  }
  const auto put = [&](std::uint64_t i, std::uint64_t entries) {
    if (narrow) {
      halves_[i] = static_cast<std::uint32_t>(entries);
    } else {
      words_[i] = entries;
    }
  };
  RowCursor cursor;
  if (!store.codec().sparse_in_place) {
    for (std::uint64_t i = 0; i < count; ++i) {
      put(i, cursor.entries);
      store.codec().skip_rows(store, entry, std::min<std::uint64_t>((i + 1) * step, entry.rows),
                              cursor);
    }
    return;
  }
  const Stream stream(store, entry);
  std::uint64_t entries = 0;
  visit_bits(entry.value_type, [&](auto bits) {
    each_csr_row<sizeof bits>(stream, {0, entry.rows}, cursor,
                              [&](std::uint32_t row, const std::byte*, std::uint32_t n) {
                                if ((row & (step - 1)) == 0) put(row >> shift_, entries);
                                entries += n;
                              });
  });
  if (entry.rows % step == 0) put(entry.rows / step, entries);
}

std::unique_ptr<BlockRows> RowAccess::load(std::uint64_t number) const {
  auto rows = std::make_unique<BlockRows>();
  rows->entry = store_.confirmed_entry(number);
  const Entry& entry = rows->entry;
  const Codec& codec = store_.codec();
  rows->cols = entry.cols;
  rows->value_type = entry.value_type;
  rows->empty = entry.kind == BlockKind::empty;
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
        // Without a directory, rows are found by a walk.
        if (RowDirectory::bytes_for(entry.rows) <= budget_ / 2) {
          rows->directory = RowDirectory(store_, entry, budget_ / 2);
          if (rows->data != nullptr) rows->positions = rows->directory.positions();
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

/// Evicts about half of the blocks. REQUIRES the lock.
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

std::size_t RowAccess::bytes() const {
  const std::shared_lock lock(mutex_);
  return bytes_;
}

}  // namespace dapple::detail
