#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/foreign/cells_text.h"
#include "tests/foreign/daphne_image.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

using Bytes = std::vector<std::byte>;
using Object = std::variant<Matrix, Frame>;

const std::vector<ValueType> kRuntimeTypes = {ValueType::i8,  ValueType::i32, ValueType::i64,
                                              ValueType::u8,  ValueType::u32, ValueType::u64,
                                              ValueType::f32, ValueType::f64};

Object open_as(const std::filesystem::path& path, const std::string& format) {
  OpenOptions options;
  options.format = format;
  return open(path, options);
}

Object open_runtime(const TempDir& dir, const Bytes& bytes) {
  return open_as(dir.write("t.dbdf", bytes), "daphne");
}

/// The format that a file of these bytes is taken for, or the error's message.
std::string taken_for(const TempDir& dir, const Bytes& bytes) {
  try {
    return std::string(base(open(dir.write("t.dbdf", bytes))).format());
  } catch (const Error& error) {
    return error.detail();
  }
}

const std::string kEither =
    "could be either the published DAPHNE format or the DAPHNE runtime's; name one with "
    "--from dbdf or --from daphne";

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

void to_runtime(const Object& object, const std::filesystem::path& out,
                KindChoice kind = KindChoice::automatic) {
  ConvertOptions options;
  options.to = "daphne";
  options.write.overwrite = true;
  options.write.sync = false;
  options.write.kind = kind;
  convert(object, {}, out, options);
}

Error refusal(const TempDir& dir, const Bytes& bytes) {
  const auto error = error_of([&] { cell_lines(open_runtime(dir, bytes)); });
  REQUIRE(error);
  return *error;
}

template <Value T>
std::vector<T> some_values(Rng& rng, std::size_t n) {
  std::vector<T> values(n);
  for (T& value : values) {
    const std::uint64_t bits = rng.chance(30) ? 0 : rng.bits();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

}  // namespace

TEST_CASE("daphne: real files of the runtime are recognised and give their cells") {
  const auto folder = fixtures_or_skip("daphne");
  if (!folder) return;
  for (const auto& path : files_in(*folder, ".dbdf")) {
    CAPTURE(path);
    const std::string name = path.filename().string();
    const bool no_cells = name == "dense_f32_0x5.dbdf";
    const Object object = open_as(path, no_cells ? "daphne" : "");
    CHECK(base(object).format() == "daphne");
    CHECK(canonical(object, name.starts_with("scalar")) == read_text(path.string() + ".cells.txt"));
    if (no_cells) CHECK(error_of([&] { open(path); })->detail() == kEither);
  }
}

TEST_CASE("daphne: matrices are written as the runtime wrote them, byte for byte") {
  const auto folder = fixtures_or_skip("daphne");
  if (!folder) return;
  const TempDir dir;
  for (const auto& path : files_in(*folder, ".dbdf")) {
    const std::string name = path.filename().string();
    if (name.starts_with("frame") || name.starts_with("scalar")) continue;
    CAPTURE(path);
    to_runtime(open_as(path, "daphne"), dir / name);
    CHECK(read_bytes(dir / name) == read_bytes(path));
  }
}

TEST_CASE("daphne: no sound file of the published format is taken for one of the runtime") {
  const auto folder = fixtures_or_skip("dbdf");
  if (!folder) return;
  for (const auto& path : files_in(*folder / "valid", ".dbdf")) {
    CAPTURE(path);
    CHECK(base(open(path)).format() == "dbdf");
  }
  const TempDir dir;
  for (const auto& path : files_in(*folder / "damaged", ".dbdf")) {
    CAPTURE(path);
    const std::string found = taken_for(dir, read_bytes(path));
    CHECK(found != "daphne");
    CHECK(found != kEither);
  }
}

TEST_CASE("daphne: published files of one block are told by their length, whatever their cells") {
  const TempDir dir;
  Rng rng(1);
  for (const ValueType type : kValueTypes) {
    visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      for (int i = 0; i < 60; ++i) {
        CAPTURE(name(type));
        const auto rows = static_cast<std::uint32_t>(rng.between(1, 30));
        const auto cols = static_cast<std::uint32_t>(rng.between(1, 12));
        std::vector<T> values =
            rng.chance(30) ? std::vector<T>(rows * cols) : some_values<T>(rng, rows * cols);
        Image dense = Image::matrix(rows, cols, type);
        dense.dense<T>({0, 0}, rows, cols, values);
        CHECK(taken_for(dir, dense.bytes()) == "dbdf");

        std::vector<std::vector<std::pair<std::uint32_t, T>>> entries(rows);
        for (std::uint32_t r = 0; r < rows; ++r) {
          for (std::uint32_t c = 0; c < cols && i % 4 != 0; ++c) {
            if (rng.chance(20)) entries[r].push_back({c, values[r * cols + c]});
          }
        }
        Image csr = Image::matrix(rows, cols, type, 2);
        csr.csr<T>({0, 0}, cols, entries);
        CHECK(taken_for(dir, csr.bytes()) == "dbdf");

        Image frame = Image::frame(rows, std::vector<std::pair<std::string, ValueType>>(
                                             cols, {std::string(i % 5, 'x'), type}));
        frame.dense<T>({0, 0}, rows, cols, values);
        CHECK(taken_for(dir, frame.bytes()) == "dbdf");
      }
    });
  }
}

TEST_CASE("daphne: files that dapple wrote are its own, whatever their length") {
  const TempDir dir;
  // The index behind the only block makes a published u8 file as long as one of i32.
  for (std::uint32_t cells = 1; cells < 120; ++cells) {
    const std::size_t extra = 3 * std::size_t{cells};
    constexpr std::size_t auxiliary_header = 26;
    if (extra <= auxiliary_header) continue;
    Image image = Image::matrix(cells, 1, ValueType::u8);
    image.dense<std::uint8_t>({0, 0}, cells, 1, std::vector<std::uint8_t>(cells, 9));
    image.auxiliary(Bytes(extra - auxiliary_header));
    REQUIRE(image.size() == 45 + 4 * std::size_t{cells});
    CHECK(taken_for(dir, image.bytes()) == "dbdf");
  }
  // The same with CSR, where it looks like capacity behind the last value.
  Image image = Image::matrix(2, 3, ValueType::u64, 2);
  image.csr<std::uint64_t>({0, 0}, 3, {{}, {}});
  image.auxiliary(Bytes(2 * 12 + 24 + 53 - image.size() - 26));
  CHECK(taken_for(dir, image.bytes()) == "dbdf");
}

TEST_CASE("daphne: runtime files of every type are recognised, whatever their cells") {
  const TempDir dir;
  Rng rng(2);
  for (const ValueType type : kRuntimeTypes) {
    visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      for (int i = 0; i < 40; ++i) {
        CAPTURE(name(type));
        const std::uint64_t rows = rng.between(1, 30), cols = rng.between(1, 12);
        const std::vector<T> values =
            rng.chance(30) ? std::vector<T>(rows * cols) : some_values<T>(rng, rows * cols);
        const Bytes dense = runtime_dense<T>(rows, cols, values).bytes();
        CHECK(taken_for(dir, dense) == "daphne");
        CHECK(std::get<Matrix>(open(dir / "t.dbdf")).value_type() == type);

        std::vector<std::vector<std::pair<std::uint64_t, T>>> entries(rows);
        for (std::uint64_t r = 0; r < rows; ++r) {
          for (std::uint64_t c = 0; c < cols && i % 4 != 0; ++c) {
            if (rng.chance(20)) entries[r].push_back({c, values[r * cols + c]});
          }
        }
        CHECK(taken_for(dir, runtime_csr<T>(cols, entries).bytes()) == "daphne");

        Image frame = runtime_frame(rows, std::vector<ValueType>(cols, type),
                                    static_cast<std::uint16_t>(i % 3));
        for (const T value : values) frame.number(value);
        CHECK(taken_for(dir, frame.bytes()) == "daphne");
      }
    });
  }
}

TEST_CASE("daphne: a matrix without cells could be either, and is refused until named") {
  const TempDir dir;
  const Bytes bytes = runtime_dense<float>(0, 5, {}).bytes();
  const auto path = dir.write("t.dbdf", bytes);
  const auto error = error_of([&] { open(path); });
  REQUIRE(error);
  CHECK(error->code() == Errc::not_recognised);
  CHECK(error->detail() == kEither);
  CHECK(std::get<Matrix>(open_as(path, "daphne")).value_type() == ValueType::f32);
  CHECK(std::get<Matrix>(open_as(path, "dbdf")).value_type() == ValueType::i16);
  // Codes that only one of the two has.
  CHECK(taken_for(dir, runtime_dense<std::int8_t>(0, 5, {}).bytes()) == "daphne");
  CHECK(
      taken_for(dir, Image::matrix(0, 5, ValueType::f64).dense<double>({0, 0}, 0, 5, {}).bytes()) ==
      "dbdf");
}

TEST_CASE("daphne: zeros that would pass for blocks without cells are values") {
  const TempDir dir;
  // 25 zero bytes are an empty block of no cells at (0, 0).
  CHECK(taken_for(dir, runtime_dense<std::int32_t>(5, 5, std::vector<std::int32_t>(25)).bytes()) ==
        "daphne");
  CHECK(taken_for(dir, runtime_csr<std::uint8_t>(
                           2, std::vector<std::vector<std::pair<std::uint64_t, std::uint8_t>>>(23))
                           .bytes()) == "daphne");
  Image frame = runtime_frame(1, {ValueType::u8, ValueType::i64});
  CHECK(taken_for(dir, frame.zeros(9).bytes()) == "daphne");
}

TEST_CASE("daphne: a frame whose rows read as blocks with cells is a published one") {
  const TempDir dir;
  // Behind the position: 1 x 1, dense, u8, one value; or a row of u32 u32 u8 u8 u8.
  Image image = Image::frame(1, {{"", ValueType::u32}, {"", ValueType::u32}});
  image.dense<std::uint8_t>({0, 0}, 1, 2, {4, 5});
  CHECK(taken_for(dir, image.bytes()) == "dbdf");
  const Bytes bytes =
      Image::frame(
          1,
          {{"", ValueType::u64}, {"", ValueType::u64}, {"", ValueType::u32}, {"", ValueType::u8}})
          .dense<std::uint8_t>({0, 0}, 1, 3, {4, 5, 6})
          .bytes();
  REQUIRE(bytes.size() == 18 + 4 + 8 + 16 + 4 + 4 + 1 + 4);  // the runtime's length, too
  CHECK(taken_for(dir, bytes) == "dbdf");
  CHECK(base(open_as(dir / "t.dbdf", "daphne")).format() == "daphne");
}

TEST_CASE("daphne: capacity behind the values of a CSR matrix is noted and ignored") {
  const TempDir dir;
  Image image = runtime_csr<float>(3, {{{1, 2.5F}}, {}, {{0, -1}, {2, 4}}});
  image.zeros(5 * 12);
  CHECK(taken_for(dir, image.bytes()) == "daphne");
  const Object object = open(dir / "t.dbdf");
  CHECK(base(object).note() == "60 bytes of unused capacity follow the last value");
  CHECK(cell_lines(object) == "c 0 1 40200000\nc 2 0 bf800000\nc 2 2 40800000\n");
  // Without a value, the zeros behind could be blocks of the published format just as well.
  Image empty = runtime_csr<std::uint64_t>(
      2, std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>>(4));
  empty.zeros(80);
  for (std::size_t extra = 0; extra < 400; extra += 16) {
    Image longer = empty;
    const std::string found = taken_for(dir, longer.zeros(extra).bytes());
    const bool published = (80 + 40 + extra - 16) % 25 == 0;
    CHECK(found == (published ? kEither : "daphne"));
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
  const DenseView<double> doubles = frame.block({0, 1}).dense<double>();
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
        "expected the shape 1 x 2 of the frame it belongs to, got 2 x 2");
  CHECK(message(R"({"numCols":2,"numRows":1,"schema":[{"label":"a","valueType":"si64"},)"
                R"({"label":"b","valueType":"f64"}]})") ==
        "expected the value type f32 for column 1 of the frame it belongs to, got f64");
  CHECK_FALSE(message("{").empty());
}

TEST_CASE("daphne: writing gives the file and its .meta, and both come back") {
  const TempDir dir;
  auto writer = FrameWriter::create(dir / "f.dbdf", 2,
                                    {{"a b", ValueType::u8}, {"\xC3\xA9", ValueType::f64}});
  const std::vector<std::uint8_t> bytes = {1, 255};
  const std::vector<double> doubles = {-0.0, 1e300};
  writer.put<std::uint8_t>({0, 0}, {bytes.data(), 2, 1, 0});
  writer.put<double>({0, 1}, {doubles.data(), 2, 1, 0});
  writer.finish();
  to_runtime(open(dir / "f.dbdf"), dir / "out.dbdf");
  Image wanted = runtime_frame(2, {ValueType::u8, ValueType::f64});
  wanted.number(bytes[0]).number(doubles[0]).number(bytes[1]).number(doubles[1]);
  CHECK(read_bytes(dir / "out.dbdf") == wanted.bytes());
  CHECK(read_text(dir / "out.dbdf.meta") ==
        "{\"numCols\":2,\"numRows\":2,\"schema\":[{\"label\":\"a b\",\"valueType\":\"ui8\"},"
        "{\"label\":\"\xC3\xA9\",\"valueType\":\"f64\"}]}");
  const Object back = open(dir / "out.dbdf");
  CHECK(base(back).format() == "daphne");
  CHECK(std::get<Frame>(back).label(1) == "\xC3\xA9");
  CHECK(cell_lines(back) == cell_lines(open(dir / "f.dbdf")));
}

TEST_CASE("daphne: every type goes out and back, dense and CSR") {
  const TempDir dir;
  Rng rng(3);
  for (const ValueType type : kRuntimeTypes) {
    visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      CAPTURE(name(type));
      constexpr std::uint32_t rows = 37, cols = 19;
      const std::vector<T> values = some_values<T>(rng, rows * cols);
      WriteOptions options;
      options.overwrite = true;
      options.tile = TileShape{10, 7};
      auto writer = MatrixWriter::create(dir / "m.dbdf", rows, cols, type, options);
      writer.put<T>({0, 0}, {values.data(), rows, cols, 0});
      writer.finish();
      const Object matrix = open(dir / "m.dbdf");
      to_runtime(matrix, dir / "dense.dbdf");
      CHECK(read_bytes(dir / "dense.dbdf") == runtime_dense<T>(rows, cols, values).bytes());
      to_runtime(matrix, dir / "csr.dbdf", KindChoice::csr);
      std::vector<std::vector<std::pair<std::uint64_t, T>>> entries(rows);
      for (std::uint32_t k = 0; k < rows * cols; ++k) {
        if (!cell_text(values[k]).empty()) entries[k / cols].push_back({k % cols, values[k]});
      }
      CHECK(read_bytes(dir / "csr.dbdf") == runtime_csr<T>(cols, entries).bytes());
      CHECK(cell_lines(open(dir / "csr.dbdf")) == cell_lines(matrix));
      std::size_t stored = 0;
      for (const auto& row : entries) stored += row.size();
      std::string meta = read_text(dir / "dense.dbdf.meta");
      meta.insert(meta.find("\"numRows\""), "\"numNonZeros\":" + std::to_string(stored) + ',');
      CHECK(read_text(dir / "csr.dbdf.meta") == meta);
      to_runtime(open(dir / "csr.dbdf"), dir / "again.dbdf");
      CHECK(read_bytes(dir / "again.dbdf") == read_bytes(dir / "csr.dbdf"));
    });
  }
}

TEST_CASE("daphne: what the runtime cannot hold is refused, and nothing is left behind") {
  const TempDir dir;
  const std::vector<std::uint16_t> values = {1, 2};
  auto writer =
      FrameWriter::create(dir / "f.dbdf", 2, {{"a", ValueType::u8}, {"b", ValueType::u16}});
  writer.put<std::uint16_t>({0, 1}, {values.data(), 2, 1, 0});
  writer.finish();
  const Object frame = open(dir / "f.dbdf");
  const auto error = error_of([&] { to_runtime(frame, dir / "no.dbdf"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::unsupported);
  CHECK(error->detail() ==
        "expected a value type that the DAPHNE runtime has, got u16 in column 1; --value-type u32 "
        "holds its values");
  auto small = MatrixWriter::create(dir / "m.dbdf", 1, 1, ValueType::i16);
  small.finish();
  const Object matrix = open(dir / "m.dbdf");
  CHECK(error_of([&] { to_runtime(matrix, dir / "no.dbdf"); })->detail() ==
        "expected a value type that the DAPHNE runtime has, got i16; --value-type i32 holds its "
        "values");
  CHECK(error_of([&] { to_runtime(matrix, dir / "no.dbdf", KindChoice::coo); })->code() ==
        Errc::unsupported);
  CHECK(dir.names() == std::vector<std::string>{"f.dbdf", "m.dbdf"});

  ConvertOptions options;
  options.to = "daphne";
  options.value_type = ValueType::u32;
  write_text(dir / "no.dbdf.meta", "{}");
  CHECK(error_of([&] { convert(frame, {}, dir / "no.dbdf", options); })->code() ==
        Errc::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(dir / "no.dbdf"));
  CHECK(read_text(dir / "no.dbdf.meta") == "{}");
  options.write.overwrite = true;
  convert(frame, {}, dir / "no.dbdf", options);
  CHECK(cell_lines(open(dir / "no.dbdf")) == cell_lines(frame));
}

TEST_CASE("daphne: every field is checked, and the byte is named") {
  const TempDir dir;
  const Image dense = runtime_dense<std::int32_t>(2, 3, {1, 2, 3, 4, 5, 6});
  const Image csr = runtime_csr<std::int64_t>(3, {{{0, 1}, {2, 2}}, {{1, 3}}});
  Image frame = runtime_frame(2, {ValueType::u8, ValueType::f64}, 3);
  frame.zeros(18);
  struct Damage {
    Image image;
    std::uint64_t offset;
    std::string detail;
  };
  const auto with = [](Image image, std::size_t at, auto value) { return image.patch(at, value); };
  const auto longer = [](Image image, std::size_t n) { return image.zeros(n); };
  const std::uint64_t huge = std::uint64_t{1} << 63;
  const std::vector<Damage> damages = {
      {with(dense, 0, std::uint8_t{2}), 0, "expected a version of 1, got 2"},
      {with(dense, 1, std::uint8_t{5}), 1, "expected a data type of 1 to 4, got 5"},
      {with(dense, 18, std::uint8_t{8}), 18, "expected a value type of 0 to 7, got 8"},
      {with(dense, 19, huge), 19, "expected a block row of 0, got 9223372036854775808"},
      {with(dense, 27, std::uint64_t{1}), 27, "expected a block column of 0, got 1"},
      {with(dense, 35, std::uint32_t{3}), 35, "expected a number of block rows of 2, got 3"},
      {with(dense, 39, std::uint32_t{2}), 39, "expected a number of block columns of 3, got 2"},
      {with(dense, 43, std::uint8_t{0}), 43, "expected a block type of 1, got 0"},
      {with(dense, 44, std::uint8_t{2}), 44, "expected a block value type of 1, got 2"},
      {longer(dense, 1), 45,
       "expected 2 x 3 values of i32 up to the end of the file, got 25 bytes"},
      {with(with(dense, 2, huge + 2), 10, huge + 3), 45,
       "expected 9223372036854775810 x 9223372036854775811 values of i32 up to the end of the "
       "file, got 24 bytes"},
      {with(csr, 43, std::uint8_t{1}), 43, "expected a block type of 2, got 1"},
      {with(csr, 45, std::uint64_t{4}), 77,
       "expected 4 column indices and values of i64 up to the end of the file, got 48 bytes"},
      {with(csr, 45, huge), 77,
       "expected 9223372036854775808 column indices and values of i64 up to the end of the file, "
       "got 48 bytes"},
      {longer(csr, 15), 77,
       "expected 3 column indices and values of i64 up to the end of the file, got 63 bytes"},
      {with(with(csr, 2, huge), 35, std::uint32_t{0}), 53,
       "expected the row offsets of 9223372036854775808 rows, got 72 bytes"},
      {with(csr, 53, std::uint64_t{1}), 53, "expected a first row offset of 0, got 1"},
      {with(csr, 69, std::uint64_t{2}), 69, "expected a last row offset of 3, got 2"},
      {with(csr, 61, std::uint64_t{4}), 61, "expected a row offset of 0 to 3, got 4"},
      {with(csr, 77, std::uint64_t{3}), 77, "expected a column below 3, got column 3"},
      {with(csr, 77, std::uint64_t{2}), 85, "expected each column once in a row, got column 2"},
      {with(with(csr, 10, std::uint64_t{0}), 39, std::uint32_t{0}), 45,
       "expected no values in a matrix without columns, got 3"},
      {with(frame, 10, std::uint64_t{24}), 10,
       "expected at most 15 columns in a file of this size, got 24"},
      {with(frame, 19, std::uint8_t{9}), 19, "expected a value type of 0 to 7, got 9"},
      {with(frame, 30, std::uint64_t{1}), 30, "expected a block row of 0, got 1"},
      {with(frame, 38, std::uint64_t{1}), 38, "expected a block column of 0, got 1"},
      {with(frame, 2, std::uint64_t{3}), 46,
       "expected 3 rows of 9 bytes up to the end of the file, got 18 bytes"},
      {with(frame, 2, huge), 46,
       "expected 9223372036854775808 rows of 9 bytes up to the end of the file, got 18 bytes"},
  };
  for (const Damage& damage : damages) {
    const Error error = refusal(dir, damage.image.bytes());
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.offset() == damage.offset);
    CHECK(error.detail() == damage.detail);
  }
}

TEST_CASE("daphne: cut at any byte, a file of the runtime is refused") {
  const TempDir dir;
  Image frame = runtime_frame(2, {ValueType::u8, ValueType::f64}, 3);
  frame.zeros(18);
  Image scalar = runtime_header(4, 0x1234, 77);
  scalar.number(std::uint8_t{7}).number(-1.25);
  CHECK(cell_lines(open_runtime(dir, scalar.bytes())) == "c 0 0 bff4000000000000\n");
  CHECK(base(open(dir / "t.dbdf")).note() == "a scalar, read as a matrix of one cell");
  for (const Image& image :
       {runtime_dense<std::int32_t>(2, 3, {1, 2, 3, 4, 5, 6}),
        runtime_csr<std::int64_t>(3, {{{0, 1}, {2, 2}}, {{1, 3}}}), frame, scalar}) {
    for (std::size_t n = 0; n < image.size(); ++n) {
      CAPTURE(n);
      Bytes cut = image.bytes();
      cut.resize(n);
      CHECK(refusal(dir, cut).code() == Errc::corrupt);
    }
    CHECK(base(open_runtime(dir, image.bytes())).format() == "daphne");
  }
}

TEST_CASE("daphne: any change of one byte gives an answer or an error") {
  const TempDir dir;
  Image frame = runtime_frame(2, {ValueType::u8, ValueType::f64}, 3);
  frame.zeros(18);
  std::size_t errors = 0, answers = 0;
  for (const Image& image : {runtime_dense<std::int32_t>(2, 3, {1, 2, 3, 4, 5, 6}),
                             runtime_csr<std::int64_t>(3, {{{0, 1}, {2, 2}}, {{1, 3}}}), frame}) {
    for (std::size_t at = 0; at < image.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x04U, 0x80U, 0xFFU}) {
        Bytes changed = image.bytes();
        changed[at] ^= static_cast<std::byte>(flip);
        for (const std::string format : {"", "daphne"}) {
          const auto path = dir.write("t.dbdf", changed);
          const auto error = error_of([&] {
            const Object object = open_as(path, format);
            if (base(object).rows() * base(object).cols() < 1000) cell_lines(object);
          });
          ++(error ? errors : answers);
        }
      }
    }
  }
  CHECK(errors > 500);
  CHECK(answers > 300);
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
        "expected at most 4294967295 columns in a CSR matrix, got 8589934592");
}
