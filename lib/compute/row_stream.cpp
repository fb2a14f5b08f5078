#include "lib/compute/row_stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail {

namespace {

/// A band holds about so many entries, which stay in a core's cache until they are placed, and at
/// most so many rows.
constexpr std::uint64_t kBandEntries = std::uint64_t{1} << 14;
constexpr std::uint64_t kBandRows = std::uint64_t{1} << 14;
/// Rows of a block that has far fewer entries than rows: most of them are passed over between
/// bands.
constexpr std::uint64_t kRareRows = 64;
/// Rows differ: a band with more entries than this is made shorter.
constexpr std::uint64_t kMostEntries = 4 * kBandEntries;
/// Formats that are parsed in order pass over the rows of a block above the band.
constexpr std::uint64_t kParsedEntries = std::uint64_t{1} << 20;

}  // namespace

template <class Col>
void RowBand::copy(const RowPiece& piece, Range entries, Col* cols, std::byte* values) const {
  const std::uint32_t* const from = piece.col_idx + entries.begin;
  const std::uint64_t count = entries.size();
  if (count == 0) return;  // there may be no memory to copy from or to
  for (std::uint64_t k = 0; k < count; ++k) cols[k] = static_cast<Col>(from[k] + piece.first_col);
  const std::size_t size = size_of(piece.type);
  const std::byte* const value = piece.values + entries.begin * size;
  if (size == value_size_) {
    std::memcpy(values, value, count * size);
  } else {
    visit_bits(piece.type, [&](auto tag) {
      for (std::uint64_t k = 0; k < count; ++k) {
        store_le<std::uint64_t>(values + k * 8, load_le<decltype(tag)>(value + k * size));
      }
    });
  }
}

template <class Col>
void RowBand::place(std::uint64_t base, std::uint64_t* row_ptr, Col* cols,
                    std::byte* values) const {
  const std::uint64_t rows = rows_.size();
  if (pieces_.size() == 1) {
    const std::uint64_t* const from = pieces_[0].row_ptr;
    copy(pieces_[0], {from[0], from[rows]}, cols, values);
    for (std::uint64_t row = 1; row <= rows; ++row) row_ptr[row] = base + (from[row] - from[0]);
    return;
  }
  std::uint64_t k = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (const RowPiece& piece : pieces_) {
      const Range entries{piece.row_ptr[row], piece.row_ptr[row + 1]};
      copy(piece, entries, cols + k, values + k * value_size_);
      k += entries.size();
    }
    row_ptr[row + 1] = base + k;
  }
}

template void RowBand::place(std::uint64_t, std::uint64_t*, std::uint32_t*, std::byte*) const;
template void RowBand::place(std::uint64_t, std::uint64_t*, std::uint64_t*, std::byte*) const;

RowStream::RowStream(const Store& store, Range rows, std::vector<ColumnRun> columns,
                     std::optional<ValueType> type, Absent absent)
    : store_(store), rows_(rows), columns_(std::move(columns)), type_(type), row_(rows.begin) {
  for (std::size_t run = 0; run < columns_.size(); ++run) list_blocks(run, absent);
  if (columns_.size() > 1) {
    std::stable_sort(members_.begin(), members_.end(),
                     [](const Member& a, const Member& b) { return a.first_row < b.first_row; });
  }
}

void RowStream::list_blocks(std::size_t run, Absent absent) {
  store_.for_each_block({rows_, columns_[run].from}, {absent, 1},
                        [&](std::uint64_t number, const Entry& entry, const Part& part) {
                          if (entry.kind == BlockKind::empty) return;
                          members_.push_back({number, run, std::max(entry.pos.rx, rows_.begin)});
                          if (entry.kind == BlockKind::dense) return;
                          expected_ +=
                              std::ceil(static_cast<double>(entry.stored) *
                                        (static_cast<double>(part.rows.size()) / entry.rows) *
                                        (static_cast<double>(part.cols.size()) / entry.cols));
                        });
}

std::uint64_t RowStream::expected() const noexcept {
  // No entry takes less than a byte of the file.
  return static_cast<std::uint64_t>(std::min(expected_, static_cast<double>(store_.file().size())));
}

/// Lets go of blocks that end above row_, takes those that begin there; where none has rows, goes
/// down to the next that does. False after the last one.
bool RowStream::update_active() {
  std::erase_if(active_, [&](const Active& a) { return a.block->rows().end <= row_; });
  if (active_.empty()) {
    if (loaded_ == members_.size()) return false;
    row_ = std::max(row_, members_[loaded_].first_row);
  }
  const std::size_t before = active_.size();
  for (; loaded_ < members_.size() && members_[loaded_].first_row <= row_; ++loaded_) {
    const Member& member = members_[loaded_];
    const Entry entry = store_.confirmed_entry(member.number);
    const ColumnRun& run = columns_[member.run];
    if (intersect(entry.cells(), {rows_, run.from}).empty() ||
        std::max(entry.pos.rx, rows_.begin) != member.first_row) {
      store_.file().fail_changed("its index");
    }
    auto block = std::make_shared<StreamBlock>(store_, entry, rows_, run, type_);
    const RowCursor cursor = block->cursor();
    active_.push_back({std::move(block), cursor, cursor});
  }
  if (active_.size() > before) {
    std::sort(active_.begin(), active_.end(), [](const Active& a, const Active& b) {
      return a.block->first_col() < b.block->first_col();
    });
  }
  return true;
}

/// The next band's rows: as many as hold few enough entries, with the same blocks side by side.
Range RowStream::next_rows() const {
  std::uint64_t end = loaded_ < members_.size() ? members_[loaded_].first_row : rows_.end;
  double per_row = 0;
  bool rare = true;
  for (const Active& a : active_) {
    end = std::min(end, a.block->rows().end);
    rare = rare && a.block->is_rare();
    per_row += a.block->entries_per_row();
  }
  const auto entries =
      static_cast<double>(store_.driver().sequential ? kParsedEntries : kBandEntries);
  const auto most =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(entries / std::max(per_row, 1.0)), 1,
                                rare ? kRareRows : kBandRows);
  return {row_, row_ + std::min(end - row_, most)};
}

/// Finds out what blocks with a cursor hold in these rows. False when that is more than a band
/// should have.
bool RowStream::set_rows(RowBand& band, Range rows) {
  band.rows_ = {rows.begin - rows_.begin, rows.end - rows_.begin};
  band.parts_.clear();
  std::uint64_t entries = 0;
  for (Active& a : active_) {
    RowBand::Part& part = band.parts_.emplace_back(RowBand::Part{a.block, a.cursor, 0});
    a.next = a.cursor;
    if (a.block->has_cursor()) part.entries = a.block->skip(rows, a.next);
    entries += part.entries;
  }
  return entries <= kMostEntries;
}

bool RowStream::next(RowBand& band) {
  while (update_active()) {
    std::uint64_t first = loaded_ < members_.size() ? members_[loaded_].first_row : rows_.end;
    for (const Active& a : active_) first = std::min(first, a.block->next_row(row_));
    if (first > row_) {
      row_ = first;  // nothing is in the rows above
      continue;
    }
    Range rows = next_rows();
    while (!set_rows(band, rows) && rows.size() > 1) rows.end = rows.begin + rows.size() / 2;
    for (Active& a : active_) a.cursor = a.next;
    row_ = rows.end;
    return true;
  }
  return false;
}

void RowStream::decode(RowBand& band) const {
  const Range rows{rows_.begin + band.rows_.begin, rows_.begin + band.rows_.end};
  band.value_size_ = value_size();
  band.entries_ = 0;
  band.pieces_.clear();
  if (band.arrays_.size() < band.parts_.size()) band.arrays_.resize(band.parts_.size());
  for (std::size_t i = 0; i < band.parts_.size(); ++i) {
    const RowBand::Part& part = band.parts_[i];
    const RowPiece piece = part.block->decode(rows, part.start, part.entries, band.arrays_[i]);
    band.entries_ += piece.row_ptr[rows.size()] - piece.row_ptr[0];
    band.pieces_.push_back(piece);
  }
}

void RowStream::for_each(unsigned threads, const Take& take) {
  std::vector<RowBand> bands(worker_limit(threads));
  parallel_stream(
      threads, [&](unsigned worker) { return next(bands[worker]); },
      [&](unsigned worker, Turn& turn) {
        decode(bands[worker]);
        take(bands[worker], worker, turn);
      });
}

}  // namespace dapple::detail
