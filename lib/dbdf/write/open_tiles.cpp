#include "lib/dbdf/write/open_tiles.h"

#include <algorithm>
#include <iterator>

namespace dapple::detail::dbdf {

namespace {

/// The parts as one, if they follow each other and are alike; else each by itself.
std::vector<TilePart> joined(std::vector<TilePart> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const TilePart& a, const TilePart& b) { return a.pos.rx < b.pos.rx; });
  const auto follows = [](const TilePart& above, const TilePart& below) {
    return above.pos.rx + above.rows == below.pos.rx && above.type == below.type &&
           above.is_sparse() == below.is_sparse();
  };
  const auto unlike = [&](const TilePart& a, const TilePart& b) { return !follows(a, b); };
  if (std::adjacent_find(parts.begin(), parts.end(), unlike) != parts.end()) return parts;
  for (std::size_t i = 1; i < parts.size(); ++i) parts.front().append(parts[i]);
  parts.erase(parts.begin() + 1, parts.end());
  return parts;
}

}  // namespace

TilePart::TilePart(BlockPos at, const DenseCells& cells)
    : pos(at), rows(cells.rows), cols(cells.cols), type(cells.type) {
  values.reserve(rows * cells.row_bytes());
  for (std::uint32_t r = 0; r < rows; ++r) {
    values.insert(values.end(), cells.row(r), cells.row(r) + cells.row_bytes());
  }
}

TilePart::TilePart(BlockPos at, const CsrCells& cells)
    : pos(at),
      rows(cells.rows),
      cols(cells.cols),
      type(cells.type),
      values(cells.values, cells.value(cells.stored())),
      col_idx(cells.col_idx, cells.col_idx + cells.stored()) {
  row_ptr.reserve(std::size_t{rows} + 1);
  for (std::uint32_t i = 0; i < cells.row_count(); ++i) {
    row_ptr.resize(std::size_t{cells.row(i)} + 1, cells.row_ptr[i]);
  }
  row_ptr.resize(std::size_t{rows} + 1, cells.stored());
}

DenseCells TilePart::dense() const noexcept {
  return {values.data(), type, rows, cols, cols * size_of(type)};
}

CsrCells TilePart::csr() const noexcept {
  return {row_ptr.data(), col_idx.data(), values.data(), type, rows, cols};
}

void TilePart::append(const TilePart& below) {
  const std::uint64_t stored = col_idx.size();
  rows += below.rows;
  values.insert(values.end(), below.values.begin(), below.values.end());
  if (!is_sparse()) return;
  col_idx.insert(col_idx.end(), below.col_idx.begin(), below.col_idx.end());
  std::transform(below.row_ptr.begin() + 1, below.row_ptr.end(), std::back_inserter(row_ptr),
                 [stored](std::uint64_t end) { return stored + end; });
}

std::size_t TilePart::bytes() const noexcept {
  return values.size() + row_ptr.size() * sizeof row_ptr[0] + col_idx.size() * sizeof col_idx[0];
}

std::vector<TilePart> OpenTiles::add(BlockPos tile, std::uint64_t rows, TilePart part) {
  const std::lock_guard lock(mutex_);
  const auto place = tiles_.try_emplace({tile.rx, tile.cx}).first;
  Open& open = place->second;
  bytes_ += part.bytes();
  open.rows += part.rows;
  open.parts.push_back(std::move(part));
  if (open.rows < rows) return bytes_ > most_ ? take_all_locked() : std::vector<TilePart>();
  for (const TilePart& one : open.parts) bytes_ -= one.bytes();
  std::vector<TilePart> whole = std::move(open.parts);
  tiles_.erase(place);
  return joined(std::move(whole));
}

std::vector<TilePart> OpenTiles::take_all() {
  const std::lock_guard lock(mutex_);
  return take_all_locked();
}

std::vector<TilePart> OpenTiles::take_all_locked() {
  std::vector<TilePart> all;
  for (auto& [tile, open] : tiles_) {
    std::vector<TilePart> parts = joined(std::move(open.parts));
    std::move(parts.begin(), parts.end(), std::back_inserter(all));
  }
  tiles_.clear();
  bytes_ = 0;
  return all;
}

}  // namespace dapple::detail::dbdf
