// Delimited text as it is read: its lines, fields, header and shape.

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;

namespace {

using Cells = std::vector<double>;
using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("csv: numbers without a header are a matrix, of integers where all are integers") {
  test::CsvText csv;
  const auto ints = csv.open("1,2,3\n-4,5,6\n");
  CHECK(test::types_of(ints) == "matrix i64 i64 i64");
  CHECK(test::cells_of(ints) == Cells{1, 2, 3, -4, 5, 6});
  const auto mixed = csv.open("1,2.5\n3,4\n");
  CHECK(test::types_of(mixed) == "matrix f64 f64");
  CHECK(test::cells_of(mixed) == Cells{1, 2.5, 3, 4});
  CHECK(std::get<Matrix>(mixed).storage() == Storage::dense);
}

TEST_CASE("csv: a first line with a word in it is a header, and makes a frame") {
  test::CsvText csv;
  const auto frame = csv.open("a,b,\n1,2.5,3\n4,5,6\n");
  CHECK(test::types_of(frame) == "frame i64 f64 i64");
  CHECK(test::labels_of(frame) == Labels{"a", "b", ""});
  CHECK(test::cells_of(frame) == Cells{1, 2.5, 3, 4, 5, 6});
}

TEST_CASE("csv: the header can be said instead of guessed") {
  test::CsvText csv;
  const auto frame = csv.open("1,2\n3,4\n", {{"csv.header", "true"}});
  CHECK(test::labels_of(frame) == Labels{"1", "2"});
  CHECK(test::cells_of(frame) == Cells{3, 4});
  // Without one, the first line is a row, and columns with words get names.
  CHECK(test::labels_of(csv.open("a,b\n1,2\n", {{"csv.header", "false"}})) == Labels{"c0", "c1"});
}

TEST_CASE("csv: labels that look like numbers are a header when only they are quoted") {
  test::CsvText csv;
  CHECK(test::labels_of(csv.open("\"1\",\"\"\n3,4\n")) == Labels{"1", ""});
  CHECK(test::labels_of(csv.open("\"1\",\"2\"\n")) == Labels{"1", "2"});
  CHECK(test::types_of(csv.open("\"1\",\"2\"\n\"3\",\"4\"\n")) == "matrix i64 i64");
}

TEST_CASE("csv: labels keep their bytes, quoted or not") {
  test::CsvText csv;
  const auto frame =
      csv.open("a b , x\"y,\"c,d\",\"e\"\"f\",\"two\nlines\",\xc3\xa9\n1,2,3,4,5,6\n");
  CHECK(test::labels_of(frame) == Labels{"a b ", " x\"y", "c,d", "e\"f", "two\nlines", "\xc3\xa9"});
  CHECK(test::cells_of(frame) == Cells{1, 2, 3, 4, 5, 6});
}

TEST_CASE("csv: a header without rows is a frame of no rows, columns f64") {
  test::CsvText csv;
  for (const char* text : {"a,b", "a,b\n", "a,b\r\n", "a,b\n\n\r\n"}) {
    CAPTURE(text);
    const auto frame = csv.open(text);
    CHECK(test::types_of(frame) == "frame f64 f64");
    CHECK(std::get<Frame>(frame).rows() == 0);
  }
  CHECK(test::types_of(csv.open("a,b\n", {{"csv.type", "a=u8"}})) == "frame u8 f64");
}

TEST_CASE("csv: line ends, the last one missing, a byte order mark, trailing blank lines") {
  test::CsvText csv;
  for (const char* text : {"1,2\n3,4\n", "1,2\r\n3,4\r\n", "1,2\n3,4", "1,2\r\n3,4",
                           "\xef\xbb\xbf"
                           "1,2\n3,4\n",
                           "1,2\n3,4\n\n\r\n\n", "1,2\n3,4\r"}) {
    CAPTURE(text);
    CHECK(test::cells_of(csv.open(text)) == Cells{1, 2, 3, 4});
  }
}

TEST_CASE("csv: the delimiter is guessed, or given") {
  test::CsvText csv;
  CHECK(test::cells_of(csv.open("1;2\n3;4\n")) == Cells{1, 2, 3, 4});
  CHECK(test::cells_of(csv.open("1\t2\n3\t4\n")) == Cells{1, 2, 3, 4});
  CHECK(test::labels_of(csv.open("a,b;c,d\n1;2\n3;4\n")) == Labels{"a,b", "c,d"});
  CHECK(test::labels_of(csv.open("\"a;b\",c\n1,2\n")) == Labels{"a;b", "c"});
  CHECK(test::labels_of(csv.open("a;b\n1\n2\n")) == Labels{"a;b"});
  CHECK(test::cells_of(csv.open("1|2\n3|4\n", {{"csv.delimiter", "|"}})) == Cells{1, 2, 3, 4});
  CHECK(test::cells_of(csv.open("1;2\n\n\n")) ==
        Cells{1, 2});  // blank lines after the rows do not count
  CHECK(test::cells_of(csv.open("1 2\n3 4\n", {{"csv.delimiter", " "}})) == Cells{1, 2, 3, 4});
  CHECK(test::cells_of(csv.open("7\n8\n")) == Cells{7, 8});
  // A quote is one where a field begins, and nowhere else.
  CHECK(test::labels_of(csv.open("5\" disk;b\n1;2\n3;4\n")) == Labels{"5\" disk", "b"});
  CHECK(test::labels_of(csv.open("a;\"b;\nc\"\n1;2\n")) == Labels{"a", "b;\nc"});
  // Of one line, the one that is there most often, or the first of several.
  CHECK(test::labels_of(csv.open("a;b,c\n")) == Labels{"a", "b,c"});
  CHECK(test::labels_of(csv.open("a\tb,c;d\n")) == Labels{"a", "b,c;d"});
  CHECK(test::labels_of(csv.open("a;b,c,d\n")) == Labels{"a;b", "c", "d"});
  std::string genes = "a;b", zeros = "0";
  for (int i = 0; i < 20000; ++i) {
    genes += ",gene";
    zeros += ",0";
  }
  CHECK(test::labels_of(csv.open(genes + "\n" + zeros + "\n")).size() == 20001);
}

TEST_CASE("csv: a value may have the delimiter beside it in its quotes") {
  test::CsvText csv;
  const auto frame = csv.open("x\ty\tz\n\"\t5\"\t\"6\"\t\"7\t\"\n");
  CHECK(test::cells_of(frame) == Cells{5, 6, 7});
  for (std::uint64_t c = 0; c < 3; ++c) {
    CAPTURE(c);
    CHECK(std::get<Frame>(frame).read_column<double>(c, {0, 1})[0] == 5 + static_cast<double>(c));
  }
  const auto matrix = csv.open("\" 5 \" \"6 \" 7\n8 9 \" 10\"\n",
                               {{"csv.header", "false"}, {"csv.delimiter", " "}});
  CHECK(test::cells_of(matrix) == Cells{5, 6, 7, 8, 9, 10});
  CHECK(std::get<Matrix>(matrix).read<double>({{0, 2}, {2, 3}}) == Cells{7, 10});
  // The place of a value that does not fit is found in the same way.
  const auto error = error_of([&] { csv.open("x\ty\n\"\t5\"\t300\n", {{"csv.type", "*=u8"}}); });
  REQUIRE(error);
  CHECK(error->offset() == 9);
}

TEST_CASE("csv: fields may have quotes, blanks and signs around their numbers") {
  test::CsvText csv;
  const auto matrix = csv.open("\"1\", 2 ,+3\n\" -4 \",5,\"6e0\"\n");
  CHECK(test::types_of(matrix) == "matrix f64 f64 f64");
  CHECK(test::cells_of(matrix) == Cells{1, 2, 3, -4, 5, 6});
  CHECK(test::types_of(csv.open("\"1\", 2 ,\t+3\n\"4\",5,6\n", {{"csv.delimiter", ","}})) ==
        "matrix i64 i64 i64");
}

TEST_CASE("csv: a .meta file beside it gives shape, labels and types") {
  test::CsvText csv;
  csv.meta(R"({"numRows":2,"numCols":2,"schema":[{"label":"a","valueType":"f32"},
                                                 {"label":"b","valueType":"ui8"}]})");
  const auto frame = csv.open("1,2\n3,4\n");
  CHECK(test::types_of(frame) == "frame f32 u8");
  CHECK(test::labels_of(frame) == Labels{"a", "b"});
  CHECK(test::cells_of(frame) == Cells{1, 2, 3, 4});
  CHECK(test::types_of(csv.open("1,2\n3,4\n", {{"csv.type", "b=i16"}})) == "frame f32 i16");
  CHECK(test::cells_of(csv.open("x,y\n1,2\n3,4\n", {{"csv.header", "true"}})) == Cells{1, 2, 3, 4});

  csv.meta(R"({"numRows":2,"numCols":2,"valueType":"si32"})");
  CHECK(test::types_of(csv.open("1,2\n3,4\n")) == "matrix i32 i32");
  csv.meta(R"({"numRows":0,"numCols":1152921504606846976,"valueType":"si32"})");
  CHECK(std::get<Matrix>(csv.open("")).cols() == std::uint64_t{1} << 60);
}

TEST_CASE("csv: columns and rows are read in any order, type and layout") {
  test::CsvText csv;
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
        })->detail() == "2.5 in cell (0, 1) is not exact as i64");
}

TEST_CASE("csv: a large table is tiles of equal numbers of rows, read by any number of threads") {
  test::CsvText csv;
  std::string text = "row,half\n";
  const std::uint64_t rows = 200'000;
  for (std::uint64_t r = 0; r < rows; ++r) {
    text += std::to_string(r) + "," + std::to_string(r / 2) + (r % 2 == 0 ? "\n" : ".5\n");
  }
  const Frame frame = std::get<Frame>(csv.open(text));
  REQUIRE(frame.rows() == rows);
  CHECK(frame.counts().total > 3);
  for (const BlockInfo& block : frame.blocks()) {
    CHECK(block.pos.rx % default_tile(rows, 2).rows == 0);
  }
  std::vector<double> both(rows * 2);
  frame.read<double>({{0, rows}, {0, 2}}, std::span(both), 0, {.threads = 4});
  std::uint64_t wrong = 0;
  for (std::uint64_t r = 0; r < rows; ++r) {
    wrong += both[2 * r] != static_cast<double>(r) || both[2 * r + 1] != static_cast<double>(r) / 2;
  }
  CHECK(wrong == 0);
  CHECK(frame.read_column<double>(1, {rows - 1, rows})[0] == static_cast<double>(rows - 1) / 2);
}

TEST_CASE("csv: a first row that is far longer than the others makes no tile for each of these") {
  test::CsvText csv;
  std::string text = "1" + std::string(600'000, ' ') + "\n";
  for (int r = 0; r < 200'000; ++r) text += "2\n";
  const Matrix matrix = std::get<Matrix>(csv.open(text));
  CHECK(matrix.rows() == 200'001);
  CHECK(matrix.counts().total < text.size() / 50'000);
  const Cells all = test::cells_of(matrix);
  CHECK(std::count(all.begin() + 1, all.end(), 2.0) == 200'000);
  CHECK(matrix.read<double>({{200'000, 200'001}, {0, 1}}) == Cells{2});
}

TEST_CASE("csv: the wine quality table is what its numbers say") {
  const auto folder = test::golden("csv");
  const auto path = folder / "winequality-red-white.csv";
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
  CHECK(test::cells_of(frame) == expected);
}

TEST_CASE("csv: tables in other programs' dialects") {
  const auto folder = test::golden("csv");
  const OpenOptions csv{.format = "csv", .check = Check::never};
  const Frame iris = Frame::open(folder / "iris.txt", csv);
  CHECK(iris.rows() == 150);
  CHECK(iris.label(0) == "#Label");
  CHECK(iris.read_column<double>(1, {0, 2}) == Cells{5.1, 4.9});
  const Frame housing = Frame::open(folder / "housing.txt", csv);
  CHECK(housing.rows() == 506);
  CHECK(housing.cols() == 14);
  CHECK(housing.column_type(housing.column("CharlesRiver")) == ValueType::i64);
}

TEST_CASE("csv: a .txt file of tabs is delimited text, other .txt files are not") {
  const test::TempDir dir;
  test::write_text(dir / "t.txt", "a\tb\n1\t2.5\n");
  const auto object = open(dir / "t.txt");
  CHECK(test::types_of(object) == "frame i64 f64");
  test::write_text(dir / "t.txt", "Dear reader,\nthis is no table.\n");
  CHECK(test::error_of([&] { open(dir / "t.txt"); })->code() == Errc::not_recognised);
  test::write_text(dir / "t.txt", std::string_view("\0\t\n", 3));
  CHECK(test::error_of([&] { open(dir / "t.txt"); })->code() == Errc::not_recognised);
}

TEST_CASE("csv: what is compressed in another way says so") {
  const test::TempDir dir;
  const auto detail = [&](const char* name, std::string_view bytes) {
    test::write_text(dir / name, bytes);
    return test::error_of([&] { open(dir / name); }).value().detail();
  };
  CHECK(detail("t.xz", {"\xfd\x37zXZ\0rest", 10}) == "compressed with xz; decompress it first");
  CHECK(detail("t.csv", "BZh91AY&SYrest") == "compressed with bzip2; decompress it first");
  CHECK(
      detail("t.zip", "PK\x03\x04rest") ==
      "a ZIP archive, but not one of NumPy arrays; unpack it first, or save a spreadsheet as CSV");
}

TEST_CASE("csv: what is no table is not taken for one because of its name") {
  const test::TempDir dir;
  const auto told = [&](std::string_view bytes, const char* format = "") {
    test::write_text(dir / "t.csv", bytes);
    const auto error = test::error_of([&] { open(dir / "t.csv", {.format = format}); });
    return error ? error->detail() : "no error";
  };
  const std::string lfs =
      "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  for (const char* const format : {"", "csv"}) {
    CAPTURE(format);
    CHECK(told(lfs, format) ==
          "a pointer that Git LFS left in place of the file; 'git lfs pull' gets the file itself");
    for (const char* const page : {"<!DOCTYPE html>\n<html>", "\xef\xbb\xbf \n<HTML lang=en>"}) {
      CHECK(told(page, format) ==
            "a web page, perhaps one that says why the file could not be had");
    }
    CHECK(told("PAR1,1,2PAR1", format) ==
          "a Parquet file, which pydapple converts, as does 'dapple convert' where that is "
          "installed");
    CHECK(told({"ARROW1\0\0,", 9}, format) ==
          "an Arrow file (Feather), which pydapple converts, as does 'dapple convert' where that "
          "is installed");
    CHECK(told({"a,\0b\n1,2\n", 9}, format) ==
          "the file is no text: its first line has a zero byte");
  }
  for (const char* const json :
       {"{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n", "[{\"a\":1},\n{\"a\":2}]"}) {
    CHECK(told(json) == "JSON, perhaps an object a line; make it CSV first");
  }
  CHECK(told("{\"a\": 1, \"b\": 2}\n", "csv") == "no error");  // who asks for it gets words
  CHECK(told("<?xml version=\"1.0\"?>\n<r>1,2</r>\n") == "an XML document");
  CHECK(told("\xff\xd8\xff\xe0,1\n") == "a JPEG picture");
  CHECK(told("GIF89a,1\n") == "a GIF picture");
  CHECK(told("{a},b\n1,2\n") == "no error");
  CHECK(told("PAR1,PAR2\n1,2\n") == "no error");
  CHECK(told("BZh,b\n1,2\n") == "no error");
  CHECK(told("<htm,b\n1,2\n") == "no error");
}
