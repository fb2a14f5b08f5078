#include "lib/compute/row_finder.h"

#include <algorithm>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/stream_block.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

/// A row further on is asked for up to here; the processor fetches the rest of a long one by
/// itself.
constexpr std::size_t kAskedBytes = 16 * kLine;

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

bool RowFinder::find_direct(std::span<const std::uint64_t> rows) {
  direct_.clear();
  if (!whole_tiles_ || tiles_.empty()) return false;
  const std::uint64_t first = cols_.begin / grid_.tile.cols;
  const std::size_t tiles = tiles_.size();
  direct_.resize(rows.size() * tiles);
  reader_.emplace(store_.row_access());
  DirectRow* out = direct_.data();
  for (const std::uint64_t row : rows) {
    const std::uint64_t i = row / grid_.tile.rows, row_in_tile = row - i * grid_.tile.rows;
    const std::uint64_t number = i * grid_.cols + first;
    for (std::size_t j = 0; j < tiles; ++j, ++out) {
      const BlockRows* const block = reader_->find(number + j);
      if (block == nullptr) return false;
      *out = {block, nullptr, 0};
      if (block->positions != nullptr && decoder(block->value_type) != nullptr) {
        const std::uint64_t before = block->positions[row_in_tile];
        out->entries = static_cast<std::uint32_t>(block->positions[row_in_tile + 1] - before);
        out->at = block->data + row_in_tile * 4 + before * (4 + size_of(block->value_type));
      } else if (!block->empty) {
        return false;
      }
    }
  }
  return true;
}

FoundRow RowFinder::as_found(const DirectRow& part, std::uint64_t row,
                             std::size_t j) const noexcept {
  const std::uint64_t i = row / grid_.tile.rows, in_tile = row - i * grid_.tile.rows;
  return {part.block,   i * grid_.cols + cols_.begin / grid_.tile.cols + j,
          in_tile,      {0, part.block->cols},
          tiles_[j].at, {in_tile, part.block->positions[in_tile]},
          part.entries};
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
    reader_.reset();
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    store_.row_access().make(missing_);
    reader_.emplace(store_.row_access());
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
    store_.codec().skip_rows(store_, entry, found.row, end);
    found.cursor = end;
    store_.codec().skip_rows(store_, entry, found.row + 1, end);
    found.entries = end.entries - found.cursor.entries;
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
  if (row.entries == 0) return;
  prefetch_lines(row.at, 4 + row.entries * (4 + size_of(row.block->value_type)));
}

std::uint64_t RowFinder::decode(const FoundRow& row, const CsrTarget& out) const {
  const Entry& entry = row.block->entry;
  RowCursor cursor = row.cursor;
  if (!store_.codec().csr_arrays(store_, entry, {row.row, row.row + 1}, cursor, out)) {
    store_.file().fail_changed("block " + text(entry.pos));
  }
  if (row.cols.size() != entry.cols || has_zeros(out.type, out.values, out.row_ptr[1])) {
    keep_wanted(out, 1, row.cols);
  }
  return out.row_ptr[1];
}

}  // namespace dapple::detail
