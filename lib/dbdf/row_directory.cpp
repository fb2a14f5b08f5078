#include "lib/dbdf/row_directory.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/search.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/io/hash.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kDirectoryVersion = 1;

/// Positions in the line before the records, and in a record.
namespace directory_at {
constexpr std::size_t tag = 0, version = 8, count = 16;
}
namespace record_at {
constexpr std::size_t block = 0, shift = 4, width = 5, reserved = 6, start = 8, hash = 16;
}
constexpr std::uint64_t kRecord = 24;

constexpr unsigned kMostShift = 3;

/// Smaller blocks are walked: they are read from storage at once anyway.
constexpr std::uint64_t kLeastBlock = 16 << 10;
/// What the counts of a block may take of its bytes.
constexpr std::uint64_t kShare = 32;

std::uint64_t groups_of(std::uint32_t rows, unsigned shift) noexcept {
  return (std::uint64_t{rows} >> shift) + ((rows & ((1U << shift) - 1)) != 0 ? 1 : 0);
}

unsigned width_for(std::uint64_t most) noexcept {
  return most <= 0xff ? 1 : most <= 0xffff ? 2 : most <= 0xffffffff ? 4 : 8;
}

void store_count(std::byte* at, unsigned width, std::uint64_t count) noexcept {
  std::byte bytes[8];
  store_le(bytes, count);
  std::memcpy(at, bytes, width);
}

/// Calls f(group, entries) for the groups of rows that have entries, in ascending order.
template <class F>
void each_group(const CsrCells& cells, unsigned shift, const F& f) {
  for (std::uint32_t i = 0; i < cells.row_count();) {
    const std::uint32_t group = cells.row(i) >> shift;
    const std::uint64_t begin = cells.row_ptr[i];
    do {
      ++i;
    } while (i < cells.row_count() && cells.row(i) >> shift == group);
    f(group, cells.row_ptr[i] - begin);
  }
}

}  // namespace

void RowDirectoryWriter::add(const Entry& entry, const CsrCells& cells) {
  if (entry.bytes < kLeastBlock) return;
  const std::uint64_t room = entry.bytes / kShare - kRecord;
  for (unsigned shift = 0; shift <= kMostShift; ++shift) {
    const std::uint64_t groups = groups_of(entry.rows, shift);
    if (groups > room) continue;
    std::uint64_t most = 0;
    each_group(cells, shift,
               [&](std::uint32_t, std::uint64_t entries) { most = std::max(most, entries); });
    const unsigned width = width_for(most);
    if (groups > room / width) continue;
    Counts counts{entry.pos, static_cast<std::uint8_t>(shift), static_cast<std::uint8_t>(width),
                  std::vector<std::byte>(groups * width)};
    each_group(cells, shift, [&](std::uint32_t group, std::uint64_t entries) {
      store_count(counts.bytes.data() + std::size_t{group} * width, width, entries);
    });
    return add(std::move(counts));
  }
}

void RowDirectoryWriter::add(const Entry& entry, const RowCounts& counts) {
  add(Counts{entry.pos,
             static_cast<std::uint8_t>(counts.shift),
             static_cast<std::uint8_t>(counts.width),
             {counts.bytes.begin(), counts.bytes.end()}});
}

void RowDirectoryWriter::add(Counts counts) {
  const std::lock_guard lock(mutex_);
  blocks_.push_back(std::move(counts));
}

std::vector<std::byte> RowDirectoryWriter::emit(const BlockIndex& index) {
  // In the order of the index.
  std::sort(blocks_.begin(), blocks_.end(), [](const Counts& a, const Counts& b) {
    return std::tie(a.pos.rx, a.pos.cx) < std::tie(b.pos.rx, b.pos.cx);
  });
  std::uint64_t at = 0;
  std::vector<Counts> wanted;
  for (Counts& counts : blocks_) {
    while (index.entry(at).pos != counts.pos) ++at;
    // A packed block tells itself where its rows are.
    if (index.entry(at).codec == 0) wanted.push_back(std::move(counts));
  }
  blocks_ = std::move(wanted);
  if (blocks_.empty()) return {};
  std::size_t start = kLine + blocks_.size() * kRecord, bytes = start;
  for (const Counts& counts : blocks_) bytes += counts.bytes.size();
  std::vector<std::byte> content(bytes);
  std::byte* const p = content.data();
  std::memcpy(p + directory_at::tag, kRowsTag.data(), kRowsTag.size());
  store_le(p + directory_at::version, kDirectoryVersion);
  store_le(p + directory_at::count, std::uint64_t{blocks_.size()});
  std::byte* record = p + kLine;
  std::uint64_t number = 0;
  for (Counts& counts : blocks_) {
    while (index.entry(number).pos != counts.pos) ++number;
    store_le(record + record_at::block, static_cast<std::uint32_t>(number));
    record[record_at::shift] = std::byte{counts.shift};
    record[record_at::width] = std::byte{counts.width};
    store_le(record + record_at::start, std::uint64_t{start});
    store_le(record + record_at::hash, xxh3(counts.bytes, index.entry(number).hash));
    std::copy(counts.bytes.begin(), counts.bytes.end(), p + start);
    start += counts.bytes.size();
    record += kRecord;
    counts = {};  // frees its memory
  }
  return content;
}

namespace {

class StoredDirectory : public RowCountsTable {
 public:
  StoredDirectory(std::shared_ptr<const ByteSource> file, const Hint& hint, std::uint64_t count)
      : file_(std::move(file)), hint_(hint), count_(count) {}

  std::uint64_t size() const noexcept { return count_; }
  /// The block that record `i` is of.
  std::uint32_t block(std::uint64_t i) const {
    return load_le<std::uint32_t>(record(i) + record_at::block);
  }

  std::optional<RowCounts> find(std::uint64_t number, const Entry& entry) const override {
    const std::uint64_t low =
        count_first(count_, [&](std::uint64_t i) { return block(i) < number; });
    if (low == count_ || block(low) != number) return std::nullopt;
    return counts(low, entry);
  }

  /// The counts of record `i`, which is of the block that `entry` describes.
  std::optional<RowCounts> counts(std::uint64_t i, const Entry& entry) const {
    const std::byte* const p = record(i);
    const auto shift = std::to_integer<unsigned>(p[record_at::shift]);
    const auto width = std::to_integer<unsigned>(p[record_at::width]);
    const auto start = load_le<std::uint64_t>(p + record_at::start);
    if (entry.kind != BlockKind::csr || shift > kMostShift ||
        (width != 1 && width != 2 && width != 4 && width != 8) ||
        load_le<std::uint16_t>(p + record_at::reserved) != 0) {
      return std::nullopt;
    }
    const std::uint64_t bytes = groups_of(entry.rows, shift) * width;
    if (start > hint_.bytes || bytes > hint_.bytes - start) return std::nullopt;
    const auto counts = file_->bytes(hint_.offset + start, bytes);
    if (xxh3(counts, entry.hash) != load_le<std::uint64_t>(p + record_at::hash)) {
      return std::nullopt;
    }
    return RowCounts{shift, width, counts};
  }

 private:
  const std::byte* record(std::uint64_t i) const {
    return file_->at(hint_.offset + kLine + i * kRecord, kRecord);
  }

  std::shared_ptr<const ByteSource> file_;
  Hint hint_;
  std::uint64_t count_;
};

std::unique_ptr<const StoredDirectory> open_directory(const Store& store, std::uint64_t first) {
  const std::shared_ptr<ByteSource>& file = store.shared_file();
  const auto trailer = find_trailer(*file, first);
  if (!trailer || !trailer->hints) return nullptr;
  std::optional<Hint> hint;
  try {
    hint = find_hint(*file, first, *trailer, kRowsTag);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    return nullptr;
  }
  if (!hint || hint->bytes < kLine) return nullptr;
  const std::byte* const p = file->at(hint->offset, kLine);
  const auto count = load_le<std::uint64_t>(p + directory_at::count);
  if (load_le<std::uint64_t>(p + directory_at::version) != kDirectoryVersion ||
      count > (hint->bytes - kLine) / kRecord) {
    return nullptr;
  }
  return std::make_unique<StoredDirectory>(file, *hint, count);
}

std::unique_ptr<const StoredDirectory> open_directory(const Store& store) {
  if (!store.tells_of_blocks()) return nullptr;
  std::uint64_t body = 0;
  read_header(store.file(), body);
  return open_directory(store, body);
}

/// True when these are the counts of the rows of the block.
bool are_counts_of(const Store& store, const Entry& entry, const RowCounts& counts) {
  RowCursor cursor;
  return counts.each([&](std::uint64_t count) {
    const std::uint64_t before = cursor.entries;
    const std::uint64_t end =
        std::min<std::uint64_t>(cursor.row + (std::uint64_t{1} << counts.shift), entry.rows);
    store.driver().skip_rows(store, entry, end, cursor);
    return cursor.entries - before == count;
  });
}

}  // namespace

std::unique_ptr<const RowCountsTable> find_row_directory(const Store& store) {
  return open_directory(store);
}

std::unique_ptr<const RowCountsTable> find_row_directory(const Store& store, std::uint64_t first) {
  return open_directory(store, first);
}

void check_row_directory(const Store& store, std::vector<Error>& findings) {
  const auto directory = open_directory(store);
  if (directory == nullptr) return;
  for (std::uint64_t i = 0; i < directory->size(); ++i) {
    const std::uint64_t number = directory->block(i);
    const bool ascending = i == 0 || directory->block(i - 1) < number;
    if (!ascending || number >= store.index().size()) {
      findings.emplace_back(Errc::corrupt, store.file().name(), std::nullopt,
                            "the row directory lists blocks that the index does not have, or in "
                            "another order");
      return;
    }
    const Entry entry = store.confirmed_entry(number);
    const auto counts = directory->counts(i, entry);
    if (counts && are_counts_of(store, entry, *counts)) continue;
    findings.emplace_back(
        Errc::corrupt, store.file().name(), entry.offset,
        "the row directory of block " + text(entry.pos) + " is not that of its rows");
  }
}

}  // namespace dapple::detail::dbdf
