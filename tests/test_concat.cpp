#include <doctest/doctest.h>

#include <bit>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// A matrix of small numbers, one in `every` cells filled, and its cells.
struct Sheet {
  std::vector<double> cells;
  std::uint64_t rows, cols;
};

Sheet make_sheet(const std::filesystem::path& path, std::uint64_t rows, std::uint64_t cols,
                 std::uint64_t every, KindChoice kind, ValueType type, TileShape tile) {
  Sheet part{std::vector<double>(rows * cols), rows, cols};
  for (std::uint64_t i = 0; i < part.cells.size(); ++i) {
    if ((i * 7 + rows) % every == 0) part.cells[i] = static_cast<double>(i % 100 + 1);
  }
  WriteOptions options;
  options.kind = kind;
  options.tile = tile;
  options.sync = false;
  auto writer = MatrixWriter::create(path, rows, cols, type, options);
  for (std::uint64_t r = 0; r < rows; r += tile.rows) {
    for (std::uint64_t c = 0; c < cols; c += tile.cols) {
      const auto height = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.rows, rows - r));
      const auto width = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.cols, cols - c));
      writer.put<double>({r, c}, DenseRef<double>{&part.cells[r * cols + c], height, width, cols});
    }
  }
  writer.finish();
  return part;
}

std::vector<double> all_cells(const Matrix& matrix) {
  return matrix.read<double>({{0, matrix.rows()}, {0, matrix.cols()}});
}

}  // namespace

TEST_CASE("concat: matrices of any kind, type and tiling are read as one, by rows and columns") {
  const TempDir folder;
  const Sheet a = make_sheet(folder / "a", 30, 12, 1, KindChoice::dense, ValueType::f32, {8, 5});
  const Sheet b = make_sheet(folder / "b", 17, 12, 5, KindChoice::csr, ValueType::u8, {17, 12});
  const Sheet c = make_sheet(folder / "c", 30, 9, 6, KindChoice::coo, ValueType::i16, {4, 4});
  const Sheet d = make_sheet(folder / "d", 1, 12, 3, KindChoice::automatic, ValueType::f64, {1, 3});
  const auto object = [&](const char* file) {
    return std::variant<Matrix, Frame>(Matrix::open(folder / file));
  };

  std::vector<double> expected = a.cells;
  expected.insert(expected.end(), b.cells.begin(), b.cells.end());
  expected.insert(expected.end(), d.cells.begin(), d.cells.end());
  const std::vector<std::variant<Matrix, Frame>> down = {object("a"), object("b"), object("d")};
  const Matrix rows = std::get<Matrix>(concat(down, Axis::rows));
  REQUIRE(rows.rows() == 48);
  CHECK(rows.value_type() == ValueType::f64);
  CHECK(all_cells(rows) == expected);
  CHECK(rows.read<double>({{25, 47}, {3, 8}}) == [&] {
    std::vector<double> part;
    for (std::uint64_t r = 25; r < 47; ++r) {
      for (std::uint64_t k = 3; k < 8; ++k) part.push_back(expected[r * 12 + k]);
    }
    return part;
  }());

  const std::vector<std::variant<Matrix, Frame>> side = {object("a"), object("c")};
  const Matrix cols = std::get<Matrix>(concat(side, Axis::columns));
  REQUIRE(cols.cols() == 21);
  CHECK(cols.value_type() == ValueType::f32);
  const auto cells = all_cells(cols);
  for (std::uint64_t r = 0; r < 30; ++r) {
    for (std::uint64_t k = 0; k < 21; ++k) {
      REQUIRE(cells[r * 21 + k] == (k < 12 ? a.cells[r * 12 + k] : c.cells[r * 9 + k - 12]));
    }
  }

  for (const Matrix* matrix : {&rows, &cols}) {
    const auto csr = matrix->read_csr<double>({{0, matrix->rows()}, {0, matrix->cols()}});
    std::vector<double> dense(matrix->rows() * matrix->cols());
    for (std::uint64_t r = 0; r < matrix->rows(); ++r) {
      for (std::uint64_t k = csr.row_ptr[r]; k < csr.row_ptr[r + 1]; ++k) {
        dense[r * matrix->cols() + csr.col_idx[k]] = csr.values[k];
      }
    }
    CHECK(dense == all_cells(*matrix));
    convert(*matrix, {}, folder / "whole.dbdf", [] {
      ConvertOptions options;
      options.write.overwrite = true;
      return options;
    }());
    CHECK(all_cells(Matrix::open(folder / "whole.dbdf")) == all_cells(*matrix));
    CHECK(verify(folder / "whole.dbdf", Level::payload).findings.empty());
  }
}

TEST_CASE("concat: frames by rows merge their dictionaries, by columns stand side by side") {
  const TempDir folder;
  write_text(folder / "a.csv", "city,n\nGraz,1\nLinz,2\nGraz,3\nGraz,4\n");
  write_text(folder / "b.csv", "city,n\nWien,5\nLinz,6\nNA,7\nWien,8.5\nLinz,1\n");
  const std::vector<std::variant<Matrix, Frame>> parts = {Frame::open(folder / "a.csv"),
                                                          Frame::open(folder / "b.csv")};
  const Frame frame = std::get<Frame>(concat(parts, Axis::rows));
  REQUIRE(frame.rows() == 9);
  const Column& city = frame.column_info(0);
  REQUIRE(city.meaning.words->size() == 3);
  CHECK((*city.meaning.words)[2] == "Wien");
  CHECK(city.meaning.missing == kMissingCode);
  CHECK(frame.column_info(1).value_type == ValueType::f64);
  CHECK(frame.read_column<std::uint8_t>(0, {0, 9}) ==
        std::vector<std::uint8_t>{1, 2, 1, 1, 3, 2, 0, 3, 2});
  CHECK(frame.read_column<double>(1, {2, 8}) == std::vector<double>{3, 4, 5, 6, 7, 8.5});
  convert(frame, {}, folder / "all.csv");
  CHECK(read_text(folder / "all.csv") ==
        "city,n\nGraz,1\nLinz,2\nGraz,3\nGraz,4\nWien,5\nLinz,6\n,7\nWien,8.5\nLinz,1\n");

  write_text(folder / "c.csv", "x\n1\n2\n3\n4\n");
  const std::vector<std::variant<Matrix, Frame>> side = {parts[0], Frame::open(folder / "c.csv")};
  const Frame wide = std::get<Frame>(concat(side, Axis::columns));
  CHECK(wide.label(2) == "x");
  CHECK(wide.read_column<double>(2, {0, 4}) == std::vector<double>{1, 2, 3, 4});
  CHECK(wide.read_column<double>(0, {1, 3}) == std::vector<double>{2, 1});
}

TEST_CASE("concat: a column in which every value is missing takes the type of the others") {
  const TempDir folder;
  write_text(folder / "a.csv", "who,when,ok,n\nNA,NA,NA,NA\n,,,\n");
  write_text(folder / "b.csv", "who,when,ok,n\nAnn,2024-01-01,true,5\nBob,2024-01-02,NA,6\n");
  convert(open(folder / "a.csv"), {}, folder / "a.dbdf");
  for (const char* empty : {"a.csv", "a.dbdf"}) {
    for (const bool first : {true, false}) {
      CAPTURE(empty);
      CAPTURE(first);
      const std::variant<Matrix, Frame> a = open(folder / empty), b = open(folder / "b.csv");
      const std::variant<Matrix, Frame> parts[] = {first ? a : b, first ? b : a};
      const auto whole = concat(parts, Axis::rows);
      const std::string none = ",,,\n,,,\n", some = "Ann,2024-01-01,true,5\nBob,2024-01-02,,6\n";
      CHECK(as_csv(whole) == "who,when,ok,n\n" + (first ? none + some : some + none));
      const Frame& frame = std::get<Frame>(whole);
      CHECK(frame.column_info(0).meaning.has_words());
      CHECK(frame.column_info(1).meaning.kind == MeaningKind::timestamp);
      CHECK(frame.column_info(2).meaning.kind == MeaningKind::boolean);
      CHECK(frame.read_column<std::int64_t>(1, {0, 4})[first ? 0 : 3] ==
            std::bit_cast<std::int64_t>(kMissingTick));
    }
  }
  append(folder / "a.dbdf", open(folder / "b.csv"), {});
  CHECK(as_csv(open(folder / "a.dbdf")) ==
        "who,when,ok,n\n,,,\n,,,\nAnn,2024-01-01,true,5\nBob,2024-01-02,,6\n");
}

TEST_CASE("concat: what does not fit together is refused, and says why") {
  const TempDir folder;
  write_text(folder / "a.csv", "x,y\n1,a\n2,a\n");
  write_text(folder / "b.csv", "x,z\n1,a\n2,a\n");
  write_text(folder / "c.csv", "x,y\n1,2\n2,3\n");
  write_text(folder / "m.csv", "1,2\n2,3\n");
  const auto refused = [&](std::vector<const char*> files, Axis axis) {
    std::vector<std::variant<Matrix, Frame>> parts;
    for (const char* file : files) parts.push_back(open(folder / file));
    try {
      concat(parts, axis);
    } catch (const Error& e) {
      return e.detail();
    }
    return std::string();
  };
  CHECK(refused({}, Axis::rows) == "there is nothing to put together");
  CHECK(refused({"a.csv", "b.csv"}, Axis::rows)
            .starts_with("column 'z' is in the place of column 'y'"));
  CHECK(refused({"a.csv", "c.csv"}, Axis::rows).starts_with("column 'y' is a number here and a"));
  CHECK(refused({"a.csv", "m.csv"}, Axis::rows).find("matrix") != std::string::npos);
  CHECK(refused({"a.csv", "b.csv"}, Axis::columns).empty());
}
