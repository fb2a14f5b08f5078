#include "lib/rows/row_stream.h"

#include <algorithm>
#include <cmath>

#include "lib/object/row_access.h"

namespace dapple::detail {

namespace {

/// A band holds about this many entries, which stay in a core's cache until they are placed, and at
/// most this many rows.
constexpr std::uint64_t kBandEntries = std::uint64_t{1} << 14;
constexpr std::uint64_t kBandRows = std::uint64_t{1} << 14;
/// Rows of a block that has far fewer entries than rows: most of them are passed over between
/// bands.
constexpr std::uint64_t kRareRows = 64;
/// Rows differ: a band with more entries than this is made shorter.
constexpr std::uint64_t kMostEntries = 4 * kBandEntries;

}  // namespace

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
  const Region region{rows_, columns_[run].from};
  const auto list = [&](std::uint64_t number, const Entry& entry, const Part& part) {
    if (entry.kind == BlockKind::empty) return;
    members_.push_back({number, run, std::max(entry.pos.rx, rows_.begin)});
    const bool whole = part.rows.size() == entry.rows && part.cols.size() == entry.cols;
    if (stored_ && whole && entry.kind == BlockKind::csr && store_.driver().sparse_in_place) {
      *stored_ += entry.stored;
    } else {
      stored_.reset();
    }
    if (entry.kind == BlockKind::dense) return;
    expected_ += std::ceil(static_cast<double>(entry.stored) *
                           (static_cast<double>(part.rows.size()) / entry.rows) *
                           (static_cast<double>(part.cols.size()) / entry.cols));
  };
  if (!store_.blocks().fetches()) {
    return store_.for_each_block(region, {absent, 1}, list, Store::Needs::headers);
  }
  // Headers far away are among what is fetched when blocks are used, and compared then. Of small
  // blocks they are all there is to fetch.
  store_.require_covered(region, absent);
  std::vector<std::uint64_t> empty;
  const std::vector<std::uint64_t> numbers = store_.index().touching(region);
  store_.index().will_need(numbers);
  for (const std::uint64_t number : numbers) {
    const Entry entry = store_.index().entry(number);
    list(number, entry, shared_part(entry, region));
    if (entry.kind == BlockKind::empty) empty.push_back(number);
  }
  const auto confirm = [&](std::uint64_t number, const Entry&) { store_.confirmed_entry(number); };
  store_.watched_blocks(empty, confirm, region, Store::Needs::headers);
  stored_.reset();  // as far as the index may be believed
}

/// Asks for blocks that are used next, where they are far away or have left memory.
void RowStream::ask_ahead() {
  constexpr std::size_t kLook = 1024;
  asked_ = members_.size();
  if (!store_.blocks().fetches() && !store_.blocks().outgrows_memory()) return;
  std::vector<std::uint64_t> numbers;
  const std::size_t end = std::min(members_.size(), loaded_ + kLook);
  for (std::size_t i = loaded_; i < end; ++i) numbers.push_back(members_[i].number);
  asked_ = loaded_ + store_.ask_for_some(numbers, {rows_, kEverywhere.cols});
}

std::uint64_t RowStream::expected() const noexcept {
  // No entry takes less than a byte of the file.
  return static_cast<std::uint64_t>(std::min(expected_, static_cast<double>(store_.file().size())));
}

void RowStream::add_active(const Member& member) {
  const Entry entry = store_.confirmed_entry(member.number);
  const ColumnRun& run = columns_[member.run];
  if (intersect(entry.cells(), {rows_, run.from}).empty() ||
      std::max(entry.pos.rx, rows_.begin) != member.first_row) {
    store_.file().fail_changed("its index");
  }
  const Part shared = shared_part(entry, {rows_, run.from});
  Active a;
  store_.watched(
      [&] {
        a.part.block = std::make_shared<BlockRows>(store_, entry);
        if (!a.part.block->has_cursor()) return;
        a.cursor = store_.row_access().cursor(entry, shared.rows.begin);
        a.part.block->skip(shared.rows.begin, a.cursor);
      },
      &entry);
  a.part.cols = shared.cols;
  a.part.at = entry.pos.cx + shared.cols.begin - run.from.begin + run.at;
  a.rows = intersect(entry.cells().rows, rows_);
  a.next = a.cursor;
  find_counts(a);
  a.rare =
      a.part.block->way() == BlockRows::Way::kept && has_rare_entries(a.rows.size(), entry.stored);
  active_.push_back(std::move(a));
}

/// Lets go of blocks that end above row_, takes those that begin there; where none has rows, goes
/// down to the next that does. False after the last one.
bool RowStream::update_active() {
  std::erase_if(active_, [&](const Active& a) { return a.rows.end <= row_; });
  if (active_.empty()) {
    if (loaded_ == members_.size()) return false;
    row_ = std::max(row_, members_[loaded_].first_row);
  }
  const std::size_t before = active_.size();
  for (; loaded_ < members_.size() && members_[loaded_].first_row <= row_; ++loaded_) {
    if (loaded_ == asked_) ask_ahead();
    add_active(members_[loaded_]);
  }
  if (active_.size() > before) {
    std::sort(active_.begin(), active_.end(),
              [](const Active& a, const Active& b) { return a.part.at < b.part.at; });
  }
  return true;
}

/// The first row from row_ on that may have entries; the end of the block's rows when none has.
std::uint64_t RowStream::next_row(const Active& active) const {
  if (!active.rare) return row_;
  const BlockRows& block = *active.part.block;
  return store_.watched(
      [&] {
        const KeptCells& kept = block.kept();
        const std::uint64_t top = block.entry().pos.rx;
        const Range left = kept.in({row_ - top, active.rows.end - top});
        return left.empty() ? active.rows.end : top + kept.rows[left.begin];
      },
      &block.entry());
}

/// The next band's rows: as many as hold few enough entries, with the same blocks side by side.
Range RowStream::next_rows() const {
  std::uint64_t end = loaded_ < members_.size() ? members_[loaded_].first_row : rows_.end;
  double per_row = 0;
  bool rare = true;
  for (const Active& a : active_) {
    const Entry& entry = a.part.block->entry();
    end = std::min(end, a.rows.end);
    rare = rare && a.rare;
    per_row += entry.kind == BlockKind::dense
                   ? static_cast<double>(a.part.cols.size())
                   : static_cast<double>(entry.stored) / static_cast<double>(entry.rows);
  }
  const auto entries = static_cast<double>(kBandEntries);
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
  band.stored_ = 0;
  for (Active& a : active_) {
    RowBand::Part& part = band.parts_.emplace_back(a.part);
    part.start = a.next = a.cursor;
    if (!part.block->has_cursor()) continue;
    const Entry& entry = part.block->entry();
    store_.watched([&] { move_next(a, rows.end - entry.pos.rx); }, &entry);
    part.stored = a.next.entries - a.cursor.entries;
    band.stored_ += part.stored;
  }
  return band.stored_ <= kMostEntries;
}

/// A walk over rows waits for the count of each, which is far from the one before: to add up those
/// that the file has beside the block is a tenth of the work. All of them are compared with their
/// hash, which costs more than a walk over a few rows, or over a block that was just fetched.
void RowStream::find_counts(Active& a) const {
  const BlockRows& block = *a.part.block;
  const Entry& entry = block.entry();
  constexpr std::uint64_t kShare = 4;
  if (block.way() != BlockRows::Way::csr || a.cursor.row != 0 || store_.checks_hashes() ||
      store_.blocks().fetches() || a.rows.size() < entry.rows / kShare) {
    return;
  }
  const auto number = store_.index().find(entry.pos);
  const RowCountsTable* const known = number ? store_.row_counts() : nullptr;
  if (known != nullptr) a.counts = known->find(*number, entry);
  if (a.counts && a.counts->sum(0, a.counts->size()) != entry.stored) a.counts.reset();
}

/// Sets `next` to a row of the block.
void RowStream::move_next(Active& a, std::uint64_t row) const {
  const BlockRows& block = *a.part.block;
  const Entry& entry = block.entry();
  if (a.counts) {
    const unsigned shift = a.counts->shift;
    const std::uint64_t end = row == entry.rows ? a.counts->size() : row >> shift;
    a.counted_next = {std::min<std::uint64_t>(end << shift, entry.rows),
                      a.counted.entries + a.counts->sum(a.counted.row >> shift, end)};
    const std::uint64_t entries = a.counted_next.entries;
    if (entries > entry.stored || (row == entry.rows && entries != entry.stored)) {
      fail_row_counts(store_, entry);
    }
    a.next = a.counted_next;
  }
  block.skip(row, a.next);
  // Whole counts may end above the cursor, which can be in the middle of one.
  if (a.next.entries < a.cursor.entries) fail_row_counts(store_, entry);
}

bool RowStream::next(RowBand& band) {
  while (update_active()) {
    std::uint64_t first = loaded_ < members_.size() ? members_[loaded_].first_row : rows_.end;
    for (const Active& a : active_) first = std::min(first, next_row(a));
    if (first > row_) {
      row_ = first;  // nothing is in the rows above
      continue;
    }
    Range rows = next_rows();
    while (!set_rows(band, rows) && rows.size() > 1) rows.end = rows.begin + rows.size() / 2;
    for (Active& a : active_) {
      a.cursor = a.next;
      a.counted = a.counted_next;
    }
    row_ = rows.end;
    band.stored_before_ = done_;
    done_ += band.stored_;
    if (stored_ && done_ > *stored_) store_.file().fail_changed("its index");
    return true;
  }
  return false;
}

Range RowStream::in_block(const RowBand::Part& part, Range band) const noexcept {
  const std::uint64_t top = part.block->entry().pos.rx;
  return {rows_.begin + band.begin - top, rows_.begin + band.end - top};
}

std::uint64_t RowStream::room_for(const RowBand::Part& part, Range band) const {
  switch (part.block->way()) {
    case BlockRows::Way::dense:
      return band.size() * part.cols.size();
    case BlockRows::Way::kept:
      return part.block->kept().in(in_block(part, band)).size();
    default:
      return part.stored;
  }
}

template <class Col>
void RowStream::decode_part(const RowBand::Part& part, Range band, RowReader<Col>& reader,
                            RowSink<Col>& out, std::uint64_t* ends) const {
  reader.append(*part.block, in_block(part, band), part.start, part.stored,
                {part.cols, static_cast<Col>(part.at)}, out, ends);
}

template <class Col>
void RowStream::decode(const RowBand& band, RowReader<Col>& reader, RowSink<Col>& out,
                       std::uint64_t* ends) const {
  const std::size_t parts = band.parts_.size(), size = size_of(type_.value_or(ValueType::u64));
  auto& pieces = reader.pieces(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    const RowBand::Part& part = band.parts_[i];
    store_.watched(
        [&] {
          if (parts == 1) return decode_part(part, band.rows(), reader, out, ends);
          RowSink<Col> sink = pieces[i].reset(band.rows(), room_for(part, band.rows()), size);
          decode_part(part, band.rows(), reader, sink, pieces[i].row_ptr.data() + 1);
        },
        &part.block->entry());
  }
  if (parts == 1) return;
  for (std::uint64_t row = 0; row < band.rows().size(); ++row) {
    for (std::size_t i = 0; i < parts; ++i) {
      const BandArrays<Col>& piece = pieces[i];
      const std::uint64_t k = piece.row_ptr[row];
      out.append(piece.col_idx.data() + k, piece.values.data() + k * size,
                 piece.row_ptr[row + 1] - k, size);
    }
    ends[row] = out.size;
  }
}

template <class Col>
void RowStream::decode(const RowBand& band, RowReader<Col>& reader, BandArrays<Col>& out) const {
  std::uint64_t room = 0;
  for (const RowBand::Part& part : band.parts_) {
    room += store_.watched([&] { return room_for(part, band.rows()); }, &part.block->entry());
  }
  RowSink<Col> sink = out.reset(band.rows(), room, size_of(type_.value_or(ValueType::u64)));
  decode(band, reader, sink, out.row_ptr.data() + 1);
}

template <class Col>
std::vector<BandSlot<Col>> RowStream::slots(unsigned threads) const {
  std::vector<BandSlot<Col>> slots;
  while (slots.size() < worker_limit(threads)) {
    slots.push_back({RowReader<Col>(store_, type_)});
    slots.back().reader.keep_only(keep_);
  }
  return slots;
}

template <class Col>
void RowStream::for_each(
    unsigned threads,
    const std::function<void(BandArrays<Col>&, unsigned worker, Turn& turn)>& take) {
  auto workers = slots<Col>(threads);
  parallel_stream(
      threads, [&](unsigned worker) { return next(workers[worker].band); },
      [&](unsigned worker, Turn& turn) {
        BandSlot<Col>& mine = workers[worker];
        decode(mine.band, mine.reader, mine.arrays);
        take(mine.arrays, worker, turn);
      });
}

#define DAPPLE_INSTANTIATE(Col)                                                                   \
  template void RowStream::decode(const RowBand&, RowReader<Col>&, RowSink<Col>&, std::uint64_t*) \
      const;                                                                                      \
  template void RowStream::decode(const RowBand&, RowReader<Col>&, BandArrays<Col>&) const;       \
  template std::vector<BandSlot<Col>> RowStream::slots(unsigned) const;                           \
  template void RowStream::for_each(                                                              \
      unsigned, const std::function<void(BandArrays<Col>&, unsigned, Turn&)>&);
DAPPLE_INSTANTIATE(std::uint32_t)
DAPPLE_INSTANTIATE(std::uint64_t)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple::detail
