// Writes a sparse matrix, then multiplies it with a vector row by row. Rows come as (column, value)
// in the caller's type, whatever kind and type each tile is stored in.
//
//   sparse_rows OUT.dbdf
//
// prints
//   3000 values, stored as csr
//   y[0] = 3, y[999] = 2997
#include <dapple/dapple.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::uint32_t kRows = 1000, kCols = 3000;

// Row r holds the value r (row 0: 1) in three places.
void write(const char* path) {
  std::vector<std::uint64_t> row_ptr = {0};
  std::vector<std::uint32_t> col_idx;
  std::vector<float> values;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (const std::uint32_t col : {row, row + 1000, row + 2000}) {
      col_idx.push_back(col);
      values.push_back(static_cast<float>(row == 0 ? 1 : row));
    }
    row_ptr.push_back(col_idx.size());
  }
  auto writer = dapple::MatrixWriter::create(path, kRows, kCols, dapple::ValueType::f32, {},
                                             dapple::Storage::csr);
  writer.put_region<float>({0, 0}, dapple::CsrRef<float>{kRows, kCols, row_ptr, col_idx, values});
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  try {
    write(argv[1]);
    const auto matrix = dapple::Matrix::open(argv[1]);
    std::printf("%llu values, stored as %s\n",
                static_cast<unsigned long long>(matrix.counts().stored),
                std::string(dapple::name(matrix.block({0, 0}).info().kind)).c_str());
    const std::vector<double> x(kCols, 1);
    std::vector<double> y(kRows);
    for (const auto row : dapple::stream_rows<double>(matrix)) {
      for (const auto [col, value] : row) y[row.number()] += value * x[col];
    }
    std::printf("y[0] = %g, y[999] = %g\n", y[0], y[999]);
  } catch (const dapple::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
