// A sparse matrix in a file as `convert` writes it: rows and columns at random, all of it, products
// and statistics.
#include <bit>
#include <memory>
#include <vector>

#include "bench.h"
#include "dapple/dapple.h"
#include "random.h"

namespace dapple::bench {

namespace {

namespace fs = std::filesystem;

/// `per_row` entries in each row, one in each of as many equal strips of columns. Values are 1 to
/// 65, half of them 1, a quarter 2 and so on, as counts are.
struct Shape {
  std::uint32_t rows, cols, per_row;

  std::uint64_t entries() const { return std::uint64_t{rows} * per_row; }
  std::uint32_t col(std::uint64_t row, std::uint32_t k) const {
    const std::uint32_t step = cols / per_row;
    return k * step + static_cast<std::uint32_t>(mix((row << 32) ^ k) % step);
  }
  static double value(std::uint64_t row, std::uint32_t k) {
    return 1 + std::countr_zero(mix((std::uint64_t{k} << 32) ^ row));
  }
  /// Calls take(row, col, value) for each entry.
  template <class Take>
  void each(const Take& take) const {
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t k = 0; k < per_row; ++k) take(row, col(row, k), value(row, k));
    }
  }
};

Shape shape_of(const Data& data) {
  return data.quick() ? Shape{2000, 400, 10} : Shape{60'000, 20'000, 500};
}

/// Of result `i`, 1 to 7: sums of small integers by such weights are exact, and tell results apart.
double weight_of(std::uint64_t i) { return static_cast<double>(i % 7 + 1); }

/// A file that is written with defaults but for packing, from one that holds the matrix as a single
/// block.
Matrix open_sparse(const Data& data, Packing pack = Packing::none) {
  const Shape shape = shape_of(data);
  const char* const name = pack == Packing::none ? "sparse.dbdf" : "packed.dbdf";
  return Matrix::open(data.chosen_file(name, [&](const fs::path& to) {
    const fs::path whole = data.scratch("block.dbdf");
    std::vector<std::uint64_t> row_ptr{0};
    std::vector<std::uint32_t> col_idx;
    std::vector<float> values;
    shape.each([&](std::uint32_t, std::uint32_t col, double value) {
      col_idx.push_back(col);
      values.push_back(static_cast<float>(value));
      if (col_idx.size() % shape.per_row == 0) row_ptr.push_back(col_idx.size());
    });
    auto writer = MatrixWriter::create(whole, shape.rows, shape.cols, ValueType::f32,
                                       {.tile = TileShape{shape.rows, shape.cols}}, Storage::csr);
    writer.put<float>({0, 0}, CsrRef<float>{shape.rows, shape.cols, row_ptr, col_idx, values});
    writer.finish();
    ConvertOptions options;
    options.to = "dbdf";
    options.write.pack = pack;
    convert(open(whole), {}, to, options);
    fs::remove(whole);
  }));
}

std::vector<std::uint64_t> random_numbers(std::uint64_t limit, std::size_t n) {
  Random random(15);
  std::vector<std::uint64_t> numbers(n);
  for (std::uint64_t& number : numbers) number = random.below(limit);
  return numbers;
}

template <std::size_t Batch, Packing kPack>
Ready random_rows(const Data& data) {
  const Matrix matrix = open_sparse(data, kPack);
  const Shape shape = shape_of(data);
  const auto rows = random_numbers(shape.rows, data.sized<std::size_t>(16384, 4096));
  auto expected = static_cast<double>(rows.size() * shape.per_row);
  for (std::size_t i = 0; i < rows.size(); i += Batch) {
    expected += Shape::value(rows[i], 0) + Shape::value(rows[i + Batch - 1], shape.per_row - 1);
  }
  const auto out = std::make_shared<Csr<float>>();
  return {.work = static_cast<double>(rows.size()), .expected = expected, .run = [=] {
            double sum = 0;
            for (std::size_t i = 0; i < rows.size(); i += Batch) {
              gather_csr(matrix, std::span(rows).subspan(i, Batch), *out, {.threads = 1});
              sum += static_cast<double>(out->row_ptr[Batch]) + out->values[0] +
                     out->values[out->values.size() - 1];
            }
            return sum;
          }};
}

Ready random_columns(const Data& data) {
  const Matrix matrix = open_sparse(data);
  const Shape shape = shape_of(data);
  const auto cols = random_numbers(shape.cols, 10);
  double expected = 0;
  shape.each([&](std::uint32_t, std::uint32_t col, double value) {
    for (const std::uint64_t wanted : cols) expected += wanted == col ? value : 0;
  });
  const auto out = std::make_shared<Csr<float>>();
  return {.work = static_cast<double>(cols.size()), .expected = expected, .run = [=] {
            gather_columns(matrix, std::span<const std::uint64_t>(cols), *out, {.threads = 1});
            double sum = 0;
            for (const float value : out->values) sum += value;
            return sum;
          }};
}

template <Packing kPack>
Ready whole_to_csr(const Data& data) {
  const Matrix matrix = open_sparse(data, kPack);
  const Shape shape = shape_of(data);
  double expected = 0;
  shape.each([&](std::uint32_t row, std::uint32_t, double value) {
    expected += row % 100 == 0 ? value : 0;
  });
  return {
      .expected = expected, .run = [=] {
        const auto all = matrix.read_csr<float>({{0, shape.rows}, {0, shape.cols}}, {.threads = 1});
        double sum = 0;
        for (std::size_t row = 0; row < shape.rows; row += 100) {
          for (std::uint64_t k = all.row_ptr[row]; k < all.row_ptr[row + 1]; ++k) {
            sum += all.values[k];
          }
        }
        return sum;
      }};
}

Ready packing(const Data& data) {
  const Matrix matrix = open_sparse(data);
  const auto expected = static_cast<double>(shape_of(data).entries());
  return {.expected = expected, .run = [=, &data] {
            ConvertOptions options;
            options.write.pack = Packing::fast;
            options.write.sync = false;
            const fs::path to = data.scratch("again.dbdf");
            convert(matrix, {}, to, options);
            return static_cast<double>(Matrix::open(to).counts().stored);
          }};
}

template <Packing kPack>
Ready sparse_product(const Data& data) {
  const Matrix matrix = open_sparse(data, kPack);
  const Shape shape = shape_of(data);
  std::vector<double> x(shape.cols);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 16);
  double expected = 0;
  shape.each([&](std::uint32_t row, std::uint32_t col, double value) {
    expected += value * x[col] * weight_of(row);
  });
  const auto y = std::make_shared<std::vector<double>>(shape.rows);
  return {.expected = expected, .run = [=] {
            multiply(matrix, x, *y, 1, {.threads = 1});
            double sum = 0;
            for (std::size_t i = 0; i < y->size(); ++i) sum += (*y)[i] * weight_of(i);
            return sum;
          }};
}

template <bool ByRow, Packing kPack = Packing::none>
Ready statistics(const Data& data) {
  const Matrix matrix = open_sparse(data, kPack);
  double expected = 0;  // sums and sums of squares, weighted
  shape_of(data).each([&](std::uint32_t row, std::uint32_t col, double v) {
    expected += (v + v * v) * weight_of(ByRow ? row : col);
  });
  return {.expected = expected, .run = [=] {
            const auto stats =
                ByRow ? row_stats(matrix, {.threads = 1}) : column_stats(matrix, {.threads = 1});
            double sum = 0;
            for (std::size_t i = 0; i < stats.size(); ++i) {
              sum += (stats[i].sum + stats[i].sum_squares) * weight_of(i);
            }
            return sum;
          }};
}

constexpr Workload kWorkloads[] = {
    {"random rows, batches of 64", "What does a random row of 500 entries cost?", kMicroseconds,
     false, random_rows<64, Packing::none>},
    {"random rows, batches of 4096", "And in large batches?", kMicroseconds, false,
     random_rows<4096, Packing::none>},
    {"random columns", "What does a random column cost, without a copy by column?", kMilliseconds,
     false, random_columns},
    {"whole to CSR", "How soon are 30 million entries three arrays?", kMilliseconds, false,
     whole_to_csr<Packing::none>},
    {"random rows, packed", "And of packed tiles, in batches of 64?", kMicroseconds, false,
     random_rows<64, Packing::fast>},
    {"random rows, packed, of 4096", "And in large batches?", kMicroseconds, false,
     random_rows<4096, Packing::fast>},
    {"whole to CSR, packed", "And all of a packed file?", kMilliseconds, false,
     whole_to_csr<Packing::fast>},
    {"packing", "How long does it take to pack 30 million entries?", kMilliseconds, false, packing},
    {"A x, sparse", "How long does a product with a vector take?", kMilliseconds, false,
     sparse_product<Packing::none>},
    {"A x, packed", "And of a packed file?", kMilliseconds, false, sparse_product<Packing::fast>},
    {"statistics by row", "How long do mean and variance of rows take?", kMilliseconds, false,
     statistics<true>},
    {"statistics by column", "And of columns?", kMilliseconds, false, statistics<false>},
    {"statistics by column, packed", "And of a packed file?", kMilliseconds, false,
     statistics<false, Packing::fast>},
};

}  // namespace

std::span<const Workload> sparse_workloads() { return kWorkloads; }

}  // namespace dapple::bench
