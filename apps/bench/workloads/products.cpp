// W16: products with vectors and with 32 columns, against SciPy and NumPy on f64 in memory.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/page_cache.h"
#include "peers/python_peers.h"
#include "workloads/cells_file.h"
#include "workloads/sparse.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// Which product.
struct Kind {
  const char* name;
  std::size_t k;
  bool transposed;
};
constexpr Kind kKinds[] = {{"A x", 1, false}, {"A^T x", 1, true}, {"A X, 32 columns", 32, false}};

/// The vectors, whose sums are exact: X[i][j] is (i + j) % 16.
double x_at(std::uint64_t i, std::uint64_t j) { return static_cast<double>((i + j) % 16); }

double sum_of_x(std::uint64_t i, std::size_t k) {
  double sum = 0;
  for (std::size_t j = 0; j < k; ++j) sum += x_at(i, j);
  return sum;
}

class Product {
 public:
  /// `each(add)` calls add(row, col, value) for the cells that are not zero.
  template <class Each>
  Product(const Kind& kind, std::uint64_t rows, std::uint64_t cols, const Each& each)
      : kind_(kind),
        from_(kind.transposed ? rows : cols),
        to_(kind.transposed ? cols : rows),
        x_(from_ * kind.k),
        y_(to_ * kind.k) {
    std::vector<double> sums(from_);
    for (std::uint64_t i = 0; i < from_; ++i) {
      sums[i] = sum_of_x(i, kind.k);
      for (std::size_t j = 0; j < kind.k; ++j) x_[i * kind.k + j] = x_at(i, j);
    }
    each([&](std::uint64_t row, std::uint64_t col, double value) {
      expected_ +=
          value * sums[kind.transposed ? row : col] * weight_of(kind.transposed ? col : row);
    });
  }

  double expected() const { return expected_; }

  Contender contender(const Matrix& matrix) {
    const auto run = [this, &matrix](Sample&) {
      (kind_.transposed ? multiply_transposed : multiply)(matrix, x_, y_, kind_.k, {});
      double sum = 0;
      for (std::uint64_t i = 0; i < to_; ++i) {
        double row = 0;
        for (std::size_t j = 0; j < kind_.k; ++j) row += y_[i * kind_.k + j];
        sum += row * weight_of(i);
      }
      return sum;
    };
    return {"dapple", Role::dapple, kind_.transposed ? "multiply_transposed" : "multiply",
            1,        expected_,    run};
  }

 private:
  const Kind& kind_;
  std::uint64_t from_, to_;
  std::vector<double> x_, y_;
  double expected_ = 0;
};

void measure_sparse(Session& session, const SparseShape& shape, Cut cut) {
  const Path path = make_narrow_file(session, shape, cut);
  const Pin pin(path);
  const Matrix matrix = Matrix::open(path);
  for (const Kind& kind : kKinds) {
    Product product(kind, shape.rows, shape.cols, [&](const auto& add) {
      for (std::uint32_t row = 0; row < shape.rows; ++row) {
        for (std::uint32_t k = 0; k < shape.per_row; ++k) {
          add(row, shape.col(row, k), shape.value(row, k));
        }
      }
    });
    Series series{fmt::format("{}, CSR of u8, {}", kind.name, name_of(cut)),
                  kMilliseconds,
                  Cache::warm,
                  {{"peer", 0.5}}};
    series.contenders.push_back(product.contender(matrix));
    if (session.python().has("scipy")) {
      series.contenders.push_back(session.python().contender(
          {"SciPy", Role::peer, "csr_matrix of f64 in memory, m @ x", 1, product.expected(), {}},
          {{"do", "product"},
           {"arrays", make_arrays_file(session, shape).string()},
           {"rows", shape.rows},
           {"cols", shape.cols},
           {"entries", shape.entries()},
           {"k", kind.k},
           {"transposed", kind.transposed}}));
    }
    session.measure(series);
  }
}

template <Value T>
T value_at(std::uint64_t row, std::uint64_t col) {
  const std::uint8_t c = cell(row, col);
  if constexpr (std::same_as<T, std::int16_t>) return static_cast<T>(c * 250 - 30000);
  if constexpr (std::same_as<T, float>) return static_cast<T>(c) + 0.5F;
  return static_cast<T>(c);
}

template <Value T>
void measure_dense(Session& session, std::uint32_t side) {
  const auto name = fmt::format("product-{}-{}", side, dapple::name(value_type_of<T>()));
  const Path path = session.file(name + ".dbdf", [&](const Path& to) {
    MatrixWriter writer = MatrixWriter::create(to, side, side, value_type_of<T>());
    const TileShape tile = writer.tile();
    std::vector<T> cells(std::size_t{tile.rows} * tile.cols);
    for (std::uint32_t row = 0; row < side; row += tile.rows) {
      for (std::uint32_t col = 0; col < side; col += tile.cols) {
        const std::uint32_t rows = std::min(tile.rows, side - row);
        const std::uint32_t cols = std::min(tile.cols, side - col);
        for (std::size_t k = 0; k < std::size_t{rows} * cols; ++k) {
          cells[k] = value_at<T>(row + k / cols, col + k % cols);
        }
        writer.put<T>({row, col}, {cells.data(), rows, cols});
      }
    }
    writer.finish();
  });
  const Path npy =
      session.file(name + ".npy", [&](const Path& to) { convert_file(path, to, "npy"); });
  const Pin pin(path);
  const Matrix matrix = Matrix::open(path);
  for (const Kind& kind : kKinds) {
    Product product(kind, side, side, [&](const auto& add) {
      for (std::uint32_t row = 0; row < side; ++row) {
        for (std::uint32_t col = 0; col < side; ++col) add(row, col, value_at<T>(row, col));
      }
    });
    Series series{fmt::format("{}, dense {}", kind.name, dapple::name(value_type_of<T>())),
                  kMilliseconds,
                  Cache::warm,
                  {{"peer", 0.5}}};
    series.contenders.push_back(product.contender(matrix));
    if (session.python().has("numpy")) {
      series.contenders.push_back(session.python().contender(
          {"numpy", Role::peer, "f64 in memory, m @ x, one thread", 1, product.expected(), {}},
          {{"do", "product"},
           {"file", npy.string()},
           {"k", kind.k},
           {"transposed", kind.transposed}}));
    }
    session.measure(series);
  }
}

}  // namespace

void run_w16(Session& session) {
  const SparseShape shape =
      session.quick() ? SparseShape{2000, 400, 10} : SparseShape{100'000, 20'000, 500};
  const auto side = session.sized<std::uint32_t>(8192, 300);
  session.describe(fmt::format("{} x {} with {} a row as u8 in CSR; {} x {} dense; one thread",
                               shape.rows, shape.cols, shape.per_row, side, side));
  for (const Cut cut : {Cut::one_block, Cut::default_tiles, Cut::small_tiles}) {
    measure_sparse(session, shape, cut);
  }
  session.python().forget();
  measure_dense<std::uint8_t>(session, side);
  measure_dense<std::int16_t>(session, side);
  measure_dense<float>(session, side);
  session.python().forget();
}

}  // namespace dapple::bench
