// Dense f32 in tiles: searches, which statistics of tiles may shorten, rows at random, a product.
#include <memory>
#include <vector>

#include "bench.h"
#include "dapple/dapple.h"
#include "random.h"

namespace dapple::bench {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kTile = 256;

/// Cells from 0 to 255; every 100th tile has one of 1000.
struct Dense {
  std::uint32_t side;

  float value(std::uint64_t row, std::uint64_t col) const {
    const bool corner = row % kTile == 0 && col % kTile == 0;
    const bool rare = (row / kTile * (side / kTile) + col / kTile) % 100 == 0;
    return corner && rare ? 1000.0F : static_cast<float>(cell(row, col));
  }
};

Dense dense_of(const Data& data) { return {data.sized<std::uint32_t>(8192, 512)}; }

Matrix open_dense(const Data& data) {
  const Dense dense = dense_of(data);
  return Matrix::open(data.file("dense-f32.dbdf", [&](const fs::path& to) {
    auto writer = MatrixWriter::create(to, dense.side, dense.side, ValueType::f32,
                                       {.tile = TileShape{kTile, kTile}, .narrow = false});
    std::vector<float> cells(kTile * kTile);
    for (std::uint32_t row = 0; row < dense.side; row += kTile) {
      for (std::uint32_t col = 0; col < dense.side; col += kTile) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
          cells[k] = dense.value(row + k / kTile, col + k % kTile);
        }
        writer.put<float>({row, col}, {cells.data(), kTile, kTile});
      }
    }
    writer.finish();
  }));
}

template <int Limit>
Ready count_above(const Data& data) {
  const Matrix matrix = open_dense(data);
  const Dense dense = dense_of(data);
  double expected = 0;
  for (std::uint64_t row = 0; row < dense.side; ++row) {
    for (std::uint64_t col = 0; col < dense.side; ++col) {
      expected += dense.value(row, col) > static_cast<float>(Limit) ? 1 : 0;
    }
  }
  return {.expected = expected,
          .run = [=] { return static_cast<double>(count_where(matrix, Condition::above(Limit))); }};
}

Ready dense_rows(const Data& data) {
  const Matrix matrix = open_dense(data);
  const Dense dense = dense_of(data);
  Random random(18);
  std::vector<std::uint64_t> rows(data.sized<std::size_t>(4096, 64));
  for (std::uint64_t& row : rows) row = random.below(dense.side);
  const auto out = std::make_shared<std::vector<float>>(rows.size() * dense.side);
  const double expected =
      static_cast<double>(dense.value(rows.front(), 0)) + dense.value(rows.back(), dense.side - 1);
  return {.work = static_cast<double>(rows.size()), .expected = expected, .run = [=] {
            gather_rows(matrix, std::span<const std::uint64_t>(rows), std::span(*out));
            return static_cast<double>(out->front()) + out->back();
          }};
}

Ready dense_product(const Data& data) {
  const Matrix matrix = open_dense(data);
  const Dense dense = dense_of(data);
  std::vector<double> x(dense.side);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 16);
  double expected = 0;
  for (std::uint64_t row = 0; row < dense.side; ++row) {
    for (std::uint64_t col = 0; col < dense.side; ++col) {
      expected += dense.value(row, col) * x[col] * static_cast<double>(row % 7 + 1);
    }
  }
  const auto y = std::make_shared<std::vector<double>>(dense.side);
  return {.expected = expected, .run = [=] {
            multiply(matrix, x, *y, 1, {.threads = 1});
            double sum = 0;
            for (std::size_t i = 0; i < y->size(); ++i) {
              sum += (*y)[i] * static_cast<double>(i % 7 + 1);
            }
            return sum;
          }};
}

constexpr Workload kWorkloads[] = {
    {"where, few tiles match", "Does a search read only the tiles that can hold a match?",
     kMicroseconds, false, count_above<500>},
    {"where, all tiles match", "How fast is a search that reads them all?", kMilliseconds, false,
     count_above<250>},
    {"random dense rows", "What does a random row of 8192 f32 cost?", kMicroseconds, false,
     dense_rows},
    {"A x, dense", "How long does a product of f32 with a vector take?", kMilliseconds, false,
     dense_product},
};

}  // namespace

std::span<const Workload> search_workloads() { return kWorkloads; }

}  // namespace dapple::bench
