// Reading files of the DAPHNE runtime: real ones, and cells and labels of built ones.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/cells_text.h"
#include "tests/foreign/daphne_image.h"
#include "tests/foreign/daphne_objects.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

std::string hex(const std::string& text) {
  std::string digits;
  for (const char c : text) digits += hex_digits(static_cast<unsigned char>(c), 2);
  return digits;
}

std::string canonical(const Object& object, bool scalar) {
  const BlockedObject& o = base(object);
  const std::string shape =
      " rows " + std::to_string(o.rows()) + " cols " + std::to_string(o.cols());
  std::string text = "dbdf-runtime v1 ";
  if (const Frame* frame = std::get_if<Frame>(&object)) {
    text += "Frame" + shape + "\n";
    for (std::uint64_t col = 0; col < o.cols(); ++col) {
      text += "col " + std::to_string(col) + " vt " + std::string(name(o.column_type(col))) +
              " label " + hex(frame->label(col)) + "\n";
    }
  } else {
    const Matrix& matrix = std::get<Matrix>(object);
    text += scalar ? "scalar" : matrix.storage() == Storage::csr ? "CSRMatrix" : "DenseMatrix";
    text += shape + " vt " + std::string(name(matrix.value_type())) + "\n";
  }
  return text + "uncovered 0\n" + cell_lines(object);
}

}  // namespace

TEST_CASE("daphne: real files of the runtime are recognised and give their cells") {
  for (const auto& path : golden_files("daphne", ".dbdf")) {
    CAPTURE(path);
    const std::string name = path.filename().string();
    const bool no_cells = name == "dense_f32_0x5.dbdf";
    const Object object = open_as(path, no_cells ? "daphne" : "");
    CHECK(base(object).format() == "daphne");
    CHECK(canonical(object, name.starts_with("scalar")) == read_text(path.string() + ".cells.txt"));
    if (no_cells) CHECK(error_of([&] { open(path); })->detail() == kEither);
  }
}

TEST_CASE("daphne: columns of a frame are blocks in place, neighbours of one type together") {
  const TempDir dir;
  const std::vector<ValueType> types = {ValueType::i8, ValueType::f64, ValueType::f64,
                                        ValueType::u32};
  Image image = runtime_frame(3, types, 7);
  for (int r = 0; r < 3; ++r) {
    image.number(static_cast<std::int8_t>(-r)).number(r + 0.5).number(-r - 0.5);
    image.number(static_cast<std::uint32_t>(100 + r));
  }
  const Object object = open_runtime(dir, image.bytes());
  const Frame& frame = std::get<Frame>(object);
  CHECK(frame.counts().dense == 3);
  CHECK(frame.label(0) == "col_0");
  CHECK(frame.label(3) == "col_3");
  const DenseView<double> doubles = frame.block({0, 1}).dense_view<double>();
  CHECK(doubles.rows() == 3);
  CHECK(doubles.cols() == 2);
  CHECK(doubles(2, 0) == 2.5);
  CHECK(doubles(2, 1) == -2.5);
  CHECK(doubles.row_stride() == 21);
  CHECK(frame.read_column<std::int64_t>(3, {1, 3}) == std::vector<std::int64_t>{101, 102});
  std::vector<double> cells(6);
  frame.read<double>({{1, 3}, {0, 3}}, std::span(cells));
  CHECK(cells == std::vector{-1.0, 1.5, -1.5, -2.0, 2.5, -2.5});
}

TEST_CASE("daphne: labels come from the .meta file, which must be of the same frame") {
  const TempDir dir;
  Image image = runtime_frame(1, {ValueType::i64, ValueType::f32});
  image.number(std::int64_t{7}).number(1.5F);
  const auto labels_with = [&](const std::string& meta) {
    write_text(dir / "t.dbdf.meta", meta);
    const Object object = open_runtime(dir, image.bytes());
    return std::get<Frame>(object).label(0) + "," + std::get<Frame>(object).label(1);
  };
  const std::string columns =
      R"([{"label":"x \u00e9","valueType":"si64"},{"label":"y","valueType":"f32"}])";
  CHECK(labels_with(R"({"numCols":2,"numRows":1,"schema":)" + columns + "}") == "x \xC3\xA9,y");
  CHECK(labels_with(R"({"numCols":2,"numRows":1,"valueType":"si64"})") == "col_0,col_1");
  const auto message = [&](const std::string& meta) {
    const auto error = error_of([&] { labels_with(meta); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    CHECK(error->file() == (dir / "t.dbdf.meta").string());
    return error->detail();
  };
  CHECK(message(R"({"numCols":2,"numRows":2,"schema":)" + columns + "}") ==
        "says the shape is 2 x 2, but the frame has 1 x 2");
  CHECK(message(R"({"numCols":2,"numRows":1,"schema":[{"label":"a","valueType":"si64"},)"
                R"({"label":"b","valueType":"f64"}]})") ==
        "says column 1 is f64, but the frame has f32");
  CHECK_FALSE(message("{\"numRows\"").empty());
  CHECK(labels_with("guid: 0123") == "col_0,col_1");  // of another program
}

TEST_CASE("daphne: columns of a CSR row may come in any order") {
  const TempDir dir;
  const Object object =
      open_runtime(dir, runtime_csr<std::int64_t>(4, {{{3, 1}, {0, 2}, {2, 3}}, {}}).bytes());
  CHECK(cell_lines(object) == "c 0 0 2\nc 0 2 3\nc 0 3 1\n");
  to_runtime(object, dir / "sorted.dbdf");
  CHECK(read_bytes(dir / "sorted.dbdf") ==
        runtime_csr<std::int64_t>(4, {{{0, 2}, {2, 3}, {3, 1}}, {}}).bytes());
}

TEST_CASE("daphne: more than 2^32 rows take several blocks, and the header's low halves") {
  const TempDir dir;
  const std::uint64_t rows = (std::uint64_t{1} << 32) + 5;
  Image image = runtime_matrix(1, rows, 1, ValueType::u8);
  const auto path = dir.write("t.dbdf", image.bytes());
  std::filesystem::resize_file(path, 45 + rows);  // a hole: takes no room
  const Object object = open(path);
  const Matrix& matrix = std::get<Matrix>(object);
  CHECK(matrix.format() == "daphne");
  CHECK(matrix.rows() == rows);
  CHECK(matrix.counts().total == 2);
  CHECK(matrix.find_cover(rows - 1, 0)->info().pos == BlockPos{0xFFFF'FFFF, 0});
  CHECK(matrix.read<std::uint8_t>({{rows - 1, rows}, {0, 1}}) == std::vector<std::uint8_t>{0});

  auto writer = MatrixWriter::create(dir / "no_cells.dbdf", rows, 0, ValueType::f64);
  writer.finish();
  to_runtime(open(dir / "no_cells.dbdf"), dir / "out.dbdf");
  CHECK(read_bytes(dir / "out.dbdf") == runtime_matrix(1, rows, 0, ValueType::f64).bytes());

  const Image wide = runtime_csr<std::uint8_t>(std::uint64_t{1} << 33, {{{7, 1}}});
  CHECK(refusal(dir, wide.bytes()).code() == Errc::unsupported);
  CHECK(refusal(dir, wide.bytes()).detail() ==
        "8589934592 columns are more than the 4294967295 of a block");
}
