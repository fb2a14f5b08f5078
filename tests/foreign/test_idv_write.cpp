// Writing ML.NET files: pinned bytes, and everything that is written reads back.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/foreign/idv_image.h"
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
  options.idv.deflate = false;
  return options;
}

Table matrix_of(std::uint64_t rows, std::uint64_t cols, ValueType type) {
  return Table(ObjectKind::matrix, rows, std::vector<Column>(cols, Column{"", type}));
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
  test::Rng rng(77);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const auto kind = round % 2 == 0 ? ObjectKind::matrix : ObjectKind::frame;
    const unsigned percent = round % 3 == 0 ? 3 : round % 3 == 1 ? 40 : 100;
    const Table table = Table::random(kind, rng.below(60), rng.between(1, 30), percent, rng);
    ConvertOptions options;
    options.idv.deflate = round % 4 < 2;
    options.threads = static_cast<unsigned>(round % 3);
    CHECK(Table::read(open(writer.write(table, options))) == table);
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
  auto writer = MatrixWriter::create(dir / "s.dbdf", 300, kCols, ValueType::f64);
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
