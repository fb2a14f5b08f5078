#include "lib/rows/row_finder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

/// A row further on is asked for up to here. By itself the processor fetches the rest of a long one
/// only once it is being read: asking for a sixth of rows of 5 KB costs a third of their speed.
constexpr std::size_t kAskedBytes = 96 * kLine;
/// Bytes of rows that are asked for ahead of their use.
constexpr std::size_t kBytesAhead = 8192;

std::uint32_t up_to_32_bits(std::uint64_t n) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(n, std::numeric_limits<std::uint32_t>::max()));
}

/// Every line of a short row; the last byte's line may be one more.
void prefetch_lines(const std::byte* at, std::size_t bytes) noexcept {
  bytes = std::min(bytes, kAskedBytes);
  for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(at + i);
  __builtin_prefetch(at + bytes - 1);
}

/// Calls f(first byte, bytes) for the bytes that a part will look at.
template <class F>
void each_range(const RowPart& part, const F& f) {
  if (part.bytes != 0) f(part.at, part.bytes);
  if (part.value_bytes != 0) f(part.at + part.to_values, part.value_bytes);
}

}  // namespace

RowFinder::Hold::Hold(RowFinder& finder) noexcept
    : finder_(finder),
      waits_(finder.store_.blocks().may_wait() ||
             (finder.store_.blocks().local() != nullptr && !finder.store_.blocks().is_mapped())) {
  if (waits_) finder.store_.blocks().expect_random(true);
}

RowFinder::Hold::~Hold() {
  finder_.reader_.reset();
  if (waits_) finder_.store_.blocks().expect_random(false);
}

RowFinder::RowFinder(const Store& store, Range cols, Absent absent)
    : store_(store), cols_(cols), absent_(absent) {}

std::uint64_t RowFinder::parts_per_row() const noexcept {
  const auto& grid = store_.index().grid();
  if (cols_.empty()) return 1;
  if (grid) return (cols_.end - 1) / grid->tile.cols - cols_.begin / grid->tile.cols + 1;
  return 1;
}

/// Columns of a row of the object, in a block whose first cell this is.
void RowFinder::add(std::uint64_t number, BlockPos first, const Region& row, Range cols) {
  numbers_.push_back(number);
  // A block has fewer than 2^32 rows and columns.
  const auto in_block = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  parts_.push_back({nullptr, nullptr, cols.begin - row.cols.begin, 0, 0,
                    in_block(row.rows.begin - first.rx), in_block(cols.begin - first.cx),
                    in_block(cols.end - first.cx), 0, 0, 0});
}

template <class T>
void RowFinder::find(std::span<const T> list) {
  if (store_.blocks().fetches()) {  // all at once: they are used one after the other
    std::vector<Region> regions;
    for (const T& one : list) regions.push_back(cells_of(one, cols_));
    for (std::size_t asked = 0; asked < regions.size();) {
      asked += store_.ask_for_some(std::span(regions).subspan(asked));
    }
  }
  parts_.clear();
  numbers_.clear();
  begin_.assign(1, 0);
  const auto& grid = store_.index().grid();
  for (const T& one : list) {
    const Region row = cells_of(one, cols_);
    if (grid) {
      const std::uint64_t i = row.rows.begin / grid->tile.rows;
      for (std::uint64_t col = row.cols.begin; col < row.cols.end;) {
        const std::uint64_t j = col / grid->tile.cols, left = j * grid->tile.cols;
        const std::uint64_t end =
            left + std::min<std::uint64_t>(row.cols.end - left, grid->tile.cols);
        add(i * grid->cols + j, {i * grid->tile.rows, left}, row, {col, end});
        col = end;
      }
    } else {
      add_parts_of(one);
    }
    begin_.push_back(parts_.size());
  }
  resolve();
}

template void RowFinder::find(std::span<const std::uint64_t>);
template void RowFinder::find(std::span<const CellPos>);

/// The blocks that have a row. It is alone unless they cover all that is wanted of it: blocks of
/// the rows beside it might cover more.
RowFinder::Stretch RowFinder::stretch_of(const Region& row) const {
  Stretch stretch{{0, store_.schema().rows}};
  std::uint64_t covered = 0;
  const auto covering = store_.watched([&] { return store_.covering(row, absent_); });
  for (const std::uint64_t number : covering.numbers) {
    const Entry entry = store_.index().entry(number);
    const Region wanted = intersect(entry.cells(), row);
    if (wanted.empty()) store_.index().fail_entry(number, "it is not where the index has it");
    stretch.blocks.push_back({number, entry.pos, wanted.cols});
    stretch.rows = intersect(stretch.rows, entry.cells().rows);
    covered += wanted.cols.size();
  }
  if (covered != row.cols.size()) stretch.rows = row.rows;
  std::sort(stretch.blocks.begin(), stretch.blocks.end(),
            [](const auto& a, const auto& b) { return a.cols.begin < b.cols.begin; });
  return stretch;
}

void RowFinder::add_parts(const Stretch& stretch, const Region& row) {
  for (const auto& [number, pos, cols] : stretch.blocks) add(number, pos, row, cols);
}

/// Many rows have the same blocks, which take longer to find than to remember.
void RowFinder::add_parts_of(std::uint64_t row) {
  const Region wanted = cells_of(row, cols_);
  auto next = stretches_.upper_bound(row);
  if (next == stretches_.begin() || std::prev(next)->second.rows.end <= row) {
    Stretch stretch = stretch_of(wanted);
    const std::uint64_t first = stretch.rows.begin;
    next = std::next(stretches_.insert_or_assign(first, std::move(stretch)).first);
  }
  add_parts(std::prev(next)->second, wanted);
}

void RowFinder::add_parts_of(const CellPos& cell) {
  const Region wanted = cells_of(cell, cols_);
  add_parts(stretch_of(wanted), wanted);
}

/// Loads what is in `missing_`.
void RowFinder::load_missing() {
  reader_.reset();
  std::sort(missing_.begin(), missing_.end());
  missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
  store_.row_access().make(missing_);
  reader_.emplace(store_.row_access());
}

void RowFinder::resolve() {
  unkept_.clear();
  reader_.emplace(store_.row_access());
  const auto look = [&] {
    missing_.clear();
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      parts_[k].block = reader_->find(numbers_[k]);
      if (parts_[k].block == nullptr) missing_.push_back(numbers_[k]);
    }
    return missing_.empty();
  };
  if (!look()) {
    load_missing();
    if (!look()) {
      for (std::size_t k = 0; k < parts_.size(); ++k) {
        if (parts_[k].block != nullptr) continue;
        auto& rows = unkept_[numbers_[k]];
        if (rows == nullptr) rows = store_.row_access().load(numbers_[k]);
        parts_[k].block = rows.get();
      }
    }
  }
  for (RowPart& part : parts_) locate(part);
  put_in_order();
  ask_for_parts();
  asked_ = ahead_ = 0;
}

void RowFinder::put_in_order() {
  order_.clear();
  const auto is_decoded = [](const RowPart& part) {
    const auto way = part.block->way;
    return part.at == nullptr && part.stored != 0 &&
           (way == BlockRows::Way::arrays || way == BlockRows::Way::dense);
  };
  if (std::none_of(parts_.begin(), parts_.end(), is_decoded)) return;
  order_.resize(begin_.size() - 1);
  std::iota(order_.begin(), order_.end(), 0);
  const auto place = [this](std::uint32_t i) {
    const std::size_t k = begin_[i];
    return k < begin_[i + 1] ? std::pair(numbers_[k], parts_[k].row) : std::pair(0ul, 0u);
  };
  std::sort(order_.begin(), order_.end(), [&](auto a, auto b) { return place(a) < place(b); });
  if (order_.size() > 1 && store_.row_access().turn()) std::reverse(order_.begin(), order_.end());
}

/// Where the row is in its block.
void RowFinder::locate(RowPart& part) const {
  const IndexedRows& rows = *part.block;
  if (part.row >= rows.rows || part.col_end > rows.cols) {
    store_.file().fail_changed("block " + text(rows.block.entry().pos));
  }
  const std::size_t size = size_of(rows.value_type);
  switch (rows.way) {
    case BlockRows::Way::empty:
      return;
    case BlockRows::Way::dense:
      part.stored = part.cols().size();
      if (rows.data == nullptr) return;
      part.at = rows.data + part.row * rows.row_step + part.col_begin * size;
      part.bytes = up_to_32_bits(part.stored * size);
      return;
    case BlockRows::Way::kept:
      part.stored = rows.block.kept().in(part.rows()).size();
      return;
    case BlockRows::Way::csr:
    case BlockRows::Way::encoded:
    case BlockRows::Way::arrays:
      break;
  }
  if (rows.positions != nullptr) {
    part.before = rows.positions[part.row];
    part.stored = rows.positions[part.row + 1] - part.before;
  } else {
    const Entry& entry = rows.block.entry();
    RowCursor start = rows.directory.cursor(part.row);
    rows.block.skip(part.row, start);
    RowCursor end = start;
    rows.block.skip(part.rows().end, end);
    part.before = start.entries;
    part.stored = end.entries - start.entries;
    if (rows.stored_directory && !rows.directory.agrees(start, part.stored, entry)) {
      fail_row_counts(store_, rows.block.entry());
    }
  }
  if (rows.way == BlockRows::Way::arrays) return;
  if (rows.way == BlockRows::Way::encoded) {
    const auto begin = static_cast<std::uint32_t>(part.before);
    // Values come after columns, in a payload of at most 4 GiB.
    const auto [cols, values] =
        rows.block.encoded().bytes_of(begin, begin + static_cast<std::uint32_t>(part.stored));
    part.at = cols.empty() ? values.data() : cols.data();
    part.bytes = up_to_32_bits(cols.size());
    part.to_values =
        values.empty() ? 0 : up_to_32_bits(static_cast<std::uint64_t>(values.data() - part.at));
    part.value_bytes = up_to_32_bits(values.size());
    return;
  }
  part.at = rows.data + std::size_t{part.row} * 4 + part.before * (4 + size);
  part.bytes = up_to_32_bits(4 + part.stored * (4 + size));
}

/// Starts reading from storage what was found and is not in memory, so that many reads are under
/// way at once. A page fault for each would wait for one after the other.
void RowFinder::ask_for_parts() {
  const ByteSource& file = store_.blocks();
  // Blocks of objects that were put together are in files of their own.
  if (store_.driver().will_need != nullptr || !file.may_wait()) return;
  ranges_.clear();
  for (const RowPart& part : parts_) {
    if (part.at == nullptr || !part.block->block.held().is_in_file()) continue;
    each_range(part, [&](const std::byte* at, std::size_t bytes) {
      const auto offset = static_cast<std::uint64_t>(at - part.block->data);
      ranges_.push_back({part.block->payload_at + offset, part.block->payload_at + offset + bytes});
    });
  }
  file.will_need(ranges_);
}

std::uint64_t RowFinder::most() const noexcept {
  std::uint64_t sum = 0;
  for (const RowPart& part : parts_) sum += part.stored;
  return sum;
}

void RowFinder::use(std::size_t i) noexcept {
  for (; asked_ < parts_.size() && ahead_ < kBytesAhead; ++asked_) {
    const RowPart& part = parts_[asked_];
    each_range(part, prefetch_lines);
    ahead_ += part.bytes + part.value_bytes;
  }
  for (const RowPart& part : parts(i)) {
    ahead_ -= std::min<std::size_t>(ahead_, part.bytes + part.value_bytes);
  }
}

template <class Col>
void RowFinder::append(const RowPart& part, RowReader<Col>& reader, Col first,
                       RowSink<Col>& out) const {
  const IndexedRows& rows = *part.block;
  const WantedCols<Col> wanted{part.cols(), first};
  if (rows.way == BlockRows::Way::csr) {
    if (load_le<std::uint32_t>(part.at) != part.stored) {
      if (rows.stored_directory) fail_row_counts(store_, rows.block.entry());
      store_.file().fail_changed("block " + text(rows.block.entry().pos));
    }
    const StoredRow row{rows.block.payload(), part.row, part.at + 4,
                        static_cast<std::uint32_t>(part.stored)};
    return reader.append(rows.block, row, wanted, out);
  }
  std::uint64_t end = 0;
  reader.append(rows.block, part.rows(), {part.row, part.before}, part.stored, wanted, out, &end);
}

template void RowFinder::append(const RowPart&, RowReader<std::uint32_t>&, std::uint32_t,
                                RowSink<std::uint32_t>&) const;
template void RowFinder::append(const RowPart&, RowReader<std::uint64_t>&, std::uint64_t,
                                RowSink<std::uint64_t>&) const;

}  // namespace dapple::detail
