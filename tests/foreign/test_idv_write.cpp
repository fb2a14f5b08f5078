// Writing ML.NET files: pinned bytes, and everything that is written reads back.

#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/foreign/idv_image.h"
#include "tests/foreign/idv_shown.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using detail::ObjectKind;
using test::base;
using test::error_of;
using test::Table;
using namespace test::idv;

namespace {

WriteOptions overwriting() {
  WriteOptions options;
  options.overwrite = true;
  return options;
}

/// Writes tables as DAPHNE files, and those as ML.NET files.
class Writer {
 public:
  std::filesystem::path write(const Table& table, const ConvertOptions& options = {}) {
    table.write(dir_ / "t.dbdf", overwriting());
    ConvertOptions all = options;
    all.write.overwrite = true;
    convert(open(dir_ / "t.dbdf"), {}, dir_ / "t.idv", all);
    return dir_ / "t.idv";
  }

 private:
  test::TempDir dir_;
};

ConvertOptions plain() {
  ConvertOptions options;
  options.format_options = {{"idv.deflate", "false"}};
  return options;
}

Table matrix_of(std::uint64_t rows, std::uint64_t cols, ValueType type) {
  return Table(ObjectKind::matrix, rows, std::vector<Column>(cols, Column{"", type}));
}

/// A file of two rows of all that only ML.NET has, or of them `times` times over.
std::vector<FileColumn> columns_of_mlnet(std::size_t times) {
  const auto again = [&](auto values) {
    const auto once = values;
    for (std::size_t i = 1; i < times; ++i) values.insert(values.end(), once.begin(), once.end());
    return values;
  };
  const std::uint64_t n = 2 * times;
  FileColumn grid{"grid",
                  vector_codec(codec("Single"), {2, 3}),
                  {vectors(again(std::vector<Vector>{{6}, {6, {{2}}}}), 6,
                           packed(again(std::vector<float>{1, 2, 3, 4, 5, 6, 7})))},
                  n};
  FileColumn spans{"spans",
                   vector_codec(codec("TimeSpan"), {2}),
                   {vectors(std::vector<Vector>(n, Vector{2}), 2,
                            packed(again(std::vector<std::int64_t>{1, 2, 3, 4})))},
                   n};
  FileColumn numbered{
      "numbered", key2_codec("UInt32", 3), {packed(again(std::vector<std::uint32_t>{3, 1}))}, n};
  numbered.metadata = {{"KeyValues", vector_codec(codec("Single"), {3}),
                        vectors({{3}}, 3, packed<float>({1, 2.5f, -1}))}};
  // Buckets of a hash, most of them without a value.
  FileColumn hashed{
      "hashed", key2_codec("UInt32", 4), {packed(again(std::vector<std::uint32_t>{4, 2}))}, n};
  hashed.metadata = {text_values(4, texts({0, 1, 1, 1}, "a"))};
  return {
      {"zoned",
       codec("DateTimeOffset"),
       {zoned(again(std::vector<std::pair<std::int64_t, std::int16_t>>{{kUnixTicks + 10, 60},
                                                                       {kUnixTicks, -60}}))},
       n},
      {"id", codec("DataViewRowId"), {packed(again(std::vector<std::uint64_t>{1, 2, 3, 4}))}, n},
      {"early", codec("DateTime"), {packed(again(std::vector<std::int64_t>{1, 20}))}, n},
      {"bare", key2_codec("UInt16", 5), {packed(again(std::vector<std::uint16_t>{0, 5}))}, n},
      {"truth", codec("Boolean"), {bits(again(std::vector<int>{1, 0}))}, n},
      std::move(grid),
      std::move(spans),
      std::move(numbered),
      std::move(hashed)};
}

}  // namespace

TEST_CASE("idv: a frame is written as ML.NET lays it out, to the byte") {
  Writer writer;
  Table table(ObjectKind::frame, 3, {{"a", ValueType::i8}, {"\xc3\xa9", ValueType::f64}});
  for (std::uint64_t r = 0; r < 3; ++r) {
    table.set<std::int8_t>(r, 0, static_cast<std::int8_t>(-r));
    table.set<double>(r, 1, 0.5 * static_cast<double>(r));
  }
  const File expected = build(6, 3,
                              {{"a", codec("SByte"), {packed<std::int8_t>({0, -1, -2})}, 3},
                               {"\xc3\xa9", codec("Double"), {packed<double>({0, 0.5, 1})}, 3}});
  CHECK(test::read_bytes(writer.write(table, plain())) == expected.bytes);
}

TEST_CASE("idv: a matrix is one column of vectors, each stored in the fewest bytes") {
  Writer writer;
  Table table = matrix_of(4, 4, ValueType::f32);
  for (std::uint64_t c = 0; c < 4; ++c) table.set<float>(0, c, static_cast<float>(c + 1));
  table.set<float>(1, 2, 7);
  table.set<float>(3, 0, -0.0f);  // not a zero that may be left out
  table.set<float>(3, 3, 1);
  // Two items with their indices take as much as four: that row is dense.
  const std::vector<Vector> rows = {{4}, {4, {{2}}}, {4, {{}}}, {4}};
  const Bytes block = vectors(rows, 4, packed<float>({1, 2, 3, 4, 7, -0.0f, 0, 0, 1}));
  const File expected = build(6, 4, {{"Features", vector_codec(codec("Single"), {4}), {block}, 4}});
  CHECK(test::read_bytes(writer.write(table, plain())) == expected.bytes);
}

TEST_CASE("idv: objects of every kind and type come back from an ML.NET file") {
  Writer writer;
  const test::TempDir dir;
  test::Rng rng(77);
  for (int round = 0; round < 120; ++round) {
    CAPTURE(round);
    const auto kind = round % 2 == 0 ? ObjectKind::matrix : ObjectKind::frame;
    const unsigned percent = round % 3 == 0 ? 3 : round % 3 == 1 ? 40 : 100;
    // Of narrow vectors, those that are not zero are dense, and the others sparse.
    const std::uint64_t cols = rng.between(1, round % 4 == 0 ? 4 : 30);
    const Table table = Table::random(kind, rng.below(60), cols, percent, rng);
    ConvertOptions options;
    options.format_options = {{"idv.deflate", round % 4 < 2 ? "true" : "false"}};
    options.threads = static_cast<unsigned>(round % 3);
    const auto written = open(writer.write(table, options));
    CHECK(Table::read(written) == table);
    ConvertOptions back;
    back.write.overwrite = true;
    convert(written, {}, dir / "back.dbdf", back);
    CHECK(Table::read(open(dir / "back.dbdf")) == table);
  }
}

TEST_CASE("idv: long objects are written in several blocks, whatever the number of threads") {
  Writer writer;
  for (const ObjectKind kind : {ObjectKind::matrix, ObjectKind::frame}) {
    test::Rng rng(3);
    const Table table = Table::random(kind, 20000, 3, 30, rng);
    std::vector<std::byte> first;
    for (const unsigned threads : {1u, 2u, 5u}) {
      ConvertOptions options;
      options.threads = threads;
      const auto path = writer.write(table, options);
      const auto object = open(path);
      CHECK(base(object).counts().total == (kind == ObjectKind::matrix ? 3 : 9));
      CHECK(Table::read(object) == table);
      const auto bytes = test::read_bytes(path);
      if (first.empty()) first = bytes;
      CHECK(bytes == first);
    }
  }
}

TEST_CASE("idv: a sparse matrix stays sparse, and rows that differ a lot fit") {
  const test::TempDir dir;
  constexpr std::uint64_t kCols = 100000;
  auto writer = test::writer<double>(dir / "s.dbdf", 300, kCols);
  std::vector<Triplet<double>> entries;
  for (std::uint32_t r = 0; r < 300; ++r) {
    entries.push_back({r, r * 300, r + 0.5});
    for (std::uint32_t c = 0; r == 7 && c < kCols - 1; ++c) {
      if (c != r * 300) entries.push_back({r, c, 1});
    }
  }
  writer.put<double>({0, 0}, {300, kCols}, entries);
  writer.finish();
  convert(open(dir / "s.dbdf"), {}, dir / "s.idv");
  const Matrix m = std::get<Matrix>(open(dir / "s.idv"));
  CHECK(m.storage() == Storage::csr);
  CHECK(std::filesystem::file_size(dir / "s.idv") < 100000);
  const auto got = m.read_csr<double>({{0, 300}, {0, kCols}});
  const auto put = std::get<Matrix>(open(dir / "s.dbdf")).read_csr<double>({{0, 300}, {0, kCols}});
  CHECK(got.row_ptr == put.row_ptr);
  CHECK(got.col_idx == put.col_idx);
  CHECK(got.values == put.values);
}

TEST_CASE("idv: objects without rows are files without blocks") {
  Writer writer;
  CHECK(test::read_bytes(writer.write(matrix_of(0, 5, ValueType::u16))) ==
        build(6, 0, {{"Features", vector_codec(codec("UInt16"), {5}), {}, 1, 1}}).bytes);
  CHECK(test::read_bytes(writer.write(Table(ObjectKind::frame, 9, {}))) == build(6, 9, {}).bytes);
}

TEST_CASE("idv: what the format or ML.NET cannot hold is refused, and leaves no file") {
  const test::TempDir dir;
  const auto refused = [&](const Table& table) {
    table.write(dir / "t.dbdf", overwriting());
    const auto error = error_of([&] { convert(open(dir / "t.dbdf"), {}, dir / "t.idv"); });
    CHECK_FALSE(std::filesystem::exists(dir / "t.idv"));
    return error ? std::string(name(error->code())) + ": " + error->detail() : "";
  };
  CHECK(refused(Table(ObjectKind::frame, 1, {{"a", ValueType::u8}, {"", ValueType::u8}})) ==
        "unsupported: column 1 has no label, which ML.NET needs for every column");
  CHECK(refused(Table(ObjectKind::frame, 1, {{"\xff", ValueType::u8}})) ==
        "unsupported: the label of column 0 is not UTF-8, as labels in an ML.NET file must be");
  CHECK(refused(matrix_of(2, 0, ValueType::u8)) ==
        "unsupported: a matrix of 0 columns makes no vector of ML.NET, which has 1 to 2147483647 "
        "slots");
}

TEST_CASE("idv: any readable format becomes an ML.NET file, and that any writable one") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", "a,b\n1,0.5\n-2,7\n");
  convert(open(dir / "t.csv"), {}, dir / "t.idv");
  convert(open(dir / "t.idv"), {}, dir / "back.csv");
  CHECK(test::read_text(dir / "back.csv") == "a,b\n1,0.5\n-2,7\n");
  convert(open(dir / "t.idv"), {}, dir / "back.npy");
  CHECK(Table::read(open(dir / "back.npy")) == Table::read(open(dir / "t.csv")));
}

TEST_CASE("idv: categories are keys of 32 bits, however narrow their codes") {
  const test::TempDir dir;
  std::vector<Column> columns = {{"word", ValueType::u8}, {"number", ValueType::u8}};
  columns[0].meaning.kind = MeaningKind::category;
  columns[0].meaning.words = detail::listed_dictionary({"red", "blue"});
  columns[1].meaning.missing = 0;
  test::Table table(detail::ObjectKind::frame, 3, columns);
  for (std::uint64_t r = 0; r < 3; ++r) {
    table.set<std::uint8_t>(r, 0, static_cast<std::uint8_t>(2 - r));
    table.set<std::uint8_t>(r, 1, static_cast<std::uint8_t>(255 - r));
  }
  table.write(dir / "t.dbdf", over().write);
  FileColumn word{"word", key2_codec("UInt32", 2), {packed<std::uint32_t>({2, 1, 0})}, 3};
  word.metadata = {text_values(2, texts({3, 7}, "redblue"))};
  const FileColumn number{
      "number", key2_codec("UInt32", 255), {packed<std::uint32_t>({255, 254, 253})}, 3};
  written(open(dir / "t.dbdf"), dir / "t.idv");
  CHECK(test::read_bytes(dir / "t.idv") == build(6, 3, {word, number}).bytes);
}

TEST_CASE("idv: files become one file as ML.NET would have written it, to the byte") {
  const test::TempDir dir;
  const auto path = dir.write("t.idv", build(6, 2, columns_of_mlnet(1)).bytes);
  CHECK(written(open(path), dir / "again.idv").empty());
  CHECK(test::read_bytes(dir / "again.idv") == test::read_bytes(path));
  CHECK(written(below({path, path, path}), dir / "three.idv").empty());
  CHECK(test::read_bytes(dir / "three.idv") == build(6, 6, columns_of_mlnet(3)).bytes);
  // One part after the other, and columns beside others.
  const std::variant<Matrix, Frame> parts[] = {below({path, path}), open(path)};
  CHECK(written(concat(parts, Axis::rows), dir / "three.idv").empty());
  CHECK(test::read_bytes(dir / "three.idv") == build(6, 6, columns_of_mlnet(3)).bytes);
  const std::vector<FileColumn> other = {{"n", codec("Byte"), {packed<std::uint8_t>({1, 2})}, 2}};
  const std::variant<Matrix, Frame> sides[] = {open(dir.write("n.idv", build(6, 2, other).bytes)),
                                               open(path)};
  std::vector<FileColumn> both = other;
  for (FileColumn& column : columns_of_mlnet(1)) both.push_back(std::move(column));
  CHECK(written(concat(sides, Axis::columns), dir / "sides.idv").empty());
  CHECK(test::read_bytes(dir / "sides.idv") == build(6, 2, both).bytes);
}

TEST_CASE("idv: a slot of a vector of keys is a key of the same type and number") {
  const test::TempDir dir;
  const FileColumn keys{"k",
                        vector_codec(key2_codec("Byte", 9), {2}),
                        {vectors({{2}}, 2, packed<std::uint8_t>({7, 9}))},
                        1};
  const FileColumn other{"n", codec("Byte"), {packed<std::uint8_t>({1})}, 1};
  const auto path = dir.write("t.idv", build(6, 1, {keys, other}).bytes);
  written(open(path), dir / "one.idv", {{}, std::vector<std::uint64_t>{1}});
  const FileColumn slot{"k.1", key2_codec("Byte", 9), {packed<std::uint8_t>({9})}, 1};
  CHECK(test::read_bytes(dir / "one.idv") == build(6, 1, {slot}).bytes);
}

TEST_CASE("idv: keys of several files have the wider type, and each value as often as one has it") {
  const test::TempDir dir;
  FileColumn narrow{"k", key2_codec("Byte", 3), {packed<std::uint8_t>({1, 2, 3})}, 3};
  narrow.metadata = {text_values(3, texts({0, 1, 1}, "x"))};  // "", "x", ""
  FileColumn wide{"k", key2_codec("UInt16", 2), {packed<std::uint16_t>({1, 2, 0})}, 3};
  wide.metadata = {text_values(2, texts({1, 1}, "y"))};  // "y", ""
  const auto a = dir.write("a.idv", build(6, 3, {narrow}).bytes);
  const auto b = dir.write("b.idv", build(6, 3, {wide}).bytes);
  CHECK(written(below({a, b}), dir / "t.idv").empty());
  FileColumn all{"k", key2_codec("UInt16", 4), {packed<std::uint16_t>({1, 2, 3, 4, 1, 0})}, 6};
  all.metadata = {text_values(4, texts({0, 1, 1, 2}, "xy"))};
  CHECK(test::read_bytes(dir / "t.idv") == build(6, 6, {all}).bytes);
  // More values than a narrow key counts.
  std::vector<std::filesystem::path> files;
  for (const char* letter : {"a", "b", "c"}) {
    std::string text;
    std::vector<std::uint32_t> ends;
    for (int i = 0; i < 100; ++i) {
      text += std::to_string(i) + letter;
      ends.push_back(static_cast<std::uint32_t>(text.size()));
    }
    FileColumn key{"k", key2_codec("Byte", 100), {packed<std::uint8_t>({100})}, 1};
    key.metadata = {text_values(100, texts(ends, text))};
    files.push_back(dir.write(std::string(letter) + ".idv", build(6, 1, {key}).bytes));
  }
  CHECK(written(below(files), dir / "t.idv").empty());
  CHECK(columns_of(dir / "t.idv") == Notes{"k u32 category, missing 0: <99a> <99b> <99c>"});
}

TEST_CASE("idv: what files that are put together cannot keep is told") {
  const test::TempDir dir;
  const auto key = [&](float last) {
    FileColumn column{"k", key2_codec("Byte", 2), {packed<std::uint8_t>({2})}, 1};
    column.metadata = {{"KeyValues", vector_codec(codec("Single"), {2}),
                        vectors({{2}}, 2, packed<float>({1, last}))}};
    return column;
  };
  const auto grid = [&](std::vector<std::int32_t> dims) {
    return FileColumn{"g",
                      vector_codec(codec("Byte"), std::move(dims)),
                      {vectors({{6}}, 6, packed<std::uint8_t>({1, 2, 3, 4, 5, 6}))},
                      1};
  };
  const auto a = dir.write("a.idv", build(6, 1, {key(2), grid({2, 3})}).bytes);
  const auto b = dir.write("b.idv", build(6, 1, {key(3), grid({3, 2})}).bytes);
  CHECK(written(below({a, b}), dir / "t.idv") ==
        Notes{"column 'k': idv keeps the values of the keys as words",
              "column 'g': idv keeps the vectors, but not that they have several dimensions"});
  CHECK(columns_of(dir / "t.idv")[0] == "k u8 category, missing 0: <2> <3>");

  const auto path = dir.write("t.idv", build(6, 2, columns_of_mlnet(1)).bytes);
  const Notes lost = {
      "columns 'zoned', 'id': dbdf keeps the two parts of each cell as two columns",
      "columns 'early', 'spans': dbdf keeps the times as plain numbers, ticks of 100 ns",
      "column 'bare': dbdf does not keep how many keys there are",
      "column 'grid': dbdf keeps the vectors, but not that they have several dimensions",
      "column 'numbered': dbdf keeps the values of the keys as words"};
  CHECK(written(open(path), dir / "t.dbdf") == lost);
  Notes notes;
  ConvertOptions options;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  append(dir / "t.dbdf", open(path), options);
  CHECK(notes == lost);
  CHECK(Frame::open(dir / "t.dbdf").rows() == 4);
}
