#include "lib/compute/row_finder.h"

#include <algorithm>
#include <limits>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/stream_block.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

/// A row further on is asked for up to here; the processor fetches the rest of a long one by
/// itself.
constexpr std::size_t kAskedBytes = 16 * kLine;

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

}  // namespace

bool RowFinder::possible(const Store& store) noexcept {
  return store.index().grid().has_value() && store.schema().kind == ObjectKind::matrix;
}

RowFinder::RowFinder(const Store& store, Range cols, ValueType type)
    : store_(store), grid_(*store.index().grid()), cols_(cols), type_(type) {
  for (std::uint64_t col = cols.begin; col < cols.end;) {
    const std::uint64_t tile = col / grid_.tile.cols * grid_.tile.cols;
    const std::uint64_t end = std::min<std::uint64_t>(cols.end - tile, grid_.tile.cols);
    tiles_.push_back({{col - tile, end}, col - cols.begin});
    whole_tiles_ = whole_tiles_ && col == tile &&
                   (end == grid_.tile.cols || tile + end == store.schema().cols);
    col = tile + end;
  }
  const ValueType declared = store.schema().value_type;
  for (const ValueType stored : kValueTypes) {
    if (type != declared && !holds_all(declared, stored)) continue;
    decoders_[static_cast<std::size_t>(stored)] = row_decoder<std::uint64_t>(stored, type);
  }
}

/// What a block has of one of its rows; false when that has to be looked up.
bool RowFinder::find_in_block(const BlockRows& block, std::uint64_t row, Range cols, Dense dense,
                              DirectRow& out) const noexcept {
  const std::size_t size = size_of(block.value_type);
  out = {&block, nullptr, 0, 0};
  if (block.empty) return true;
  if (block.data == nullptr || decoder(block.value_type) == nullptr) return false;
  if (block.positions != nullptr) {
    const std::uint64_t before = block.positions[row];
    out.entries = static_cast<std::uint32_t>(block.positions[row + 1] - before);
    out.at = block.data + row * 4 + before * (4 + size);
    out.bytes = up_to_32_bits(4 + std::uint64_t{out.entries} * (4 + size));
    return true;
  }
  if (block.by_row || dense == Dense::no) return false;
  out.at = block.data + row * block.row_step + cols.begin * size;
  out.bytes = up_to_32_bits(cols.size() * size);
  return true;
}

/// Loads what is in `missing_`.
void RowFinder::load_missing() {
  reader_.reset();
  std::sort(missing_.begin(), missing_.end());
  missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
  store_.row_access().make(missing_);
  reader_.emplace(store_.row_access());
}

/// Calls find(), which lists the blocks that are missing, a second time when they were loaded.
template <class Find>
bool RowFinder::find_loading(const Find& find) {
  reader_.emplace(store_.row_access());
  for (const bool again : {false, true}) {
    missing_.clear();
    if (!find()) return false;
    if (missing_.empty()) {
      ask_for_direct();
      return true;
    }
    if (!again) load_missing();
  }
  return false;
}

bool RowFinder::find_direct(std::span<const std::uint64_t> rows, Dense dense) {
  if (tiles_.empty() || (dense == Dense::no && !whole_tiles_)) return false;
  const std::uint64_t first = cols_.begin / grid_.tile.cols;
  direct_.resize(rows.size() * tiles_.size());
  return find_loading([&] {
    DirectRow* out = direct_.data();
    for (const std::uint64_t row : rows) {
      const std::uint64_t i = row / grid_.tile.rows, row_in_tile = row - i * grid_.tile.rows;
      std::uint64_t number = i * grid_.cols + first;
      for (const TileColumns& tile : tiles_) {
        const BlockRows* const block = reader_->find(number++);
        if (block == nullptr) {
          missing_.push_back(number - 1);
        } else if (!find_in_block(*block, row_in_tile, tile.cols, dense, *out) ||
                   (block->positions != nullptr && tile.cols.size() != block->cols)) {
          return false;
        }
        ++out;
      }
    }
    return true;
  });
}

bool RowFinder::find_direct(std::span<const CellPos> cells) {
  direct_.resize(cells.size());
  return find_loading([&] {
    DirectRow* out = direct_.data();
    for (const CellPos& cell : cells) {
      const std::uint64_t i = cell.row / grid_.tile.rows, j = cell.col / grid_.tile.cols;
      const std::uint64_t col = cell.col - j * grid_.tile.cols;
      const BlockRows* const block = reader_->find(i * grid_.cols + j);
      if (block == nullptr) {
        missing_.push_back(i * grid_.cols + j);
      } else if (!find_in_block(*block, cell.row - i * grid_.tile.rows, {col, col + 1}, Dense::yes,
                                *out)) {
        return false;
      } else {
        prefetch(*out);
      }
      ++out;
    }
    return true;
  });
}

/// Starts reading from storage what was found and is not in memory, so that many reads are under
/// way at once. A page fault for each would wait for one after the other.
void RowFinder::ask_for_direct() {
  const ByteSource& file = store_.file();
  if (!file.may_wait()) return;
  wanted_.clear();
  for (const DirectRow& row : direct_) {
    if (row.bytes == 0 || !row.block->held.is_mapped()) continue;
    const std::uint64_t at =
        row.block->payload_at + static_cast<std::uint64_t>(row.at - row.block->data);
    wanted_.push_back({at, at + row.bytes});
  }
  file.will_need(wanted_);
}

void RowFinder::fail_directory(const BlockRows& block) const {
  store_.fail(Errc::corrupt, block.entry.offset,
              "the row directory of block " + text(block.entry.pos) +
                  " is not that of its rows; repair the file to renew it");
}

FoundRow RowFinder::as_found(const DirectRow& part, std::uint64_t number, std::uint64_t row,
                             Range cols, std::uint64_t at) const {
  const BlockRows& block = *part.block;
  FoundRow found{&block, number, row, cols, at, {}, part.entries};
  if (block.positions == nullptr) return found;
  found.cursor = {row, block.positions[row]};
  if (block.stored_directory && load_le<std::uint32_t>(part.at) != part.entries) {
    fail_directory(block);
  }
  return found;
}

FoundRow RowFinder::as_found(const DirectRow& part, std::uint64_t row, std::size_t j) const {
  const std::uint64_t i = row / grid_.tile.rows;
  return as_found(part, i * grid_.cols + cols_.begin / grid_.tile.cols + j,
                  row - i * grid_.tile.rows, tiles_[j].cols, tiles_[j].at);
}

FoundRow RowFinder::as_found(const DirectRow& part, const CellPos& cell) const {
  const std::uint64_t i = cell.row / grid_.tile.rows, j = cell.col / grid_.tile.cols;
  const std::uint64_t col = cell.col - j * grid_.tile.cols;
  return as_found(part, i * grid_.cols + j, cell.row - i * grid_.tile.rows, {col, col + 1}, 0);
}

bool RowFinder::find(std::span<const std::uint64_t> rows) {
  const std::uint64_t first = cols_.begin / grid_.tile.cols;
  found_.clear();
  for (const std::uint64_t row : rows) {
    const std::uint64_t i = row / grid_.tile.rows;
    std::uint64_t number = i * grid_.cols + first;
    for (const TileColumns& tile : tiles_) {
      found_.push_back({nullptr, number++, row - i * grid_.tile.rows, tile.cols, tile.at, {}, 0});
    }
  }
  return resolve();
}

bool RowFinder::find(std::span<const CellPos> cells) {
  found_.clear();
  for (const CellPos& cell : cells) {
    const std::uint64_t i = cell.row / grid_.tile.rows, j = cell.col / grid_.tile.cols;
    const std::uint64_t col = cell.col - j * grid_.tile.cols;
    found_.push_back(
        {nullptr, i * grid_.cols + j, cell.row - i * grid_.tile.rows, {col, col + 1}, 0, {}, 0});
  }
  return resolve();
}

bool RowFinder::resolve() {
  unkept_.clear();
  reader_.emplace(store_.row_access());
  const auto look = [&] {
    missing_.clear();
    for (FoundRow& found : found_) {
      found.block = reader_->find(found.number);
      if (found.block == nullptr) missing_.push_back(found.number);
    }
    return missing_.empty();
  };
  if (!look()) {
    load_missing();
    if (!look()) {
      for (FoundRow& found : found_) {
        if (found.block != nullptr) continue;
        unkept_.push_back(store_.row_access().load(found.number));
        found.block = unkept_.back().get();
      }
    }
  }
  const ValueType declared = store_.schema().value_type;
  for (const FoundRow& found : found_) {
    const Entry& entry = found.block->entry;
    if (found.block->by_row ? !fits_arrays(entry, found.cols, declared, type_)
                            : entry.kind != BlockKind::empty && entry.kind != BlockKind::dense) {
      return false;
    }
  }
  find_rows();
  return true;
}

/// Moves cursors to their rows, one step of all of them after the other: each step waits for a
/// count in memory, and so all wait together.
void RowFinder::find_rows() {
  bool in_place = false;
  for (const FoundRow& found : found_) {
    if (!found.block->by_row) continue;
    found.block->directory.prefetch(found.row);
    in_place = found.block->data != nullptr;
  }
  const auto count_at = [](const FoundRow& found) {
    const std::size_t stride = 4 + size_of(found.block->entry.value_type);
    return found.block->data + found.cursor.row * 4 + found.cursor.entries * stride;
  };
  for (FoundRow& found : found_) {
    if (!found.block->by_row) continue;
    found.cursor = found.block->directory.cursor(found.row);
    if (in_place) __builtin_prefetch(count_at(found));
  }
  if (in_place) {
    // A count that is more than there can be ends it: decoding will find it, too.
    bool more = true;
    for (std::uint64_t step = 0; more && step < RowDirectory::kStep; ++step) {
      more = false;
      for (FoundRow& found : found_) {
        if (!found.block->by_row || found.cursor.row > found.row) continue;
        const auto count = load_le<std::uint32_t>(count_at(found));
        const std::uint64_t left = found.block->entry.stored - found.cursor.entries;
        found.entries = std::min<std::uint64_t>(count, left);
        if (found.cursor.row == found.row || count > left) continue;
        ++found.cursor.row;
        found.cursor.entries += count;
        __builtin_prefetch(count_at(found));
        more = true;
      }
    }
  }
  for (FoundRow& found : found_) {
    if (!found.block->by_row || (in_place && found.cursor.row == found.row)) continue;
    const Entry& entry = found.block->entry;
    RowCursor end = found.cursor;
    store_.driver().skip_rows(store_, entry, found.row, end);
    found.cursor = end;
    store_.driver().skip_rows(store_, entry, found.row + 1, end);
    found.entries = end.entries - found.cursor.entries;
  }
  for (const FoundRow& found : found_) {
    const BlockRows& block = *found.block;
    if (block.stored_directory &&
        !block.directory.agrees(found.cursor, found.entries, block.entry)) {
      fail_directory(block);
    }
  }
}

void RowFinder::prefetch(const FoundRow& row) const noexcept {
  const BlockRows& block = *row.block;
  if (block.data == nullptr) return;
  const std::size_t size = size_of(block.entry.value_type);
  const std::byte* at;
  std::size_t bytes;
  if (block.by_row) {
    at = block.data + row.cursor.row * 4 + row.cursor.entries * (4 + size);
    bytes = row.entries * (4 + size);
  } else {
    at = block.data + row.row * block.row_step + row.cols.begin * size;
    bytes = row.cols.size() * size;
  }
  prefetch_lines(at, bytes);
}

void RowFinder::prefetch(const DirectRow& row) const noexcept {
  if (row.bytes != 0) prefetch_lines(row.at, row.bytes);
}

std::uint64_t RowFinder::decode(const FoundRow& row, const CsrTarget& out) const {
  const Entry& entry = row.block->entry;
  RowCursor cursor = row.cursor;
  if (!store_.driver().csr_arrays(store_, entry, {row.row, row.row + 1}, cursor, out)) {
    store_.file().fail_changed("block " + text(entry.pos));
  }
  if (row.cols.size() != entry.cols || has_zeros(out.type, out.values, out.row_ptr[1])) {
    keep_wanted(out, 1, row.cols);
  }
  return out.row_ptr[1];
}

}  // namespace dapple::detail
