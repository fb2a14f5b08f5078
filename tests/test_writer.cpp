// The bytes of what is written, and that all of it reads back.

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/partition.h"
#include "tests/support.h"

using namespace dapple;
using test::Partition;
using test::Rng;
using test::TempDir;
using test::writer;

namespace {

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  std::string s;
  for (const std::byte b : bytes) {
    s += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
    s += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
  }
  return s;
}

std::string zeros(std::size_t bytes) { return std::string(2 * bytes, '0'); }
std::string ff(std::size_t bytes) { return std::string(2 * bytes, 'f'); }

}  // namespace

TEST_CASE("writer: the file of FORMAT.md has the bytes that stand there") {
  const TempDir dir;
  WriteOptions options;
  options.tile = TileShape{2, 4};
  auto w = writer<std::int16_t>(dir / "m", 4, 4, options);
  const std::array<std::int16_t, 8> first = {1, 2, 3, 4, 5, 6, 7, 300},
                                    second = {0, 0, 0, 0, 0, 0, -5, 0};
  w.put<std::int16_t>({0, 0}, {first.data(), 2, 4});
  w.put<std::int16_t>({2, 0}, {second.data(), 2, 4});
  w.finish();
  const auto pad = [](const std::string& cols, std::size_t n) {
    return ff(16) + "01000000" + cols + "000000" + "0101" + "44504c2d50414444" + zeros(n);
  };
  const std::string expected =
      "0101"
      "0400000000000000"
      "0400000000000000"
      "06" +
      pad("39", 49) + zeros(16) +
      "0200000004000000"
      "0106"
      "01000200030004000500060007002c01" +
      pad("3c", 52) + "0200000000000000" + zeros(8) +
      "0200000004000000"
      "0105"
      "000000000000fb00" +
      pad("44", 60) + ff(16) +
      "0400000040000000"
      "0101"
      "44504c2d494e4458" +
      zeros(8) + "0200000000000000" + zeros(16) +
      "1000000000000000"
      "adec017d818b8e93"
      "7c28fc3dff1048e9" +
      zeros(16) +
      "7600000000000000"
      "1a00000000000000"
      "0800000000000000"
      "8b36dd0be6201dbb"
      "0200000004000000"
      "0106000000000000"
      "0200000000000000" +
      zeros(8) +
      "f600000000000000"
      "1200000000000000"
      "0800000000000000"
      "6ab494aae2c36890"
      "0200000004000000"
      "0105000000000000"
      "15ddb5e6bb55c885"
      "0001000000000000"
      "0200000000000000" +
      zeros(8) +
      "0200000004000000"
      "0100000000000000"
      "2134a480b19ea50b"
      "44504c2d5441494c";
  CHECK(hexadecimal(test::read_bytes(dir / "m")) == expected);
}

TEST_CASE("writer: plain files of each kind of block have these bytes") {
  const TempDir dir;
  WriteOptions options;
  options.plain = true;
  const auto file = [&](KindChoice kind, std::uint64_t cols, std::vector<std::uint16_t> values) {
    options.kind = kind;
    options.overwrite = true;
    const auto rows = values.size() / cols;
    auto w = writer<std::uint16_t>(dir / "m", rows, cols, options);
    w.put<std::uint16_t>({0, 0}, {values.data(), static_cast<std::uint32_t>(rows),
                                  static_cast<std::uint32_t>(cols)});
    w.finish();
    CHECK(test::difference(dir / "m") == "");
    return hexadecimal(test::read_bytes(dir / "m")).substr(38);
  };
  const std::string at = zeros(16), two = "0200000002000000", column = "0200000001000000";
  CHECK(file(KindChoice::automatic, 2, {0, 0, 0, 0}) == at + two + "00");
  CHECK(file(KindChoice::dense, 2, {1, 2, 3, 256}) == at + two +
                                                          "0102"
                                                          "0100020003000001");
  CHECK(file(KindChoice::dense, 2, {1, 2, 3, 255}) == at + two +
                                                          "0101"
                                                          "010203ff");
  CHECK(file(KindChoice::csr, 2, {0, 7, 0, 0}) == at + two +
                                                      "0201"
                                                      "0100000000000000"
                                                      "01000000"
                                                      "01000000"
                                                      "07"
                                                      "00000000");
  CHECK(file(KindChoice::coo, 2, {0, 0, 9, 0}) == at + two +
                                                      "0301"
                                                      "01000000"
                                                      "01000000"
                                                      "00000000"
                                                      "09");
  CHECK(file(KindChoice::coo, 1, {0, 300}) == at + column +
                                                  "0302"
                                                  "01000000"
                                                  "01000000"
                                                  "2c01");
}

TEST_CASE("writer: every partition is read back, whatever the layout") {
  Rng rng(40);
  const TempDir dir;
  for (const Partition& p : test::partitions(rng, 8)) {
    for (int layout = 0; layout < 3; ++layout) {
      CAPTURE(p.name);
      CAPTURE(layout);
      WriteOptions options;
      options.plain = layout == 0;
      options.align = layout == 1 ? 64 : 2;
      options.kind = static_cast<KindChoice>(rng.below(4));
      options.narrow = rng.chance(50);
      options.overwrite = true;
      options.sync = false;
      auto w = writer<std::int32_t>(dir / "m", p.rows, p.cols, options);
      std::vector<std::int32_t> all(p.rows * p.cols);
      for (const Region& cells : p.blocks) {
        std::vector<std::int32_t> values(cells.rows.size() * cells.cols.size());
        const std::uint64_t limit = std::uint64_t{1} << rng.between(1, 31);
        std::size_t i = 0;
        for (std::uint64_t r = cells.rows.begin; r < cells.rows.end; ++r) {
          for (std::uint64_t c = cells.cols.begin; c < cells.cols.end; ++c) {
            if (rng.chance(40)) values[i] = static_cast<std::int32_t>(rng.below(limit)) - 100;
            all[r * p.cols + c] = values[i++];
          }
        }
        w.put<std::int32_t>({cells.rows.begin, cells.cols.begin},
                            {values.data(), static_cast<std::uint32_t>(cells.rows.size()),
                             static_cast<std::uint32_t>(cells.cols.size())});
      }
      const WriteSummary summary = w.finish();
      CHECK(test::difference(dir / "m") == "");
      const Matrix m = Matrix::open(dir / "m");
      CHECK(m.read<std::int32_t>({{0, p.rows}, {0, p.cols}}) == all);  // nothing is absent (R7)
      CHECK(m.index_origin() == (layout == 0 ? IndexOrigin::scanned : IndexOrigin::embedded));
      CHECK(summary.bytes == m.bytes());
      CHECK(summary.counts.total == m.blocks().size());
      CHECK(summary.counts.stored == m.counts().stored);
    }
  }
}

TEST_CASE("writer: dense payloads start at a multiple of every alignment that is allowed") {
  const TempDir dir;
  const std::vector<double> values(7, 0.1);
  for (std::uint32_t align = 1; align <= (2U << 20); align *= 2) {
    CAPTURE(align);
    WriteOptions options;
    options.align = align;
    options.tile = TileShape{1, 7};
    options.overwrite = true;
    options.sync = false;
    auto w = writer<double>(dir / "m", 3, 7, options);
    for (std::uint64_t r = 0; r < 3; ++r) w.put<double>({r, 0}, {values.data(), 1, 7});
    w.finish();
    // The first block is read, not mapped: its values are aligned all the same.
    const Matrix fresh = Matrix::open(dir / "m");
    if (align >= 8) CHECK(fresh.tile(2, 0).dense_view<double>().aligned().has_value());
    const Matrix m = Matrix::open(dir / "m");
    for (const BlockInfo& info : m.blocks()) CHECK((info.offset + 10) % align == 0);
    CHECK(m.read<double>({{2, 3}, {0, 7}}) == values);
    if (align >= 8) CHECK(m.tile(1, 0).dense_view<double>().aligned().has_value());
    if (align <= 4096) CHECK(test::difference(dir / "m") == "");
  }
  for (const std::uint32_t align : {0U, 3U, 48U, 4U << 20}) {
    WriteOptions options;
    options.align = align;
    const auto error = test::error_of([&] { writer<double>(dir / "n", 1, 1, options); });
    REQUIRE(error);
    CHECK(error->code() == Errc::invalid_argument);
  }
  CHECK(dir.names() == std::vector<std::string>{"m"});
}

TEST_CASE("writer: rows of the caller's that overlap are refused, and the writer goes on") {
  const TempDir dir;
  const std::vector<double> cells(12, 1);
  MatrixWriter writer = MatrixWriter::create(dir / "m.dbdf", 3, 4, ValueType::f64);
  const Error error = test::required_error(test::error_of([&] {
    writer.put<double>({0, 0}, {cells.data(), 3, 4, 3});
  }));
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.detail() == "rows of 4 values overlap when they are 3 values apart");
  writer.put<double>({0, 0}, {cells.data(), 3, 4, 4});
  writer.finish();
  CHECK(Matrix::open(dir / "m.dbdf").read<double>({{2, 3}, {3, 4}}) == std::vector<double>{1});
}

TEST_CASE("writer: equal input gives an equal file, and puts from several threads equal cells") {
  const TempDir dir;
  constexpr std::uint64_t kEdge = 64;
  std::vector<std::int64_t> all(kEdge * kEdge);
  Rng rng(42);
  for (auto& cell : all) {
    cell = rng.chance(30) ? static_cast<std::int64_t>(rng.bits() >> rng.below(64)) : 0;
  }
  WriteOptions options;
  options.tile = TileShape{8, 8};
  const auto put = [&](MatrixWriter& w, std::uint64_t i) {
    const std::uint64_t r = i / 8 * 8, c = i % 8 * 8;
    w.put<std::int64_t>({r, c}, {all.data() + r * kEdge + c, 8, 8, kEdge});
  };
  for (const char* name : {"a", "b"}) {
    auto w = writer<std::int64_t>(dir / name, kEdge, kEdge, options);
    for (std::uint64_t i = 0; i < 64; ++i) put(w, i);
    w.finish();
  }
  CHECK(test::read_bytes(dir / "a") == test::read_bytes(dir / "b"));
  auto w = writer<std::int64_t>(dir / "c", kEdge, kEdge, options);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 63 - t; i < 64; i -= 4) put(w, i);
    });
  }
  for (auto& thread : threads) thread.join();
  w.finish();
  CHECK(test::difference(dir / "c") == "");
  CHECK(Matrix::open(dir / "c").read<std::int64_t>({{0, kEdge}, {0, kEdge}}) == all);
}

TEST_CASE("writer: a label that is not there is told with those that are; a letter is no typo") {
  const TempDir dir;
  FrameWriter::create(dir / "f", 0, std::vector<Column>{{"a", ValueType::u8}, {"b", ValueType::u8}})
      .finish();
  const Frame f = Frame::open(dir / "f");
  const auto detail = [&](const char* label) {
    return test::error_of([&] { f.column(label); })->detail();
  };
  CHECK(detail("x") == "no column \"x\"; there are \"a\", \"b\"");
  CHECK(detail("A") == "no column \"A\"; did you mean \"a\"?");
  CHECK(detail("ab") == "no column \"ab\"; did you mean \"a\"?");
}

TEST_CASE("writer: frames keep labels, types and cells, and blocks stay inside one type (R8)") {
  const TempDir dir;
  const std::string longest(65535, 'x');
  const std::vector<Column> columns = {{"", ValueType::u8},
                                       {longest, ValueType::u8},
                                       {"\xC3\xA4", ValueType::f32},
                                       {"last", ValueType::i64}};
  auto w = FrameWriter::create(dir / "f", 3, columns);
  CHECK(w.column_strips() == std::vector<Range>{{0, 2}, {2, 3}, {3, 4}});
  const std::vector<int> values = {1, 2, 3, 4, 5, 6};
  w.put<int>({0, 0}, {values.data(), 3, 2});
  w.put<int>({0, 3}, {values.data(), 3, 1});
  const auto error = test::error_of([&] { w.put<int>({0, 1}, {values.data(), 3, 2}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  w.finish();
  CHECK(test::difference(dir / "f") == "");
  const Frame f = Frame::open(dir / "f");
  CHECK(f.label(1) == longest);
  CHECK(f.find_column("\xC3\xA4") == 2);
  CHECK(f.column("last") == 3);
  CHECK(!f.find_column("LAST"));
  CHECK(test::error_of([&] { f.column("LAST"); })->code() == Errc::absent);
  CHECK(test::error_of([&] { f.column("LAST"); })->detail() ==
        "no column \"LAST\"; did you mean \"last\"?");
  CHECK(test::error_of([&] { f.column("another"); })->detail() == "no column \"another\"");
  CHECK(f.read_column<int>(1, {1, 3}) == std::vector<int>{4, 6});
  CHECK(f.read_column<float>(2, {0, 3}) == std::vector<float>{0, 0, 0});

  const std::vector<Column> too_long = {{longest + "x", ValueType::u8}};
  CHECK(test::error_of([&] { FrameWriter::create(dir / "g", 1, too_long); })->code() ==
        Errc::invalid_argument);
  FrameWriter::create(dir / "none", 7, {}).finish();
  CHECK(test::difference(dir / "none") == "");
  CHECK(dir.names() == std::vector<std::string>{"f", "none"});
}

TEST_CASE("writer: without rows there may be any number of columns") {
  const test::TempDir folder;
  constexpr std::uint64_t kCols = std::uint64_t{1} << 62;
  MatrixWriter writer = MatrixWriter::create(folder / "m.dbdf", 0, kCols, ValueType::f64);
  CHECK(writer.column_strips().empty());
  writer.finish();
  const Matrix matrix = Matrix::open(folder / "m.dbdf");
  CHECK(matrix.rows() == 0);
  CHECK(matrix.cols() == kCols);
  CHECK(matrix.blocks().size() == 0);
}
