// W8: cells of a narrower type, read as f64.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "dapple/dapple.h"
#include "harness/kernels.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

struct Shape {
  std::uint64_t rows, cols;
  std::uint32_t tile;
  std::size_t cells() const { return rows * cols; }
};

/// A value that no narrower type than T holds, on the whole.
template <Value T>
T value_at(std::uint64_t row, std::uint64_t col) {
  const std::uint8_t c = cell(row, col);
  if constexpr (std::same_as<T, std::int16_t>) return static_cast<T>(c * 250 - 30000);
  if constexpr (std::same_as<T, float>) return static_cast<T>(c) + 0.5F;
  return static_cast<T>(c);
}

template <Value T>
std::filesystem::path make(const Session& session, const Shape& shape) {
  const auto name = fmt::format("widen-{}-{}.dbdf", shape.rows, dapple::name(value_type_of<T>()));
  return session.file(name, [&](const std::filesystem::path& path) {
    WriteOptions options;
    options.tile = {shape.tile, shape.tile};
    options.kind = KindChoice::dense;
    options.narrow = false;
    MatrixWriter writer =
        MatrixWriter::create(path, shape.rows, shape.cols, value_type_of<T>(), options);
    std::vector<T> cells(std::size_t{shape.tile} * shape.tile);
    for (std::uint64_t row = 0; row < shape.rows; row += shape.tile) {
      for (std::uint64_t col = 0; col < shape.cols; col += shape.tile) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
          cells[k] = value_at<T>(row + k / shape.tile, col + k % shape.tile);
        }
        writer.put<T>({row, col}, {cells.data(), shape.tile, shape.tile});
      }
    }
    writer.finish();
  });
}

/// Cells that are looked at within the time: one in each tile.
template <class At>
double sample_cells(const Shape& shape, const At& at) {
  double sum = 0;
  for (std::uint64_t row = 7; row < shape.rows; row += shape.tile) {
    for (std::uint64_t col = 5; col < shape.cols; col += shape.tile) sum += at(row, col);
  }
  return sum;
}

template <Value T>
void convert_tiles(const Matrix& matrix, const Shape& shape, std::vector<double>& out) {
  for (std::uint64_t row = 0; row < shape.rows; row += shape.tile) {
    for (std::uint64_t col = 0; col < shape.cols; col += shape.tile) {
      const DenseView<T> view =
          matrix.tile(row / shape.tile, col / shape.tile).template dense_view<T>();
      for (std::uint64_t r = 0; r < shape.tile; ++r) {
        double* const to = out.data() + (row + r) * shape.cols + col;
        for (std::uint64_t c = 0; c < shape.tile; ++c) to[c] = static_cast<double>(view(r, c));
      }
    }
  }
}

template <Value T>
void measure_as_f64(Session& session, const Shape& shape, std::vector<double>& cells) {
  const std::filesystem::path path = make<T>(session, shape);
  const Pin pin(path);
  const Matrix matrix = Matrix::open(path);
  const auto at = [&](std::uint64_t row, std::uint64_t col) -> double& {
    return cells[row * shape.cols + col];
  };
  const auto stored = [](std::uint64_t row, std::uint64_t col) -> double {
    return value_at<T>(row, col);
  };
  double sum = 0;
  for (std::uint64_t row = 0; row < shape.rows; ++row) {
    for (std::uint64_t col = 0; col < shape.cols; ++col) sum += stored(row, col);
  }
  const auto work = static_cast<double>(shape.cells() * sizeof(double));

  Series series{fmt::format("{} read as f64 (GB of f64)", name(value_type_of<T>())),
                kGigabytesPerSecond,
                Cache::warm,
                {{"limit", 1 / 0.8}}};
  series.contenders.push_back({"memset of the output", Role::limit,
                               "what must be written; not zeros, which cost less", work, 0,
                               [&](Sample&) {
                                 std::memset(cells.data(), 1, cells.size() * sizeof(double));
                                 return cells[cells.size() / 2] > 0 ? 0.0 : 1.0;
                               }});
  series.contenders.push_back(
      {"dapple", Role::dapple, "matrix.read<double>(everything, out)", work,
       sample_cells(shape, stored),
       [&](Sample&) {
         matrix.read<double>({{0, shape.rows}, {0, shape.cols}}, std::span(cells));
         return sample_cells(shape, at);
       },
       [&] { sample_cells(shape, [&](auto r, auto c) { return at(r, c) = -1; }); },
       [&] { return sum_doubles(cells) == sum; }});
  series.contenders.push_back({"plain loop", Role::aside, "tile by tile, a conversion per cell",
                               work, sample_cells(shape, stored), [&](Sample&) {
                                 convert_tiles<T>(matrix, shape, cells);
                                 return sample_cells(shape, at);
                               }});
  session.measure(series);
}

}  // namespace

void run_w8(Session& session) {
  const Shape shape = session.quick() ? Shape{512, 512, 128} : Shape{4096, 4096, 256};
  session.describe(fmt::format("{} x {} in tiles of {} x {}, dense", shape.rows, shape.cols,
                               shape.tile, shape.tile));
  std::vector<double> cells(shape.cells());
  measure_as_f64<std::uint8_t>(session, shape, cells);
  measure_as_f64<std::int16_t>(session, shape, cells);
  measure_as_f64<float>(session, shape, cells);
}

}  // namespace dapple::bench
