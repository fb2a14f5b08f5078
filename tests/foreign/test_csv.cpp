#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using test::error_of;
using test::Table;

namespace {

/// Opens delimited text that came as a file of that name.
class Csv {
 public:
  std::variant<Matrix, Frame> open(std::string_view text, const CsvOptions& csv = {}) {
    const auto path = dir_ / "t.csv";
    test::write_text(path, text);
    return dapple::open(path, {.format = "", .check = Check::never, .csv = csv});
  }
  void meta(std::string_view text) { test::write_text(dir_ / "t.csv.meta", text); }
  const test::TempDir& dir() const { return dir_; }

 private:
  test::TempDir dir_;
};

/// Types of the columns: "i64 f64".
std::string types(const std::variant<Matrix, Frame>& object) {
  const auto& base = std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
  std::string names = std::holds_alternative<Matrix>(object) ? "matrix" : "frame";
  for (std::uint64_t c = 0; c < base.cols(); ++c) {
    names += ' ';
    names += name(base.column_type(c));
  }
  return names;
}

std::vector<std::string> labels(const std::variant<Matrix, Frame>& object) {
  const Frame& frame = std::get<Frame>(object);
  std::vector<std::string> all;
  for (std::uint64_t c = 0; c < frame.cols(); ++c) all.push_back(frame.label(c));
  return all;
}

/// All cells, row after row.
std::vector<double> cells(const std::variant<Matrix, Frame>& object) {
  return std::visit(
      [](const auto& o) {
        std::vector<double> all(o.rows() * o.cols());
        o.template read<double>({{0, o.rows()}, {0, o.cols()}}, std::span<double>(all));
        return all;
      },
      object);
}

using Cells = std::vector<double>;
using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("csv: numbers without a header are a matrix, of integers where all are integers") {
  Csv csv;
  const auto ints = csv.open("1,2,3\n-4,5,6\n");
  CHECK(types(ints) == "matrix i64 i64 i64");
  CHECK(cells(ints) == Cells{1, 2, 3, -4, 5, 6});
  const auto mixed = csv.open("1,2.5\n3,4\n");
  CHECK(types(mixed) == "matrix f64 f64");
  CHECK(cells(mixed) == Cells{1, 2.5, 3, 4});
  CHECK(std::get<Matrix>(mixed).storage() == Storage::dense);
}

TEST_CASE("csv: a first line with a word in it is a header, and makes a frame") {
  Csv csv;
  const auto frame = csv.open("a,b,\n1,2.5,3\n4,5,6\n");
  CHECK(types(frame) == "frame i64 f64 i64");
  CHECK(labels(frame) == Labels{"a", "b", ""});
  CHECK(cells(frame) == Cells{1, 2.5, 3, 4, 5, 6});
}

TEST_CASE("csv: the header can be said instead of guessed") {
  Csv csv;
  const auto frame = csv.open("1,2\n3,4\n", {.header = true});
  CHECK(labels(frame) == Labels{"1", "2"});
  CHECK(cells(frame) == Cells{3, 4});
  CHECK(error_of([&] { csv.open("a,b\n1,2\n", {.header = false}); })->code() == Errc::unsupported);
}

TEST_CASE("csv: labels that look like numbers are a header when only they are quoted") {
  Csv csv;
  CHECK(labels(csv.open("\"1\",\"\"\n3,4\n")) == Labels{"1", ""});
  CHECK(labels(csv.open("\"1\",\"2\"\n")) == Labels{"1", "2"});
  CHECK(types(csv.open("\"1\",\"2\"\n\"3\",\"4\"\n")) == "matrix i64 i64");
}

TEST_CASE("csv: labels keep their bytes, quoted or not") {
  Csv csv;
  const auto frame =
      csv.open("a b , x\"y,\"c,d\",\"e\"\"f\",\"two\nlines\",\xc3\xa9,\xff\n1,2,3,4,5,6,7\n");
  CHECK(labels(frame) == Labels{"a b ", " x\"y", "c,d", "e\"f", "two\nlines", "\xc3\xa9", "\xff"});
  CHECK(cells(frame) == Cells{1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("csv: a header without rows is a frame of no rows, columns f64") {
  Csv csv;
  for (const char* text : {"a,b", "a,b\n", "a,b\r\n", "a,b\n\n\r\n"}) {
    CAPTURE(text);
    const auto frame = csv.open(text);
    CHECK(types(frame) == "frame f64 f64");
    CHECK(std::get<Frame>(frame).rows() == 0);
  }
  CHECK(types(csv.open("a,b\n", {.types = {{"a", ValueType::u8}}})) == "frame u8 f64");
}

TEST_CASE("csv: line ends, the last one missing, a byte order mark, trailing blank lines") {
  Csv csv;
  for (const char* text : {"1,2\n3,4\n", "1,2\r\n3,4\r\n", "1,2\n3,4", "1,2\r\n3,4",
                           "\xef\xbb\xbf"
                           "1,2\n3,4\n",
                           "1,2\n3,4\n\n\r\n\n", "1,2\n3,4\r"}) {
    CAPTURE(text);
    CHECK(cells(csv.open(text)) == Cells{1, 2, 3, 4});
  }
}

TEST_CASE("csv: the delimiter is guessed, or given") {
  Csv csv;
  CHECK(cells(csv.open("1;2\n3;4\n")) == Cells{1, 2, 3, 4});
  CHECK(cells(csv.open("1\t2\n3\t4\n")) == Cells{1, 2, 3, 4});
  CHECK(labels(csv.open("a,b;c,d\n1;2\n3;4\n")) == Labels{"a,b", "c,d"});
  CHECK(labels(csv.open("\"a;b\",c\n1,2\n")) == Labels{"a;b", "c"});
  CHECK(labels(csv.open("a;b\n1\n2\n")) == Labels{"a;b"});
  CHECK(cells(csv.open("1|2\n3|4\n", {.delimiter = '|'})) == Cells{1, 2, 3, 4});
  CHECK(cells(csv.open("1;2\n\n\n")) == Cells{1, 2});  // blank lines behind the rows do not count
  CHECK(cells(csv.open("1 2\n3 4\n", {.delimiter = ' '})) == Cells{1, 2, 3, 4});
  CHECK(cells(csv.open("7\n8\n")) == Cells{7, 8});
  // A quote is one where a field begins, and nowhere else.
  CHECK(labels(csv.open("5\" disk;b\n1;2\n3;4\n")) == Labels{"5\" disk", "b"});
  CHECK(labels(csv.open("a;\"b;\nc\"\n1;2\n")) == Labels{"a", "b;\nc"});
  // Of one line, the one that stands there most often, or the first of several.
  CHECK(labels(csv.open("a;b,c\n")) == Labels{"a", "b,c"});
  CHECK(labels(csv.open("a\tb,c;d\n")) == Labels{"a", "b,c;d"});
  CHECK(labels(csv.open("a;b,c,d\n")) == Labels{"a;b", "c", "d"});
  std::string genes = "a;b", zeros = "0";
  for (int i = 0; i < 20000; ++i) {
    genes += ",gene";
    zeros += ",0";
  }
  CHECK(labels(csv.open(genes + "\n" + zeros + "\n")).size() == 20001);
}

TEST_CASE("csv: a value may have the delimiter beside it in its quotes") {
  Csv csv;
  const auto frame = csv.open("x\ty\tz\n\"\t5\"\t6\t\"7\t\"\n");
  CHECK(cells(frame) == Cells{5, 6, 7});
  for (std::uint64_t c = 0; c < 3; ++c) {
    CAPTURE(c);
    CHECK(std::get<Frame>(frame).read_column<double>(c, {0, 1})[0] == 5 + static_cast<double>(c));
  }
  const auto matrix =
      csv.open("\" 5 \" \"6 \" 7\n8 9 \" 10\"\n", {.header = false, .delimiter = ' '});
  CHECK(cells(matrix) == Cells{5, 6, 7, 8, 9, 10});
  CHECK(std::get<Matrix>(matrix).read<double>({{0, 2}, {2, 3}}) == Cells{7, 10});
  // The place of a value that does not fit is found in the same way.
  const Frame large = std::get<Frame>(csv.open("x\ty\n\"\t5\"\t300\n"));
  std::vector<std::uint8_t> bytes(2);
  const auto error = error_of([&] { large.read<std::uint8_t>({{0, 1}, {0, 2}}, bytes); });
  REQUIRE(error);
  CHECK(error->offset() == 9);
}

TEST_CASE("csv: fields may have quotes, blanks and signs around their numbers") {
  Csv csv;
  const auto matrix = csv.open("\"1\", 2 ,+3\n\" -4 \",5,\"6e0\"\n");
  CHECK(types(matrix) == "matrix f64 f64 f64");
  CHECK(cells(matrix) == Cells{1, 2, 3, -4, 5, 6});
  CHECK(types(csv.open("\"1\", 2 ,\t+3\n\"4\",5,6\n", {.delimiter = ','})) == "matrix i64 i64 i64");
}

TEST_CASE("csv: integers become i64, u64 where only that holds them, else f64") {
  Csv csv;
  CHECK(types(csv.open("a\n9223372036854775807\n-9223372036854775808\n")) == "frame i64");
  CHECK(types(csv.open("a\n9223372036854775808\n1\n")) == "frame u64");
  CHECK(types(csv.open("a\n18446744073709551615\n")) == "frame u64");
  CHECK(types(csv.open("a\n18446744073709551616\n")) == "frame f64");
  CHECK(types(csv.open("a\n9223372036854775808\n-1\n")) == "frame f64");
  CHECK(types(csv.open("a\n-9223372036854777856\n")) == "frame f64");
  CHECK(types(csv.open("a\n000000000000000000000000012\n")) == "frame i64");
  CHECK(types(csv.open("a,b\n18446744073709551615,1.5\n")) == "frame u64 f64");
  CHECK(types(csv.open("18446744073709551615,1\n")) == "matrix u64 u64");
  CHECK(types(csv.open("18446744073709551616,1\n")) == "matrix f64 f64");
  const auto big = csv.open("18446744073709551615\n");
  CHECK(std::get<Matrix>(big).read<std::uint64_t>({{0, 1}, {0, 1}})[0] == ~std::uint64_t{0});
}

TEST_CASE("csv: minus zero, nan and infinities are floats") {
  Csv csv;
  const auto frame = csv.open("a,b,c,d\n-0,nan,inf,-Infinity\n1,2,3,4\n");
  CHECK(types(frame) == "frame f64 f64 f64 f64");
  const Cells all = cells(frame);
  CHECK(std::signbit(all[0]));
  CHECK(std::isnan(all[1]));
  CHECK(all[2] == std::numeric_limits<double>::infinity());
  CHECK(all[3] == -std::numeric_limits<double>::infinity());
}

TEST_CASE("csv: an integer that f64 cannot hold is not rounded for its neighbours' sake") {
  Csv csv;
  CHECK(types(csv.open("9007199254740992,0.5\n")) == "matrix f64 f64");
  CHECK(types(csv.open("18014398509481984,0.5\n")) == "matrix f64 f64");
  const auto error = error_of([&] { csv.open("9007199254740993,0.5\n"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::type_mismatch);
  CHECK(error->offset() == 0);
  CHECK(error->detail() ==
        "expected an integer that f64, the type of the other columns, holds in line 1, column 1, "
        "got '9007199254740993' (a header line makes it a frame, --type '0=f64' rounds it)");
  CHECK(error_of([&] { csv.open("-1,18446744073709551615\n"); })->code() == Errc::type_mismatch);
  // Of those beyond 2^53 f64 holds some, and writers of f64 print them so.
  CHECK(types(csv.open("1152921504606846976,0.5\n")) == "matrix f64 f64");
  CHECK(types(csv.open("9223372036854775808,1\n-9223372036854775808,2\n")) == "matrix f64 f64");
  CHECK(types(csv.open("9007199254740993,0.5\n", {.types = {{"0", ValueType::f64}}})) ==
        "matrix f64 f64");
  CHECK(types(csv.open("a,b\n9007199254740993,0.5\n")) == "frame i64 f64");
}

TEST_CASE("csv: integers of more than 64 bits are not rounded unasked") {
  Csv csv;
  // 10^22 is the largest power of ten that f64 holds.
  CHECK(cells(csv.open("a,b\n1,10000000000000000000000\n")) == Cells{1, 1e22});
  CHECK(types(csv.open("a\n-9223372036854775809\n0.5\n")) == "frame f64");
  const auto error = error_of([&] { csv.open("a,b\n1,2\n3, 100000000000000000000000 \n"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::type_mismatch);
  CHECK(error->offset() == 11);
  CHECK(error->detail() ==
        "expected integers that one of i64, u64 and f64 holds in line 3, column 2 ('b'), got "
        "'100000000000000000000000' (--type 'b=f64' rounds it)");
  const std::map<std::string, ValueType> rounded = {{"b", ValueType::f64}};
  CHECK(cells(csv.open("b\n100000000000000000000000\n", {.types = rounded})) == Cells{1e23});
  // The hint says what can be typed: a number for other labels, nothing where that is a label.
  const auto hint = [&](const std::string& labels) {
    const auto found = error_of([&] { csv.open(labels + "\n1,100000000000000000000000\n"); });
    REQUIRE(found);
    const std::string detail = found->detail();
    return detail.substr(detail.find("got '100000000000000000000000'") + 30);
  };
  CHECK(hint("a,gr\xc3\xb6\xc3\x9f") == " (--type '1=f64' rounds it)");
  CHECK(hint("a,a") == " (--type '1=f64' rounds it)");
  CHECK(hint("a," + std::string(33, 'b')) == " (--type '1=f64' rounds it)");
  CHECK(hint("\"1\",") == "");
  CHECK(error_of([&] { csv.open("a\n1" + std::string(400, '0') + "1\n"); })
            ->detail()
            .find("--type") == std::string::npos);
  CHECK(error_of([&] { csv.open("a\n-1\n18446744073709551615\n"); })->offset() == 5);
  CHECK(error_of([&] { csv.open("a\n-9223372036854775809\n"); })->offset() == 2);
}

TEST_CASE("csv: types can be given by label and by number") {
  Csv csv;
  const auto frame =
      csv.open("a,b,c\n1,2,3\n", {.types = {{"a", ValueType::u8}, {"1", ValueType::f32}}});
  CHECK(types(frame) == "frame u8 f32 i64");
  CHECK(cells(frame) == Cells{1, 2, 3});
  // A label is looked for first.
  CHECK(types(csv.open("1,x\n5,6\n", {.types = {{"1", ValueType::i8}}})) == "frame i8 i64");
  const std::map<std::string, ValueType> all = {{"0", ValueType::i16}, {"1", ValueType::i16}};
  CHECK(types(csv.open("1,2\n", {.types = all})) == "matrix i16 i16");
  CHECK(types(csv.open("1,2\n", {.types = {{"0", ValueType::i16}}})) == "matrix i64 i64");
  CHECK(types(csv.open("0.5,2\n", {.types = {{"0", ValueType::f32}}})) == "matrix f64 f64");
  // What a given type does not hold is an error, and what it rounds is rounded, though all columns
  // together have a wider one.
  const auto rounded = csv.open("0.1,2.5\n", {.types = {{"0", ValueType::f32}}});
  CHECK(types(rounded) == "matrix f64 f64");
  CHECK(cells(rounded) == Cells{static_cast<double>(0.1F), 2.5});
  const auto narrow = csv.open("255,1\n300,-2\n", {.types = {{"0", ValueType::u8}}});
  CHECK(types(narrow) == "matrix i64 i64");
  CHECK(std::get<Matrix>(narrow).read<std::int64_t>({{0, 2}, {1, 2}}) ==
        std::vector<std::int64_t>{1, -2});
  const auto beyond = error_of([&] { cells(narrow); });
  REQUIRE(beyond);
  CHECK(beyond->code() == Errc::type_mismatch);
  CHECK(beyond->detail() == "expected a value of type u8 in line 2, column 1, got '300'");
  const auto error = error_of([&] { csv.open("a\n1\n", {.types = {{"b", ValueType::i8}}}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  CHECK(error->detail() ==
        "expected a column's label or its number below 1 to give a type to, got 'b'");
}

TEST_CASE("csv: f32 is read from the text, not by way of f64") {
  Csv csv;
  // Just above the middle between two floats, by less than a double shows.
  const std::string text = "1.00000005960464477540";
  const auto frame = csv.open("a\n" + text + "\n", {.types = {{"a", ValueType::f32}}});
  CHECK(std::get<Frame>(frame).read_column<float>(0, {0, 1})[0] ==
        std::strtof(text.c_str(), nullptr));
}

TEST_CASE("csv: missing values are NaN where that is asked for") {
  Csv csv;
  const auto frame = csv.open("a,b,c\n1,NA,\n,N/A,?\n\"\",2, \n", {.missing_as_nan = true});
  CHECK(types(frame) == "frame f64 f64 f64");
  const Cells all = cells(frame);
  const std::vector<bool> missing = {false, true, true, true, true, true, true, false, true};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(std::isnan(all[i]) == missing[i]);
    if (missing[i]) CHECK(std::bit_cast<std::uint64_t>(all[i]) == 0x7ff8000000000000u);
  }
  const auto narrow =
      csv.open("a\nNA\n", {.missing_as_nan = true, .types = {{"a", ValueType::f32}}});
  CHECK(types(narrow) == "frame f32");
  CHECK(std::isnan(cells(narrow)[0]));
}

TEST_CASE("csv: a .meta file beside it gives shape, labels and types") {
  Csv csv;
  csv.meta(R"({"numRows":2,"numCols":2,"schema":[{"label":"a","valueType":"f32"},
                                                 {"label":"b","valueType":"ui8"}]})");
  const auto frame = csv.open("1,2\n3,4\n");
  CHECK(types(frame) == "frame f32 u8");
  CHECK(labels(frame) == Labels{"a", "b"});
  CHECK(cells(frame) == Cells{1, 2, 3, 4});
  CHECK(types(csv.open("1,2\n3,4\n", {.types = {{"b", ValueType::i16}}})) == "frame f32 i16");
  CHECK(cells(csv.open("x,y\n1,2\n3,4\n", {.header = true})) == Cells{1, 2, 3, 4});

  csv.meta(R"({"numRows":2,"numCols":2,"valueType":"si32"})");
  CHECK(types(csv.open("1,2\n3,4\n")) == "matrix i32 i32");
  csv.meta(R"({"numRows":0,"numCols":1152921504606846976,"valueType":"si32"})");
  CHECK(std::get<Matrix>(csv.open("")).cols() == std::uint64_t{1} << 60);
}

TEST_CASE("csv: columns and rows are read in any order, type and layout") {
  Csv csv;
  const Frame frame = std::get<Frame>(csv.open("a,b,c\n1,2.5,3\n4,5.5,6\n7,8.5,9\n"));
  CHECK(frame.read_column<double>(1, {1, 3}) == Cells{5.5, 8.5});
  std::vector<double> c(2), a(2);
  std::vector<std::int16_t> again(2);
  const std::vector<ColumnBuffer> buffers = {
      {2, ValueType::f64, reinterpret_cast<std::byte*>(c.data()), 8},
      {0, ValueType::f64, reinterpret_cast<std::byte*>(a.data()), 8},
      {2, ValueType::i16, reinterpret_cast<std::byte*>(again.data()), 2}};
  frame.read_rows({1, 3}, buffers);
  CHECK(c == Cells{6, 9});
  CHECK(a == Cells{4, 7});
  CHECK(again == std::vector<std::int16_t>{6, 9});
  CHECK(error_of([&] {
          frame.read_column<std::int64_t>(1, {0, 1});
        })->detail() == "expected a value of type i64 in line 2, column 2 ('b'), got '2.5'");
}

TEST_CASE("csv: a large table is strips of equal numbers of rows, read by any number of threads") {
  Csv csv;
  std::string text = "row,half\n";
  const std::uint64_t rows = 200'000;
  for (std::uint64_t r = 0; r < rows; ++r) {
    text += std::to_string(r) + "," + std::to_string(r / 2) + (r % 2 == 0 ? "\n" : ".5\n");
  }
  const Frame frame = std::get<Frame>(csv.open(text));
  REQUIRE(frame.rows() == rows);
  REQUIRE(frame.grid());
  CHECK(frame.counts().total == frame.grid()->rows);
  CHECK(frame.counts().total > 3);
  std::uint64_t bytes = 9;  // the header
  for (const BlockInfo& block : frame.blocks()) {
    CHECK(block.offset == bytes);
    bytes += block.bytes;
  }
  CHECK(bytes == text.size());
  std::vector<double> both(rows * 2);
  frame.read<double>({{0, rows}, {0, 2}}, std::span(both), 0, {.threads = 4});
  std::uint64_t wrong = 0;
  for (std::uint64_t r = 0; r < rows; ++r) {
    wrong += both[2 * r] != static_cast<double>(r) || both[2 * r + 1] != static_cast<double>(r) / 2;
  }
  CHECK(wrong == 0);
  CHECK(frame.read_column<double>(1, {rows - 1, rows})[0] == static_cast<double>(rows - 1) / 2);
}

TEST_CASE("csv: a first row that is far longer than the others makes no strip for each of these") {
  Csv csv;
  std::string text = "1" + std::string(600'000, ' ') + "\n";
  for (int r = 0; r < 200'000; ++r) text += "2\n";
  const Matrix matrix = std::get<Matrix>(csv.open(text));
  CHECK(matrix.rows() == 200'001);
  CHECK(matrix.counts().total < text.size() / 50'000);
  const Cells all = cells(matrix);
  CHECK(std::count(all.begin() + 1, all.end(), 2.0) == 200'000);
  CHECK(matrix.read<double>({{200'000, 200'001}, {0, 1}}) == Cells{2});
}

TEST_CASE("csv: the wine quality table is what its numbers say") {
  const auto folder = test::fixtures_or_skip("csv");
  if (!folder) return;
  const auto path = *folder / "winequality-red-white.csv";
  const Frame frame = Frame::open(path);
  CHECK(frame.rows() == 6497);
  CHECK(frame.cols() == 13);
  CHECK(frame.label(0) == "fixed acidity");
  CHECK(frame.column_type(frame.column("quality")) == ValueType::i64);
  // A naive reading of the same text.
  const std::string text = test::read_text(path);
  std::vector<double> expected;
  for (const char* p = text.c_str(); *p != '\0';) {
    char* end = nullptr;
    expected.push_back(std::strtod(p, &end));
    p = end;
    while (*p == ',' || *p == '\n' || *p == '\r') ++p;
  }
  CHECK(cells(frame) == expected);
}

TEST_CASE("csv: tables in other programs' dialects") {
  const auto folder = test::fixtures_or_skip("csv");
  if (!folder) return;
  const OpenOptions csv{.format = "csv", .check = Check::never, .csv = {}};
  const Frame iris = Frame::open(*folder / "iris.txt", csv);
  CHECK(iris.rows() == 150);
  CHECK(iris.label(0) == "#Label");
  CHECK(iris.read_column<double>(1, {0, 2}) == Cells{5.1, 4.9});
  const Frame housing = Frame::open(*folder / "housing.txt", csv);
  CHECK(housing.rows() == 506);
  CHECK(housing.cols() == 14);
  CHECK(housing.column_type(housing.column("CharlesRiver")) == ValueType::i64);
}
