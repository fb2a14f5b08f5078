#include "lib/object/row_access.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/object/sparse_stream.h"

namespace dapple::detail {

namespace {

std::size_t size_of_rows(const BlockRows& rows) {
  return sizeof rows + rows.directory.bytes() + (rows.held.is_mapped() ? 0 : rows.held.size());
}

}  // namespace

void RowDirectory::reserve(const Entry& entry, unsigned shift, std::size_t most) {
  const bool narrow = entry.stored <= std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t size = narrow ? 4 : 8;
  while (entry.rows >> shift >= most / size && shift < 31) ++shift;
  shift_ = shift;
  const std::uint64_t count = (std::uint64_t{entry.rows} >> shift_) + 1;
  if (narrow) {
    halves_.reset(count);
  } else {
    words_.reset(count);
  }
}

RowDirectory::RowDirectory(const Store& store, const Entry& entry, unsigned shift,
                           std::size_t most) {
  reserve(entry, shift, most);
  const std::uint64_t step = std::uint64_t{1} << shift_, count = entry.rows / step + 1;
  RowCursor cursor;
  if (!store.driver().sparse_in_place) {
    for (std::uint64_t i = 0; i < count; ++i) {
      put(i, cursor.entries);
      store.driver().skip_rows(store, entry, std::min<std::uint64_t>((i + 1) * step, entry.rows),
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

std::optional<RowDirectory> RowDirectory::from(const RowCounts& counts, const Entry& entry,
                                               std::size_t most) {
  RowDirectory directory;
  directory.reserve(entry, counts.shift, most);
  const unsigned coarser = directory.shift_ - counts.shift;
  const std::uint64_t mask = (std::uint64_t{1} << coarser) - 1;
  std::uint64_t i = 0, entries = 0;
  const bool fit = counts.each([&](std::uint64_t count) {
    if ((i & mask) == 0) directory.put(i >> coarser, entries);
    ++i;
    if (count > entry.stored - entries) return false;
    entries += count;
    return true;
  });
  if (!fit || entries != entry.stored) return std::nullopt;
  const std::uint64_t step = std::uint64_t{1} << directory.shift_;
  if (entry.rows % step == 0) directory.put(entry.rows / step, entries);
  return directory;
}

/// How many rows share a position in a directory that is made by a walk: one, if the directories of
/// all blocks then fit in memory, or the directory is small compared with the block.
unsigned RowAccess::shift_for(const Entry& entry) const {
  constexpr std::uint64_t kLeastRow = 32, kPosition = 4;
  const auto& grid = store_.index().grid();
  const bool all_fit = grid && store_.schema().rows <=
                                   budget_ / 2 / kPosition / std::max<std::uint64_t>(1, grid->cols);
  return all_fit || entry.bytes / kLeastRow >= entry.rows ? 0 : RowDirectory::kStepShift;
}

std::unique_ptr<BlockRows> RowAccess::load(std::uint64_t number) const {
  auto rows = std::make_unique<BlockRows>();
  rows->entry = store_.confirmed_entry(number);
  const Entry& entry = rows->entry;
  const Driver& driver = store_.driver();
  rows->cols = entry.cols;
  rows->value_type = entry.value_type;
  rows->empty = entry.kind == BlockKind::empty;
  rows->payload_at = entry.offset + (driver.header_size != nullptr ? driver.header_size(entry) : 0);
  store_.watched(
      [&] {
        if (entry.kind == BlockKind::dense && driver.in_place != nullptr) {
          if (const auto place = driver.in_place(store_, entry)) {
            rows->held = place->held;
            rows->data = rows->held.data();
            rows->row_step = place->row_step;
          }
        }
        rows->by_row = entry.kind == BlockKind::csr && driver.skip_rows != nullptr;
        if (!rows->by_row) return;
        if (driver.sparse_in_place) {
          rows->held = store_.payload(entry);
          rows->data = rows->held.data();
        }
        // Where hashes are checked, the block is read anyway, and no hint need be believed.
        const RowCountsTable* const stored = store_.checks_hashes() ? nullptr : store_.row_counts();
        if (const auto counts = stored == nullptr ? std::nullopt : stored->find(number, entry)) {
          if (auto directory = RowDirectory::from(*counts, entry, budget_ / 2)) {
            rows->directory = std::move(*directory);
            rows->stored_directory = true;
          }
        }
        if (!rows->stored_directory) {
          rows->directory = RowDirectory(store_, entry, shift_for(entry), budget_ / 2);
        }
        if (rows->data != nullptr) rows->positions = rows->directory.positions();
      },
      &entry);
  return rows;
}

RowAccess::RowAccess(const Store& store, std::size_t budget)
    : store_(store), budget_(budget), pages_(store.index().size() / std::tuple_size_v<Page> + 1) {
  store.file().expect_reads();
}

/// Starts reading what `load` will look at.
void RowAccess::ask_for(std::span<const std::uint64_t> numbers) const {
  // A block up to this size is read as a whole: then its rows are found and used.
  constexpr std::uint64_t kSmall = 16 << 10, kPosition = 16, kHeader = 18;
  const ByteSource& file = store_.file();
  if (!file.may_wait()) return;
  std::vector<Range> wanted;
  for (const std::uint64_t number : numbers) {
    const Entry entry = store_.index().entry(number);
    if (entry.offset > file.size() || entry.bytes > file.size() - entry.offset) continue;
    const std::uint64_t begin = entry.offset - std::min(entry.offset, kPosition);
    const bool whole = entry.kind == BlockKind::csr && entry.bytes <= kSmall;
    const std::uint64_t end = entry.offset + (whole ? entry.bytes : std::min(entry.bytes, kHeader));
    wanted.push_back({begin, end});
  }
  file.will_need(wanted);
}

void RowAccess::make(std::span<const std::uint64_t> numbers) {
  ask_for(numbers);
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

RowCursor RowAccess::cursor(const Entry& entry, std::uint64_t row) {
  if (row < kNear || entry.kind != BlockKind::csr || !store_.driver().sparse_in_place) return {};
  const auto number = store_.index().find(entry.pos);
  if (!number) return {};
  for (const bool again : {false, true}) {
    {
      const Reader reader(*this);
      if (const BlockRows* const rows = reader.find(*number)) return cursor_in(*rows, row);
    }
    // A directory that the file does not hold is made by a walk over all rows.
    const bool stored = !store_.checks_hashes() && store_.row_counts() != nullptr;
    if (again || (!stored && row < entry.rows / 2)) break;
    make({&*number, 1});
  }
  return {};
}

/// A directory in the file that is not that of the rows, or damage, leads back to a walk.
RowCursor RowAccess::cursor_in(const BlockRows& block, std::uint64_t row) const {
  if (!block.by_row || row >= block.entry.rows) return {};
  if (block.positions != nullptr) {
    const RowCursor cursor{row, block.positions[row]};
    const std::byte* const at =
        block.data + row * 4 + cursor.entries * (4 + size_of(block.value_type));
    const bool same = load_le<std::uint32_t>(at) == block.positions[row + 1] - cursor.entries;
    return same ? cursor : RowCursor{};
  }
  const Driver& driver = store_.driver();
  RowCursor cursor = block.directory.cursor(row);
  try {
    driver.skip_rows(store_, block.entry, row, cursor);
    RowCursor next = cursor;
    driver.skip_rows(store_, block.entry, row + 1, next);
    if (block.directory.agrees(cursor, next.entries - cursor.entries, block.entry)) return cursor;
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
  }
  return {};
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
