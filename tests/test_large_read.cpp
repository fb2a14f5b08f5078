// Reads so large that their output is written past the caches (lib/object/copy_rows.h).

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/cells/stream_copy.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

constexpr std::uint64_t kRows = 1530, kCols = 1601;

// A small number, so that it fits every type, and seldom the one of a neighbour.
std::uint64_t number_at(std::uint64_t row, std::uint64_t col) { return (row * 31 + col * 7) % 127; }

template <class T>
std::vector<T> make_cells() {
  std::vector<T> cells(kRows * kCols);
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    cells[i] = static_cast<T>(number_at(i / kCols, i % kCols));
  }
  return cells;
}

template <class T>
std::filesystem::path write(const test::TempDir& folder, const std::vector<T>& cells,
                            KindChoice kind = KindChoice::dense) {
  WriteOptions options;
  options.tile = {70, 90};
  options.kind = kind;
  options.narrow = false;
  const auto path = folder / "m.dbdf";
  MatrixWriter writer = MatrixWriter::create(path, kRows, kCols, value_type_of<T>(), options);
  for (std::uint64_t row = 0; row < kRows; row += 70) {
    for (std::uint64_t col = 0; col < kCols; col += 90) {
      const auto height = static_cast<std::uint32_t>(std::min<std::uint64_t>(70, kRows - row));
      const auto width = static_cast<std::uint32_t>(std::min<std::uint64_t>(90, kCols - col));
      writer.put<T>({row, col}, {&cells[row * kCols + col], height, width, kCols});
    }
  }
  writer.finish();
  return path;
}

// Reads everything as doubles to memory that starts `shift` values after the start of a line,
// rows `stride` apart; each value between the rows must stay.
void check_read(const Matrix& matrix, std::size_t shift, std::size_t stride, unsigned threads) {
  constexpr double kOutside = -1;
  std::vector<double> memory(kRows * stride + 16, kOutside);
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(double);
  const std::size_t first = (8 - at % 8) % 8 + shift;
  ReadOptions options;
  options.threads = threads;
  const std::size_t size = (kRows - 1) * stride + kCols;
  matrix.read<double>({{0, kRows}, {0, kCols}}, std::span(memory).subspan(first, size), stride,
                      options);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool outside = i < first || (i - first) % stride >= kCols || i >= first + size;
    const std::uint64_t row = outside ? 0 : (i - first) / stride;
    const std::uint64_t col = outside ? 0 : (i - first) % stride;
    const double expected = outside ? kOutside : static_cast<double>(number_at(row, col));
    wrong += memory[i] != expected ? 1 : 0;
  }
  CHECK(wrong == 0);
}

template <class T>
void check_type() {
  const test::TempDir folder;
  const Matrix matrix = Matrix::open(write(folder, make_cells<T>()));
  static_assert(kRows * kCols * sizeof(double) >= detail::kStreamBytes);
  for (std::size_t shift = 0; shift < 8; shift += 3) check_read(matrix, shift, kCols, 1);
  check_read(matrix, 1, kCols + 5, 2);
}

}  // namespace

TEST_CASE("large read: cells of the same type reach any address and stride") {
  check_type<double>();
}

TEST_CASE("large read: u8 reaches any address and stride as f64") { check_type<std::uint8_t>(); }

TEST_CASE("large read: f32 reaches any address and stride as f64") { check_type<float>(); }

TEST_CASE("large read: sparse tiles reach any address and stride") {
  for (const KindChoice kind : {KindChoice::csr, KindChoice::coo}) {
    const test::TempDir folder;
    const Matrix matrix = Matrix::open(write(folder, make_cells<std::int16_t>(), kind));
    check_read(matrix, 0, kCols, 1);
    check_read(matrix, 3, kCols + 5, 2);
  }
}

TEST_CASE("large read: a large block is decoded whole") {
  const test::TempDir folder;
  const std::vector<double> cells = make_cells<double>();
  for (const KindChoice kind : {KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
    WriteOptions options;
    options.tile = {kRows, kCols};
    options.kind = kind;
    options.narrow = false;
    options.overwrite = true;
    MatrixWriter writer =
        MatrixWriter::create(folder / "m.dbdf", kRows, kCols, ValueType::f64, options);
    writer.put<double>({0, 0}, {cells.data(), kRows, kCols});
    writer.finish();
    std::vector<double> out(cells.size(), -1);
    const Matrix m = Matrix::open(folder / "m.dbdf");
    m.block({0, 0}).decode<double>(out);
    CHECK(out == cells);
  }
}

TEST_CASE("large read: an error names the first cell that does not fit") {
  const test::TempDir folder;
  std::vector<double> cells = make_cells<double>();
  cells[900 * kCols + 1000] = 0.5;
  cells[901 * kCols + 1001] = 0.5;
  const Matrix matrix = Matrix::open(write(folder, cells));
  std::vector<std::int64_t> out(kRows * kCols);
  const Error error = test::required_error(test::error_of([&] {
    matrix.read<std::int64_t>({{0, kRows}, {0, kCols}}, std::span(out));
  }));
  CHECK(error.code() == Errc::type_mismatch);
  CHECK(error.detail().find("(900, 1000)") != std::string::npos);
}

TEST_CASE("large read: an npy file reaches any address and stride, too") {
  const test::TempDir folder;
  ConvertOptions options;
  options.to = "npy";
  convert(open(write(folder, make_cells<float>())), {}, folder / "m.npy", options);
  const Matrix matrix = Matrix::open(folder / "m.npy");
  check_read(matrix, 0, kCols, 1);
  check_read(matrix, 3, kCols + 5, 1);
}
