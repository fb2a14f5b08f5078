// Matrix Market files of every kind against a naive reader of the same text.

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// Rows x cols cells that a plain reading of the text gives: one token after the other, every
/// entry put where it belongs, and mirrored.
struct Plain {
  std::uint64_t rows = 0, cols = 0;
  std::vector<double> cells;

  explicit Plain(const std::string& text) {
    std::istringstream in(text);
    std::string banner, object, format, field, symmetry, line;
    in >> banner >> object >> format >> field >> symmetry;
    std::getline(in, line);
    std::string numbers;  // everything that is no comment
    while (std::getline(in, line)) {
      if (line.find('%') == std::string::npos) numbers += line + '\n';
    }
    std::istringstream data(numbers);
    data >> rows >> cols;
    cells.assign(rows * cols, 0.0);
    const bool skew = symmetry == "skew-symmetric";
    const auto put = [&](std::uint64_t r, std::uint64_t c, double value) {
      cells[r * cols + c] = value;
      if (symmetry != "general" && r != c) {
        cells[c * cols + r] = skew && value != 0 ? -value : value;
      }
    };
    const auto number = [&] {
      std::string token;
      data >> token;
      return std::strtod(token.c_str(), nullptr);
    };
    if (format == "coordinate") {
      std::uint64_t entries = 0, r = 0, c = 0;
      data >> entries;
      for (; entries > 0; --entries) {
        data >> r >> c;
        put(r - 1, c - 1, field == "pattern" ? 1.0 : number());
      }
      return;
    }
    for (std::uint64_t c = 0; c < cols; ++c) {
      const std::uint64_t first = symmetry == "general" ? 0 : skew ? c + 1 : c;
      for (std::uint64_t r = first; r < rows; ++r) put(r, c, number());
    }
  }
};

/// All cells, read by rows, by columns, in one piece and in random rectangles.
void check_equal(const Matrix& m, const Plain& plain, test::Rng& rng) {
  REQUIRE(m.rows() == plain.rows);
  REQUIRE(m.cols() == plain.cols);
  const auto expect = [&](const Region& region) {
    const std::vector<double> got = m.read<double>(region);
    std::size_t i = 0, wrong = 0;
    for (std::uint64_t r = region.rows.begin; r < region.rows.end; ++r) {
      for (std::uint64_t c = region.cols.begin; c < region.cols.end; ++c, ++i) {
        wrong += std::memcmp(&got[i], &plain.cells[r * plain.cols + c], sizeof(double)) != 0;
      }
    }
    CHECK(wrong == 0);
  };
  const Range rows{0, m.rows()}, cols{0, m.cols()};
  expect({rows, cols});
  if (plain.cells.empty()) return;
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t r = rng.below(m.rows()), c = rng.below(m.cols());
    expect({{r, r + 1}, cols});
    expect({rows, {c, c + 1}});
    expect({{r, rng.between(r, m.rows())}, {c, rng.between(c, m.cols())}});
  }
  // The entries are the cells that are not positive zero.
  const Csr<double> csr = m.read_csr<double>({rows, cols});
  std::vector<double> cells(plain.cells.size());
  for (std::uint64_t r = 0; r < m.rows(); ++r) {
    for (std::uint64_t k = csr.row_ptr[r]; k < csr.row_ptr[r + 1]; ++k) {
      cells[r * m.cols() + csr.col_idx[k]] = csr.values[k];
    }
  }
  CHECK(std::memcmp(cells.data(), plain.cells.data(), cells.size() * sizeof(double)) == 0);
}

class Mtx {
 public:
  Matrix open(const std::string& text) {
    test::write_text(dir_ / "m.mtx", text);
    return Matrix::open(dir_ / "m.mtx");
  }
  Matrix check(const std::string& text) {
    CAPTURE(text.substr(0, 300));
    const Matrix matrix = open(text);
    check_equal(matrix, Plain(text), rng_);
    return matrix;
  }
  test::Rng& rng() { return rng_; }

 private:
  test::TempDir dir_;
  test::Rng rng_{21};
};

/// A random number as text.
std::string random_number(bool real, test::Rng& rng) {
  std::string text = std::to_string(static_cast<std::int64_t>(rng.below(2001)) - 1000);
  if (real && rng.chance(60)) text.append(".").append(std::to_string(rng.below(10'000)));
  if (real && rng.chance(20)) text.append("e-").append(std::to_string(rng.below(30)));
  return text;
}

std::string random_coordinate(const std::string& field, const std::string& symmetry,
                              std::uint64_t rows, std::uint64_t cols, unsigned percent,
                              test::Rng& rng) {
  std::vector<std::string> lines;
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t end = symmetry == "general" ? cols : symmetry == "symmetric" ? r + 1 : r;
    for (std::uint64_t c = 0; c < end; ++c) {
      if (!rng.chance(percent)) continue;
      std::string line = std::to_string(r + 1);
      line.append(rng.chance(90) ? " " : "\t  ").append(std::to_string(c + 1));
      if (field != "pattern") line.append(" ").append(random_number(field == "real", rng));
      if (rng.chance(5)) line += " \r";
      lines.push_back(line + '\n');
    }
  }
  for (std::size_t i = lines.size(); i > 1; --i) std::swap(lines[i - 1], lines[rng.below(i)]);
  std::string text = "%%MatrixMarket matrix coordinate " + field + " " + symmetry + "\n% x\n\n";
  text += std::to_string(rows) + " " + std::to_string(cols) + " " + std::to_string(lines.size());
  text += '\n';
  for (const std::string& line : lines) {
    text += line;
    if (rng.chance(2)) text += rng.chance(50) ? "\n" : "% between entries\n";
  }
  return text;
}

std::string random_array(const std::string& field, const std::string& symmetry, std::uint64_t rows,
                         std::uint64_t cols, unsigned comments, test::Rng& rng) {
  std::string text = "%%MatrixMarket matrix array " + field + " " + symmetry + "\n";
  text += std::to_string(rows) + " " + std::to_string(cols) + "\n";
  for (std::uint64_t c = 0; c < cols; ++c) {
    const std::uint64_t first = symmetry == "general" ? 0 : symmetry == "symmetric" ? c : c + 1;
    for (std::uint64_t r = first; r < rows; ++r) {
      text += random_number(field == "real", rng) + (rng.chance(5)   ? "\r\n"
                                                     : rng.chance(5) ? " \n\n"
                                                                     : "\n");
      if (rng.chance(comments)) text += "% 7 8 9\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("mtx: the value types are those of the banner") {
  Mtx mtx;
  const Matrix real = mtx.check("%%MatrixMarket matrix coordinate real general\n2 3 1\n2 3 1.5\n");
  CHECK(real.value_type() == ValueType::f64);
  CHECK(real.storage() == Storage::csr);
  CHECK(real.format() == "mtx");
  const Matrix doubles = mtx.check("%%MatrixMarket matrix array double general\n1 2\n0.1\n-8\n");
  CHECK(doubles.value_type() == ValueType::f64);
  const Matrix integer = mtx.check("%%MatrixMarket matrix array integer general\n1 2\n7\n-8\n");
  CHECK(integer.value_type() == ValueType::i64);
  CHECK(integer.storage() == Storage::dense);
  const Matrix pattern =
      mtx.check("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  CHECK(pattern.value_type() == ValueType::u8);
  const Matrix large =
      mtx.open("%%MatrixMarket matrix array unsigned-integer general\n1 1\n18446744073709551615\n");
  CHECK(large.value_type() == ValueType::u64);
  CHECK(large.read<std::uint64_t>({{0, 1}, {0, 1}})[0] == ~std::uint64_t{0});
}

TEST_CASE("mtx: the banner's words may be capitals, lines may end in CR LF or not at all") {
  Mtx mtx;
  mtx.check("%%matrixmarket MATRIX Array Real General\r\n%\r\n\r\n 2  1 \r\n1.5\r\n2.5");
  mtx.check("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5");
  mtx.check("%%MatrixMarket matrix coordinate real general\n1 1 0");
  mtx.check("%%MatrixMarket matrix array real general\n2 2\n1 2 3\t4\n");
}

TEST_CASE("mtx: objects without rows, columns or entries") {
  Mtx mtx;
  for (const char* sizes : {"0 0", "0 5", "5 0"}) {
    mtx.check(std::string("%%MatrixMarket matrix array real general\n") + sizes + "\n");
    mtx.check(std::string("%%MatrixMarket matrix coordinate real general\n") + sizes + " 0\n");
  }
  for (const char* sizes : {"0 1000000000000000000", "1000000000000000000 0"}) {
    CHECK(mtx.open(std::string("%%MatrixMarket matrix array real general\n") + sizes + "\n")
              .counts()
              .stored == 0);
  }
  mtx.check("%%MatrixMarket matrix array integer skew-symmetric\n1 1\n");
  const Matrix none = mtx.check("%%MatrixMarket matrix coordinate real symmetric\n3 3 0\n\n");
  CHECK(none.counts().empty == 1);
  const Matrix vast = mtx.open(
      "%%MatrixMarket matrix coordinate real general\n4294967295 4294967295 1\n"
      "4294967295 4294967295 3\n");
  CHECK(vast.read<double>({{4294967294, 4294967295}, {4294967293, 4294967295}}) ==
        std::vector<double>{0, 3});
}

TEST_CASE("mtx: coordinate files in any order, of any field and symmetry") {
  Mtx mtx;
  for (const std::string field : {"real", "integer", "pattern"}) {
    for (const std::string symmetry : {"general", "symmetric", "skew-symmetric"}) {
      if (field == "pattern" && symmetry == "skew-symmetric") continue;
      for (int i = 0; i < 6; ++i) {
        const std::uint64_t rows = mtx.rng().between(1, 40);
        const std::uint64_t cols = symmetry == "general" ? mtx.rng().between(1, 40) : rows;
        mtx.check(random_coordinate(field, symmetry, rows, cols, 30, mtx.rng()));
      }
    }
  }
}

TEST_CASE("mtx: array files of any field and symmetry") {
  Mtx mtx;
  for (const std::string field : {"real", "integer"}) {
    for (const std::string symmetry : {"general", "symmetric", "skew-symmetric"}) {
      for (const unsigned comments : {0u, 10u}) {
        for (int i = 0; i < 4; ++i) {
          const std::uint64_t rows = mtx.rng().between(1, 60);
          const std::uint64_t cols = symmetry == "general" ? mtx.rng().between(1, 60) : rows;
          mtx.check(random_array(field, symmetry, rows, cols, comments, mtx.rng()));
        }
      }
    }
  }
}

TEST_CASE("mtx: arrays of several blocks") {
  Mtx mtx;
  const Matrix tall = mtx.check(random_array("real", "general", 70'000, 3, 0, mtx.rng()));
  CHECK(tall.grid()->tile == default_tile(70'000, 3));
  const Matrix wide = mtx.check(random_array("integer", "general", 300, 500, 0, mtx.rng()));
  CHECK(wide.grid()->tile == default_tile(300, 500));
  const Matrix square = mtx.check(random_array("real", "symmetric", 600, 600, 0, mtx.rng()));
  CHECK(square.grid()->tile == TileShape{256, 256});
  mtx.check(random_array("real", "skew-symmetric", 400, 400, 1, mtx.rng()));
}

TEST_CASE("mtx: thousands of entries of one strip, in no order") {
  Mtx mtx;
  const std::uint64_t rows = 300, cols = 70'000, entries = 5000;
  std::vector<double> expected(entries);
  std::string text = "%%MatrixMarket matrix coordinate real general\n300 70000 5000\n";
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t k = i * 3001 % entries;  // by row, and by column in a row
    expected[k] = static_cast<double>(k + 1) / 8;
    text += std::to_string(k * rows / entries + 1) + " " + std::to_string(k * cols / entries + 1) +
            " " + std::to_string(expected[k]) + "\n";
  }
  const Csr<double> read = mtx.open(text).read_csr<double>({{0, rows}, {0, cols}});
  CHECK(read.values == expected);
  CHECK(std::is_sorted(read.col_idx.begin(), read.col_idx.end()));
  CHECK(read.row_ptr[1] == 17);
}

TEST_CASE("mtx: coordinates of several strips, and two threads that read them first") {
  Mtx mtx;
  const std::uint64_t n = 1'500'000, entries = 2'200'000;
  std::string text = "%%MatrixMarket matrix coordinate integer symmetric\n";
  text += std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(entries) + "\n";
  // Band by band, so that each strip gets entries from all over the text.
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t row = i < n ? i : i - n + 700'000, col = i < n ? i : row - 12'345;
    text.append(std::to_string(row + 1)).append(" ").append(std::to_string(col + 1));
    text.append(" ").append(std::to_string(i)).append("\n");
  }
  const Matrix matrix = mtx.open(text);
  CHECK(matrix.counts().stored == n + 2 * (entries - n) - 1);  // the first is a zero
  CHECK(matrix.counts().total > 10);
  const auto cell = [&](std::uint64_t r, std::uint64_t c) {
    return matrix.read<std::int64_t>({{r, r + 1}, {c, c + 1}})[0];
  };
  // Two threads at once make the working space only once.
  std::int64_t other = 0;
  std::thread reader([&] { other = cell(1'000'000, 1'000'000); });
  CHECK(cell(n - 1, n - 1) == std::int64_t(n) - 1);
  reader.join();
  CHECK(other == 1'000'000);
  CHECK(cell(700'000, 700'000 - 12'345) == std::int64_t(n));
  CHECK(cell(700'000 - 12'345, 700'000) == std::int64_t(n));
  CHECK(cell(5, 6) == 0);
  const Csr<std::int64_t> rows = matrix.read_csr<std::int64_t>({{699'999, 700'002}, {0, n}});
  CHECK(rows.row_ptr == std::vector<std::uint64_t>{0, 2, 5, 8});
  CHECK(rows.col_idx == std::vector<std::uint64_t>{699'999, 712'344, 687'655, 700'000, 712'345,
                                                   687'656, 700'001, 712'346});
}

TEST_CASE("mtx: minus zero, nan and inf are values of a real matrix") {
  Mtx mtx;
  const Matrix m = mtx.open(
      "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 -0\n1 2 nan\n2 1 -inf\n2 2 0\n");
  const std::vector<double> cells = m.read<double>({{0, 2}, {0, 2}});
  CHECK(std::signbit(cells[0]));
  CHECK(std::isnan(cells[1]));
  CHECK(cells[2] == -std::numeric_limits<double>::infinity());
  CHECK(m.counts().stored == 4);  // the zero is stored, too
  CHECK(m.read_csr<double>({{0, 2}, {0, 2}}).values.size() == 3);
}

TEST_CASE("mtx: exponents as Fortran writes them, a byte order mark, real Hermitian matrices") {
  Mtx mtx;
  const auto cells = [&](const std::string& text) {
    const Matrix m = mtx.open(text);
    return m.read<double>({{0, 2}, {0, 2}});
  };
  const std::string real = "matrix coordinate real ", banner = "%%MatrixMarket ";
  const std::string entries = "2 2 3\n1 1 1.5D+01\n2 2 -25d-1\n2 1 0.1D+03\n";
  CHECK(cells(banner + real + "general\n" + entries) == std::vector{15.0, 0.0, 100.0, -2.5});
  CHECK(cells("\xef\xbb\xbf" + banner + real + "hermitian\n" + entries) ==
        std::vector{15.0, 100.0, 100.0, -2.5});
  CHECK(cells(banner + "matrix array real general\n2 2\n1D0\n.5D1 2.D-2\n-3D+00\n") ==
        std::vector{1.0, 0.02, 5.0, -3.0});
  CHECK(cells(banner + "matrix coordinate pattern hermitian\n2 2 1\n2 1\n") ==
        std::vector{0.0, 1.0, 1.0, 0.0});
  for (const char* value : {"1D", "1D+", "1DD1", "1D1x", "1D1D1", "D1", "1D999"}) {
    CAPTURE(value);
    CHECK_THROWS_AS(cells(banner + real + "general\n2 2 1\n1 1 " + value + "\n"), Error);
    CHECK_THROWS_AS(cells(banner + "matrix array real general\n2 2\n1 2 3 " + value + "\n"), Error);
  }
  CHECK_THROWS_AS(cells(banner + "matrix coordinate integer general\n2 2 1\n1 1 1D1\n"), Error);
}

TEST_CASE("mtx: the files of other programs") {
  const auto files = test::golden_files("mtx", ".mtx");
  CHECK(files.size() == 5);
  test::Rng rng(22);
  for (const auto& file : files) {
    CAPTURE(file);
    check_equal(Matrix::open(file), Plain(test::read_text(file)), rng);
  }
}
