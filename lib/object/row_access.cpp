#include "lib/object/row_access.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/layout/csr_rows.h"

namespace dapple::detail {

namespace {

std::size_t size_of_rows(const IndexedRows& rows) {
  const BlockRows& block = rows.block;
  return sizeof rows + rows.directory.bytes() +
         (block.held().is_in_file() ? 0 : block.held().size()) +
         (block.way() == BlockRows::Way::kept ? block.kept().bytes() : 0);
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

RowDirectory::RowDirectory(const BlockRows& block, std::size_t most) {
  const Entry& entry = block.entry();
  reserve(entry, 0, most);
  const std::uint64_t step = std::uint64_t{1} << shift_, count = entry.rows / step + 1;
  if (block.way() == BlockRows::Way::encoded) {
    put_encoded(block);
    return;
  }
  RowCursor cursor;
  for (std::uint64_t i = 0; i < count; ++i) {
    put(i, cursor.entries);
    block.skip(std::min<std::uint64_t>((i + 1) * step, entry.rows), cursor);
  }
}

void RowDirectory::put_encoded(const BlockRows& block) {
  constexpr std::uint32_t at_once = 1024;
  std::array<std::uint32_t, at_once + 1> starts;
  const std::uint32_t rows = block.entry().rows, mask = (std::uint32_t{1} << shift_) - 1;
  std::uint32_t row = 0;
  do {
    const std::uint32_t end = row + std::min(at_once, rows - row);
    block.encoded().starts(row, end, starts.data());
    for (std::uint32_t i = 0; i <= end - row; ++i) {
      if (((row + i) & mask) == 0) put((row + i) >> shift_, starts[i]);
    }
    row = end;
  } while (row < rows);
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

void fail_row_counts(const Store& store, const Entry& entry) {
  store.fail(Errc::corrupt, entry.offset,
             "the row directory of block " + text(entry.pos) +
                 " is not that of its rows; repair the file to renew it");
}

std::unique_ptr<IndexedRows> RowAccess::load(std::uint64_t number) const {
  const Entry entry = store_.confirmed_entry(number);
  return store_.watched([&] { return load(number, entry); }, &entry);
}

std::unique_ptr<IndexedRows> RowAccess::load(std::uint64_t number, const Entry& entry) const {
  auto rows = std::make_unique<IndexedRows>(store_, entry);
  const BlockRows& block = rows->block;
  rows->data = block.data();
  rows->row_step = block.row_step();
  rows->rows = entry.rows;
  rows->cols = entry.cols;
  rows->value_type = entry.value_type;
  rows->way = block.way();
  rows->payload_at = store_.payload_offset(entry);
  if (block.way() == BlockRows::Way::kept) block.kept();
  if (!block.has_cursor()) return rows;
  // Where hashes are checked, the block is read anyway, and no hint need be believed; an encoded
  // block has its own.
  const bool walks = store_.checks_hashes() || block.way() == BlockRows::Way::encoded;
  const RowCountsTable* const stored = walks ? nullptr : store_.row_counts();
  if (const auto counts = stored == nullptr ? std::nullopt : stored->find(number, entry)) {
    if (auto directory = RowDirectory::from(*counts, entry, budget_ / 2)) {
      rows->directory = std::move(*directory);
      rows->stored_directory = true;
    }
  }
  if (!rows->stored_directory) rows->directory = RowDirectory(block, budget_ / 2);
  if (block.way() != BlockRows::Way::arrays) rows->positions = rows->directory.positions();
  return rows;
}

RowAccess::RowAccess(const Store& store, std::size_t budget)
    : store_(store), budget_(budget), pages_(store.index().size() / std::tuple_size_v<Page> + 1) {
  store.blocks().expect_reads();
}

/// Starts reading what `load` will look at.
void RowAccess::ask_for(std::span<const std::uint64_t> numbers) const {
  // A block up to this size is read as a whole: then its rows are found and used.
  constexpr std::uint64_t kSmall = 16 << 10, kPosition = 16, kHeader = 18;
  const ByteSource& file = store_.blocks();
  if (store_.driver().will_need != nullptr || !file.may_wait()) return;
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
  if (row < kNear || entry.kind != BlockKind::csr || entry.codec != 0 ||
      !store_.driver().sparse_in_place) {
    return {};
  }
  const auto number = store_.index().find(entry.pos);
  if (!number) return {};
  for (const bool again : {false, true}) {
    {
      const Reader reader(*this);
      if (const IndexedRows* const rows = reader.find(*number)) return cursor_in(*rows, row);
    }
    // A directory that the file does not hold is made by a walk over all rows.
    const bool stored = !store_.checks_hashes() && store_.row_counts() != nullptr;
    if (again || (!stored && row < entry.rows / 2)) break;
    make({&*number, 1});
  }
  return {};
}

/// A directory in the file that is not that of the rows, or damage, leads back to a walk.
RowCursor RowAccess::cursor_in(const IndexedRows& rows, std::uint64_t row) const {
  const BlockRows& block = rows.block;
  if (!block.has_cursor() || row >= block.entry().rows) return {};
  RowCursor cursor = rows.directory.cursor(row);
  try {
    block.skip(row, cursor);
    RowCursor next = cursor;
    block.skip(row + 1, next);
    if (rows.directory.agrees(cursor, next.entries - cursor.entries, block.entry())) return cursor;
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
