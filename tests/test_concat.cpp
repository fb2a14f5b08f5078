#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
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

TEST_CASE("concat: packed blocks are decoded by the file that has them") {
  const TempDir folder;
  const auto source =
      make_sheet(folder / "a", 90, 40, 5, KindChoice::csr, ValueType::f64, {30, 40});
  ConvertOptions options;
  options.write.pack = Packing::fast;
  options.write.sync = false;
  convert(open(folder / "a"), {}, folder / "b.dbdf", options);
  const std::vector<std::variant<Matrix, Frame>> parts(2, open(folder / "b.dbdf"));
  const Matrix whole = std::get<Matrix>(concat(parts, Axis::rows));
  std::vector<double> wanted = source.cells;
  wanted.insert(wanted.end(), source.cells.begin(), source.cells.end());
  CHECK(all_cells(whole) == wanted);
  convert(concat(parts, Axis::rows), {}, folder / "c.dbdf", options);
  CHECK(all_cells(Matrix::open(folder / "c.dbdf")) == wanted);
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
  std::vector<double> cells(6);  // columns of both, in any order
  std::vector<ColumnBuffer> buffers;
  for (const std::uint64_t col : {2, 0, 1}) {
    auto* const data = reinterpret_cast<std::byte*>(cells.data() + 2 * buffers.size());
    buffers.push_back({col, ValueType::f64, data, sizeof(double)});
  }
  wide.read_rows({2, 4}, buffers);
  CHECK(cells == std::vector<double>{3, 4, 1, 1, 3, 4});
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

namespace {

/// A frame of one column of integers, as the Python module stores `Int8` and its like.
template <class T>
std::variant<Matrix, Frame> marked(const std::filesystem::path& path, std::vector<T> cells,
                                   std::optional<T> missing) {
  Column column{"n", value_type_of<T>(), {}};
  if (missing) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &*missing, sizeof *missing);
    column.meaning.missing = bits;
  }
  auto writer = FrameWriter::create(path, cells.size(), {column});
  writer.template put<T>({0, 0}, {cells.data(), static_cast<std::uint32_t>(cells.size()), 1});
  writer.finish();
  return Frame::open(path);
}

}  // namespace

TEST_CASE("concat: a mark of missing cells is no value of another frame") {
  const TempDir dir;
  ConvertOptions again;
  again.write.overwrite = true;
  const auto told = [&](const std::variant<Matrix, Frame>& a,
                        const std::variant<Matrix, Frame>& b) {
    const std::variant<Matrix, Frame> parts[] = {a, b};
    const Frame whole = std::get<Frame>(concat(parts, Axis::rows));
    convert(whole, {}, dir / "out.csv", again);
    const std::string text = read_text(dir / "out.csv");
    convert(whole, {}, dir / "out.dbdf", again);
    convert(open(dir / "out.dbdf"), {}, dir / "again.csv", again);
    CHECK(read_text(dir / "again.csv") == text);
    CHECK(verify(dir / "out.dbdf", Level::payload).findings.empty());
    convert(a, {}, dir / "all.dbdf", again);
    append(dir / "all.dbdf", b);
    convert(open(dir / "all.dbdf"), {}, dir / "again.csv", again);
    CHECK(read_text(dir / "again.csv") == text);
    return std::string(name(whole.column_type(0))) + " " + text;
  };
  using I8 = std::int8_t;
  const auto low = marked<I8>(dir / "low", {1, -128}, I8{-128});
  const auto high = marked<I8>(dir / "high", {127, -128}, I8{127});
  const auto plain = marked<I8>(dir / "plain", {-128, 5}, {});
  const auto ends = marked<I8>(dir / "ends", {-128, 127}, {});
  CHECK(told(low, low) == "i8 n\n1\nNA\n1\nNA\n");
  CHECK(told(low, plain) == "i8 n\n1\nNA\n-128\n5\n");
  CHECK(told(plain, low) == "i8 n\n-128\n5\n1\nNA\n");
  CHECK(told(low, high) == "i8 n\n1\nNA\nNA\n-128\n");
  // The same bits are -128 and 128. Whole tiles stay as they are when rows are appended.
  again.write.tile = TileShape{2, 1};
  const auto over = marked<std::int16_t>(dir / "over", {128, 7}, std::int16_t{128});
  const auto under = marked<std::int16_t>(dir / "under", {-128, 7}, std::int16_t{-128});
  const auto tiles = marked<I8>(dir / "tiles", {1, -128, 2, -128}, I8{-128});
  CHECK(told(tiles, over) == "i16 n\n1\nNA\n2\nNA\nNA\n7\n");
  CHECK(told(tiles, under) == "i16 n\n1\nNA\n2\nNA\nNA\n7\n");
  CHECK(told(low, ends) == "i16 n\n1\nNA\n-128\n127\n");
  const auto wide = marked<std::int64_t>(dir / "wide", {128, -(std::int64_t{1} << 62)}, {});
  CHECK(told(low, wide) == "i64 n\n1\nNA\n128\n-4611686018427387904\n");
  CHECK(told(wide, high) == "i64 n\n128\n-4611686018427387904\nNA\n-128\n");
  const auto floats = marked<double>(dir / "floats", {-128, 0.5}, {});
  CHECK(told(low, floats) == "f64 n\n1\nNA\n-128\n0.5\n");
  CHECK(told(floats, low) == "f64 n\n-128\n0.5\n1\nNA\n");
  const auto single =
      marked<float>(dir / "single", {std::bit_cast<float>(std::uint32_t{0x7fc007a2}), 2},
                    std::bit_cast<float>(std::uint32_t{0x7fc007a2}));
  CHECK(told(single, floats) == "f64 n\nNA\n2\n-128\n0.5\n");
  CHECK(told(floats, single) == "f64 n\n-128\n0.5\nNA\n2\n");
  using I64 = std::int64_t;
  constexpr I64 kMin = std::numeric_limits<I64>::min(), kMax = std::numeric_limits<I64>::max();
  const auto full = marked<I64>(dir / "full", {kMin, kMax}, {});
  const auto seven = marked<I64>(dir / "seven", {7, 8}, I64{7});
  CHECK(told(seven, full) == "i64 n\nNA\n8\n-9223372036854775808\n9223372036854775807\n");
  const auto other = marked<I64>(dir / "other", {7, 9}, I64{9});
  const std::variant<Matrix, Frame> parts[] = {seven, other, full};
  convert(concat(parts, Axis::rows), {}, dir / "free.csv", again);
  CHECK(read_text(dir / "free.csv") ==
        "n\nNA\n8\n7\nNA\n-9223372036854775808\n9223372036854775807\n");
  // Where zero marks them, they are no stored cells of a sparse block, nor of an empty one.
  const auto zeros = marked<I64>(dir / "zeros", {0, 0, 0}, I64{0});
  REQUIRE(std::get<Frame>(zeros).blocks()[0].kind == BlockKind::empty);
  std::vector<I64> mostly(40);
  mostly[30] = 6;
  const auto sparse = marked<I64>(dir / "sparse", mostly, I64{0});
  REQUIRE(std::get<Frame>(sparse).blocks()[0].kind == BlockKind::coo);
  std::string nines;
  for (const I64 cell : mostly) nines += cell == 0 ? "NA\n" : "6\n";
  CHECK(told(other, zeros) == "i64 n\n7\nNA\nNA\nNA\nNA\n");
  CHECK(told(other, sparse) == "i64 n\n7\nNA\n" + nines);
  const auto tried =
      marked<I64>(dir / "tried",
                  {kMin, kMax, 0x243f6a8885a308d3, 0x2b7e151628aed2a6, 0x1e3779b97f4a7c15, 7}, {});
  const std::variant<Matrix, Frame> none[] = {seven, tried};
  CHECK_THROWS_AS(concat(none, Axis::rows), const Error&);
}

TEST_CASE("concat: times get the finest unit of the frames, and must fit it") {
  const TempDir dir;
  write_text(dir / "days.csv", "t,d\n2024-01-02,3 days\n,\n");
  write_text(dir / "ms.csv", "t,d\n2024-01-02T03:04:05.678,0:00:01.5\n1969-12-31T23:59:59,\n");
  write_text(dir / "ns.csv", "t,d\n2024-01-02T03:04:05.678901234,-0:00:00.000000001\n");
  write_text(dir / "late.csv", "t,d\n2024-01-01T00:00:00,0:00:01\n3000-01-01T00:00:00,0:00:01\n");
  const auto object = [&](const char* file) {
    OpenOptions options;
    options.format_options = {{"csv.type", "t=timestamp"}, {"csv.type", "d=duration"}};
    return open(dir / file, options);
  };
  ConvertOptions again;
  again.write.overwrite = true;
  const auto text = [&](const std::variant<Matrix, Frame>& frame) {
    convert(frame, {}, dir / "out.csv", again);
    return read_text(dir / "out.csv");
  };
  const std::string days = "2024-01-02T00:00:00.000,72:00:00.000\n,\n";
  const std::string ms = "2024-01-02T03:04:05.678,00:00:01.500\n1969-12-31T23:59:59.000,\n";
  const std::variant<Matrix, Frame> two[] = {object("days.csv"), object("ms.csv")};
  CHECK(text(concat(two, Axis::rows)) == "t,d\n" + days + ms);
  const std::variant<Matrix, Frame> turned[] = {object("ms.csv"), object("days.csv")};
  CHECK(text(concat(turned, Axis::rows)) == "t,d\n" + ms + days);

  convert(object("days.csv"), {}, dir / "all.dbdf");
  append(dir / "all.dbdf", object("ms.csv"));
  CHECK(text(open(dir / "all.dbdf")) == "t,d\n" + days + ms);
  append(dir / "all.dbdf", object("ns.csv"));
  CHECK(Frame::open(dir / "all.dbdf").column_info(0).meaning.unit == TimeUnit::nanosecond);
  append(dir / "all.dbdf", object("days.csv"));
  CHECK(Frame::open(dir / "all.dbdf").rows() == 7);
  CHECK(verify(dir / "all.dbdf", Level::payload).findings.empty());

  const std::variant<Matrix, Frame> late[] = {object("ns.csv"), object("late.csv")};
  const auto whole = concat(late, Axis::rows);
  const Error error = required_error(error_of([&] { convert(whole, {}, dir / "no.dbdf"); }));
  CHECK(error.code() == Errc::type_mismatch);
  CHECK(error.detail() ==
        "column 't', row 1: 3000-01-01T00:00:00 does not fit 64 bits in ns, the unit of the frames "
        "together");
  write_text(dir / "utc.csv", "t,d\n2024-01-02T03:04:05Z,0:00:01\n");
  const std::variant<Matrix, Frame> zones[] = {object("ms.csv"), object("utc.csv")};
  CHECK_THROWS_AS(concat(zones, Axis::rows), const Error&);
}

TEST_CASE("concat: categories stay ordered while all frames agree on the order") {
  const TempDir dir;
  const auto ordered = [&](const char* file, std::vector<std::string> words) {
    auto table = std::make_shared<detail::WordTable>();
    for (const std::string& word : words) table->add(word);
    Column column{"c", ValueType::u8, {.kind = MeaningKind::category, .ordered = true}};
    column.meaning.words = table;
    auto writer = FrameWriter::create(dir / file, 1, {column});
    const std::uint8_t code = 1;
    writer.put<std::uint8_t>({0, 0}, {&code, 1, 1});
    writer.finish();
    return std::variant<Matrix, Frame>(Frame::open(dir / file));
  };
  const auto a = ordered("a", {"low", "high"}), b = ordered("b", {"low", "high", "top"}),
             c = ordered("c", {"high", "low"}), d = ordered("d", {"low", "mid", "high"});
  const auto is_ordered = [](const auto& x, const auto& y) {
    const std::variant<Matrix, Frame> parts[] = {x, y};
    return std::get<Frame>(concat(parts, Axis::rows)).column_info(0).meaning.ordered;
  };
  CHECK(is_ordered(a, a));
  CHECK(is_ordered(a, b));
  CHECK_FALSE(is_ordered(a, c));
  CHECK(is_ordered(a, d));
}

TEST_CASE("concat: an entry that the type of all does not hold is named, with the way out") {
  const TempDir dir;
  const auto file = [&](const char* name, ValueType type, auto value) {
    auto writer = MatrixWriter::create(dir / name, 1, 20, type);
    std::vector<decltype(value)> cells(20);
    cells[7] = value;
    writer.put<decltype(value)>({0, 0}, {cells.data(), 1, 20});
    writer.finish();
    return std::variant<Matrix, Frame>(Matrix::open(dir / name));
  };
  const std::variant<Matrix, Frame> parts[] = {
      file("a.dbdf", ValueType::i64, (std::int64_t{1} << 53) + 1),
      file("b.dbdf", ValueType::f64, 0.5)};
  const Error error =
      required_error(error_of([&] { convert(concat(parts, Axis::rows), {}, dir / "c.btable"); }));
  CHECK(error.code() == Errc::type_mismatch);
  CHECK(error.detail() == "9007199254740993 in cell (0, 7) is not exact as f64");
  CHECK(error.option() == "allow_loss");
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
