// What is written, byte for byte; and random tables both ways.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using detail::ObjectKind;
using test::Table;

namespace {

/// The text of a table, by way of a DAPHNE file.
std::string csv_of(const Table& table, const test::TempDir& dir, const Selection& part = {},
                   unsigned threads = 1, bool short_floats = false) {
  WriteOptions write;
  write.overwrite = true;
  write.sync = false;
  table.write(dir / "t.dbdf", write);
  ConvertOptions to_csv;
  to_csv.to = "csv";
  to_csv.threads = threads;
  to_csv.short_floats = short_floats;
  return test::converted(open(dir / "t.dbdf"), to_csv, part);
}

Table frame(std::vector<Column> columns, std::uint64_t rows) {
  return {ObjectKind::frame, rows, std::move(columns)};
}

/// The table as text can hold it: a NaN has neither sign nor payload there.
Table without_nan_payloads(Table table) {
  for (std::uint64_t r = 0; r < table.rows; ++r) {
    for (std::uint64_t c = 0; c < table.cols(); ++c) {
      visit_type(table.type(c), [&](auto value) {
        std::memcpy(&value, &table.at(r, c), sizeof value);
        if (value != value) table.set(r, c, std::numeric_limits<decltype(value)>::quiet_NaN());
      });
    }
  }
  return table;
}

/// Opens text with the types of a table.
Table read_back(const std::string& text, const Table& like, const test::TempDir& dir) {
  OpenOptions options;
  for (std::uint64_t c = 0; c < like.cols(); ++c) {
    const std::string type(name(like.type(c)));
    options.format_options.emplace("csv.type", std::to_string(c) + "=" + type);
  }
  options.format_options.emplace("csv.header", like.kind == ObjectKind::frame ? "true" : "false");
  test::write_text(dir / "t.csv", text);
  return Table::read(open(dir / "t.csv", options));
}

}  // namespace

TEST_CASE("csv write: a matrix has no header, a frame has one") {
  const test::TempDir dir;
  Table matrix(ObjectKind::matrix, 2, {{"", ValueType::f64}, {"", ValueType::f64}});
  matrix.set(0, 0, 1.5);
  matrix.set(0, 1, -0.0);
  matrix.set(1, 0, std::nan(""));
  matrix.set(1, 1, -std::numeric_limits<double>::infinity());
  CHECK(csv_of(matrix, dir) == "1.5,-0\nnan,-inf\n");
  Table table = frame({{"a", ValueType::i8}, {"b", ValueType::f32}, {"c", ValueType::u64}}, 1);
  table.set(0, 0, std::int8_t{-128});
  table.set(0, 1, 0.1f);
  table.set(0, 2, ~std::uint64_t{0});
  CHECK(csv_of(table, dir) == "a,b,c\n-128,0.10000000149011612,18446744073709551615\n");
  CHECK(csv_of(table, dir, {.rows = Range{0, 1}, .cols = std::vector<std::uint64_t>{2, 0}}) ==
        "c,a\n18446744073709551615,-128\n");
}

TEST_CASE("csv write: labels are quoted where they must be") {
  const test::TempDir dir;
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"plain", "plain"},
      {"two words ", "two words "},
      {"a,b", "\"a,b\""},
      {"say \"x\"", "\"say \"\"x\"\"\""},
      {"a\nb", "\"a\nb\""},
      {"a\rb", "\"a\rb\""},
      {"", "\"\""},  // these would be taken for something else
      {"12", "\"12\""},
      {"nan", "\"nan\""},
      {"NA", "\"NA\""},
      {"a;b", "\"a;b\""},
      {"%%MatrixMarket matrix", "\"%%MatrixMarket matrix\""},
      {"\xc3\xa9\xff", "\xc3\xa9\xff"},
      {"\xef\xbb\xbfx", "\"\xef\xbb\xbfx\""},
      {"\xff\xfex", "\"\xff\xfex\""}};
  for (const auto& pair : pairs) {
    const std::string &label = pair.first, &text = pair.second;
    CAPTURE(label);
    const Table table = frame({{label, ValueType::i64}}, 1);
    CHECK(csv_of(table, dir) == text + "\n0\n");
    test::write_text(dir / "label.csv", text + "\n0\n");
    if (label.find('\xff') == label.npos) {  // what is not UTF-8 is not read
      CHECK(Frame::open(dir / "label.csv").label(0) == label);
    }
  }
}

TEST_CASE("csv write: objects without rows, and without columns") {
  const test::TempDir dir;
  CHECK(csv_of(frame({{"a", ValueType::i8}, {"b", ValueType::i8}}, 0), dir) == "a,b\n");
  CHECK(csv_of(Table(ObjectKind::matrix, 0, {{"", ValueType::i8}}), dir).empty());
  CHECK(csv_of(Table(ObjectKind::matrix, 0, {}), dir).empty());
  for (const Table& table : {frame({}, 0), Table(ObjectKind::matrix, 3, {})}) {
    const auto error = test::error_of([&] { csv_of(table, dir); });
    REQUIRE(error);
    CHECK(error->code() == Errc::unsupported);
    CHECK(error->detail() == "delimited text cannot hold an object without columns");
  }
}

TEST_CASE("csv write: random tables come back, bit for bit but for NaN payloads") {
  const test::TempDir dir;
  test::Rng rng(11);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const ObjectKind kind = rng.chance(50) ? ObjectKind::matrix : ObjectKind::frame;
    const Table table = Table::random(kind, rng.between(1, 40), rng.between(1, 12), 70, rng);
    CHECK(read_back(csv_of(table, dir), table, dir) == without_nan_payloads(table));
  }
}

TEST_CASE("csv write: threads change nothing") {
  const test::TempDir dir;
  test::Rng rng(12);
  const Table table = Table::random(ObjectKind::frame, 30'000, 7, 90, rng);
  const std::string text = csv_of(table, dir);
  CHECK(csv_of(table, dir, {}, 0) == text);
  CHECK(read_back(text, table, dir) == without_nan_payloads(table));
}

TEST_CASE("csv write: a row that is larger than a piece is written in parts") {
  const test::TempDir dir;
  test::Rng rng(13);
  const std::uint64_t cols = 900'000;
  Table table(ObjectKind::matrix, 2, std::vector<Column>(cols, {"", ValueType::i64}));
  for (std::uint64_t& cell : table.cells) cell = rng.bits() >> rng.below(64);
  test::write_text(dir / "t.csv", csv_of(table, dir));
  const Matrix matrix = Matrix::open(dir / "t.csv");
  const Region all{{0, 2}, {0, cols}};
  const std::vector<std::int64_t> cells = matrix.read<std::int64_t>(all);
  CHECK(std::equal(
      cells.begin(), cells.end(), table.cells.begin(), table.cells.end(),
      [](std::int64_t a, std::uint64_t b) { return a == static_cast<std::int64_t>(b); }));
}

TEST_CASE("csv write: any dialect of random numbers is read as a naive program reads it") {
  const test::TempDir dir;
  test::Rng rng(14);
  for (int i = 0; i < 200; ++i) {
    const char delimiter = ",;\t|"[rng.below(4)];
    const std::string line_end = rng.chance(50) ? "\n" : "\r\n";
    const std::uint64_t rows = rng.between(1, 30), cols = rng.between(1, 8);
    std::string text;
    std::vector<double> expected;
    for (std::uint64_t r = 0; r < rows; ++r) {
      for (std::uint64_t c = 0; c < cols; ++c) {
        std::string number = rng.chance(30) ? "-" : rng.chance(10) ? "+" : "";
        number += std::to_string(rng.below(rng.chance(50) ? 10 : 1'000'000'000));
        if (rng.chance(50)) number.append(".").append(std::to_string(rng.below(1'000'000)));
        if (rng.chance(20)) number.append("e").append(std::to_string(rng.below(20)));
        expected.push_back(std::strtod(number.c_str(), nullptr));
        const std::string_view blank = rng.chance(20) && delimiter != '\t' ? " " : "";
        const std::string_view quote = rng.chance(20) ? "\"" : "";
        if (c > 0) text += delimiter;
        text.append(quote).append(blank).append(number).append(blank).append(quote);
      }
      if (r + 1 < rows || rng.chance(50)) text += line_end;
    }
    CAPTURE(text);
    test::write_text(dir / "t.csv", text);
    const Matrix m = Matrix::open(
        dir / "t.csv", {.format = "",
                        .format_options = {{"csv.header", "false"},
                                           {"csv.delimiter", std::string(1, delimiter)}}});
    CHECK(m.read<double>({{0, rows}, {0, cols}}) == expected);
  }
}

TEST_CASE("csv write: f32 in digits that mean the same as f64, in the fewest only when asked") {
  const test::TempDir dir;
  Table table = frame({{"a", ValueType::f32}, {"b", ValueType::f64}}, 1);
  table.set(0, 0, 0.1f);
  table.set(0, 1, 0.1);
  CHECK(csv_of(table, dir) == "a,b\n0.10000000149011612,0.1\n");
  table.set(0, 0, 9007199254740992.0f);
  CHECK(csv_of(table, dir) == "a,b\n9007199254740992,0.1\n");
  table.set(0, 0, 0.1f);
  CHECK(csv_of(table, dir, {}, 1, true) == "a,b\n0.1,0.1\n");
}

TEST_CASE("csv write: any f32 reads back as f64 to the value that it has") {
  test::Rng rng(31);
  const test::TempDir dir;
  Table table{ObjectKind::matrix, 300, std::vector<Column>(3, {"", ValueType::f32})};
  for (std::uint64_t r = 0; r < table.rows; ++r) {
    for (std::uint64_t c = 0; c < 3; ++c) {
      const auto bits = static_cast<std::uint32_t>(rng.bits());
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      table.set(r, c, std::isfinite(value) ? value : -0.0f);
    }
  }
  const std::string text = csv_of(table, dir);
  const char* p = text.c_str();
  for (std::uint64_t r = 0; r < table.rows; ++r) {
    for (std::uint64_t c = 0; c < 3; ++c, ++p) {
      float value = 0;
      std::memcpy(&value, &table.at(r, c), sizeof value);
      char* end = nullptr;
      CHECK(std::strtod(p, &end) == static_cast<double>(value));
      p = end;
    }
  }
}
