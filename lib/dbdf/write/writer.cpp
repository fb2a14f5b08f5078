#include "dapple/writer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/value_types.h"
#include "lib/cells/convert_cells.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/dbdf/write/checks.h"

namespace dapple {

using detail::BlockWriter;
using detail::Schema;
using detail::dbdf::CsrCells;
using detail::dbdf::DenseCells;
using detail::dbdf::SparseCell;

TileShape default_tile(std::uint64_t rows, std::uint64_t cols) noexcept {
  // 256 x 256 values of f64 are 512 KiB: large enough that fetching a tile costs as much as its
  // bytes, small enough for the L2 cache. Narrow and flat objects get tiles of the same area.
  constexpr std::uint64_t kEdge = 256, kArea = kEdge * kEdge;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint64_t kMostStrips = std::uint64_t{1} << 20;
  rows = std::max<std::uint64_t>(rows, 1);
  cols = std::max<std::uint64_t>(cols, 1);
  std::uint64_t tile_cols = std::min(cols, kEdge);
  std::uint64_t tile_rows = std::min(rows, kArea / tile_cols);
  if (tile_rows < kEdge) tile_cols = std::min(cols, kArea / tile_rows);
  // Huge shapes, which only sparse objects have, get larger tiles instead of more.
  tile_rows = std::clamp(rows / kMostStrips, tile_rows, kMax);
  tile_cols = std::clamp(cols / kMostStrips, tile_cols, kMax);
  return {static_cast<std::uint32_t>(tile_rows), static_cast<std::uint32_t>(tile_cols)};
}

TileShape default_sparse_tile(std::uint64_t rows, std::uint64_t cols, double stored,
                              ValueType value_type) noexcept {
  constexpr double kBytes = 1 << 20, kWidth = 1 << 16;
  constexpr double kMostSide = std::numeric_limits<std::uint32_t>::max();
  const double height = std::max(static_cast<double>(rows), 1.0);
  const double width = std::max(static_cast<double>(cols), 1.0);
  const double per_cell = stored / height / width * static_cast<double>(4 + size_of(value_type));
  const auto side = [&](double other, double least, double most) {
    const double cells = kBytes / std::max(1 / kMostSide, per_cell * other);
    return std::floor(std::clamp(cells, std::min(least, most), std::min(most, kMostSide)));
  };
  const double tile_rows = side(std::min(width, kWidth), 1, height);
  // Where all rows hold less, or as many as a tile can have, it has more columns.
  const double tile_cols = tile_rows < std::min(height, kMostSide) ? std::min(width, kWidth)
                                                                   : side(tile_rows, kWidth, width);
  return {static_cast<std::uint32_t>(tile_rows), static_cast<std::uint32_t>(tile_cols)};
}

TileWriter::TileWriter(std::unique_ptr<BlockWriter> impl) noexcept : impl_(std::move(impl)) {}
TileWriter::TileWriter(TileWriter&&) noexcept = default;
TileWriter& TileWriter::operator=(TileWriter&&) noexcept = default;
TileWriter::~TileWriter() = default;

TileShape TileWriter::tile() const noexcept { return impl_->tile(); }
const std::vector<Range>& TileWriter::column_strips() const noexcept {
  return impl_->column_strips();
}

template <Value T>
void TileWriter::put(BlockPos pos, TileShape shape, std::span<const Triplet<T>> entries) {
  impl_->require_block(pos, shape.rows, shape.cols);
  std::vector<SparseCell> list;
  list.reserve(entries.size());
  for (const Triplet<T>& entry : entries) {
    list.push_back(
        {entry.row, entry.col,
         detail::load_bits(value_type_of<T>(), reinterpret_cast<const std::byte*>(&entry.value))});
  }
  impl_->put(pos, shape, value_type_of<T>(), list);
}

WriteSummary TileWriter::finish() { return impl_->finish(); }

MatrixWriter MatrixWriter::create(const std::filesystem::path& path, std::uint64_t rows,
                                  std::uint64_t cols, ValueType value_type,
                                  const WriteOptions& options, Storage storage) {
  detail::require_known(value_type, path.string());
  Schema schema;
  schema.rows = rows;
  schema.cols = cols;
  schema.value_type = value_type;
  schema.storage = storage;
  return MatrixWriter(std::make_unique<BlockWriter>(path, std::move(schema), options));
}

FrameWriter FrameWriter::create(const std::filesystem::path& path, std::uint64_t rows,
                                std::vector<Column> columns, const WriteOptions& options) {
  for (const Column& one : columns) detail::require_known(one.value_type, path.string());
  if (!options.plain) {
    for (const Column& one : columns) detail::dbdf::require_fit(one, path.string());
  }
  Schema schema;
  schema.kind = detail::ObjectKind::frame;
  schema.rows = rows;
  schema.cols = columns.size();
  schema.columns = std::move(columns);
  return FrameWriter(std::make_unique<BlockWriter>(path, std::move(schema), options));
}

#define DAPPLE_INSTANTIATE(T) \
  template void TileWriter::put(BlockPos, TileShape, std::span<const Triplet<T>>);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
