// W17: statistics of rows and columns of sparse blocks. W18: cells that meet a condition.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/page_cache.h"
#include "peers/python_peers.h"
#include "workloads/sparse.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

void measure_statistics(Session& session, const SparseShape& shape, Cut cut, bool by_row) {
  const Path path = make_narrow_file(session, shape, cut);
  const Pin pin(path);
  const Matrix matrix = Matrix::open(path);
  double expected = 0;  // sums and sums of squares, weighted
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    for (std::uint32_t k = 0; k < shape.per_row; ++k) {
      const double v = shape.value(row, k);
      expected += (v + v * v) * weight_of(by_row ? row : shape.col(row, k));
    }
  }
  const auto work = static_cast<double>(shape.entries());
  Series series{fmt::format("mean and variance by {}, {}", by_row ? "row" : "column", name_of(cut)),
                kMillionsPerSecond,
                Cache::warm,
                {{"", 400}}};
  series.contenders.push_back({"dapple", Role::dapple, by_row ? "row_stats" : "column_stats", work,
                               expected, [&matrix, by_row](Sample&) {
                                 const auto stats =
                                     by_row ? row_stats(matrix) : column_stats(matrix);
                                 double sum = 0;
                                 for (std::size_t i = 0; i < stats.size(); ++i) {
                                   sum += (stats[i].sum + stats[i].sum_squares) * weight_of(i);
                                 }
                                 return sum;
                               }});
  if (session.python().has("scipy")) {
    series.contenders.push_back(session.python().contender(
        {"SciPy", Role::peer, "sums of m and of m.multiply(m), f64 in memory", work, expected, {}},
        {{"do", "sums"},
         {"arrays", make_arrays_file(session, shape).string()},
         {"rows", shape.rows},
         {"cols", shape.cols},
         {"entries", shape.entries()},
         {"axis", by_row ? 1 : 0}}));
  }
  session.measure(series);
}

/// f32 cells from 0 to 255; every 100th tile has one of 1000.
struct SearchBed {
  std::uint32_t side;
  TileShape tile{256, 256};

  bool is_rare(std::uint64_t i, std::uint64_t j) const {
    return (i * (side / tile.cols) + j) % 100 == 0;
  }
  float value(std::uint64_t row, std::uint64_t col) const {
    const bool corner = row % tile.rows == 0 && col % tile.cols == 0;
    return corner && is_rare(row / tile.rows, col / tile.cols) ? 1000.0F
                                                               : static_cast<float>(cell(row, col));
  }
};

void measure_where(Session& session, const SearchBed& bed) {
  const Path path = session.file(fmt::format("search-{}.dbdf", bed.side), [&](const Path& to) {
    WriteOptions options;
    options.tile = bed.tile;
    options.narrow = false;
    auto writer = MatrixWriter::create(to, bed.side, bed.side, ValueType::f32, options);
    std::vector<float> cells(std::size_t{bed.tile.rows} * bed.tile.cols);
    for (std::uint32_t row = 0; row < bed.side; row += bed.tile.rows) {
      for (std::uint32_t col = 0; col < bed.side; col += bed.tile.cols) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
          cells[k] = bed.value(row + k / bed.tile.cols, col + k % bed.tile.cols);
        }
        writer.put<float>({row, col}, {cells.data(), bed.tile.rows, bed.tile.cols});
      }
    }
    writer.finish();
  });
  const Pin pin(path);
  const Matrix matrix = Matrix::open(path);
  const auto scan = [&](float limit, bool only_rare) {
    std::uint64_t found = 0;
    const std::uint32_t n = bed.side / bed.tile.rows;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        if (only_rare && !bed.is_rare(i, j)) continue;
        const DenseView<float> view = matrix.tile(i, j).dense_view<float>();
        for (std::uint32_t r = 0; r < bed.tile.rows; ++r) {
          for (std::uint32_t c = 0; c < bed.tile.cols; ++c) found += view(r, c) > limit ? 1 : 0;
        }
      }
    }
    return static_cast<double>(found);
  };
  const auto measure = [&](const char* name, float limit, bool only_rare, double most) {
    const double expected = scan(limit, false);
    Series series{name, kMicroseconds, Cache::warm, {{"limit", most}}};
    series.contenders.push_back({"plain scan", Role::limit,
                                 only_rare ? "of the tiles that hold a match" : "of all tiles", 1,
                                 expected, [=, &scan](Sample&) { return scan(limit, only_rare); }});
    series.contenders.push_back(
        {"dapple", Role::dapple, "count_where", 1, expected, [&matrix, limit](Sample&) {
           return static_cast<double>(count_where(matrix, Condition::above(limit)));
         }});
    session.measure(series);
  };
  measure("count, 1 % of tiles can match", 500, true, 1.3);
  measure("count, every tile can match", 250, false, 1.05);
}

}  // namespace

void run_w17(Session& session) {
  const SparseShape shape =
      session.quick() ? SparseShape{2000, 400, 10} : SparseShape{100'000, 20'000, 500};
  session.describe(fmt::format("{} x {} with {} a row, u8 in CSR, one thread", shape.rows,
                               shape.cols, shape.per_row));
  for (const Cut cut : {Cut::one_block, Cut::default_tiles, Cut::small_tiles}) {
    for (const bool by_row : {true, false}) measure_statistics(session, shape, cut, by_row);
  }
  session.python().forget();
}

void run_w18(Session& session) {
  const SearchBed bed{session.sized<std::uint32_t>(16384, 512)};
  session.describe(fmt::format("{0} x {0} f32 in tiles of 256 x 256", bed.side));
  measure_where(session, bed);
}

}  // namespace dapple::bench
