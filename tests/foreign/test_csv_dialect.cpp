// How delimited text may be written otherwise: comments, lines before the table, decimal commas,
// lines that end in a carriage return.

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/support.h"

using namespace dapple;
using DialectLabels = std::vector<std::string>;
using DialectCells = std::vector<double>;

namespace {

std::string error_text(const std::string& csv, const FormatOptions& options = {}) {
  test::CsvText text;
  const auto error = test::error_of([&] { text.open(csv, options); });
  return error ? std::string(name(error->code())) + ": " + error->detail() : "no error";
}

}  // namespace

TEST_CASE("csv dialect: comments are no part of the table, wherever they are") {
  test::CsvText text;
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    CAPTURE(end);
    std::string csv;
    for (const char* const line :
         {"# made, by \"hand", "a;b", "#", "1;2", "# 9;9;9", "#9;9", "3;4", "", "#last", ""}) {
      csv += line + end;
    }
    const auto object = text.open(csv, {{"csv.comment", "#"}});
    CHECK(test::labels_of(object) == DialectLabels{"a", "b"});
    CHECK(test::cells_of(object) == DialectCells{1, 2, 3, 4});
  }
  const auto vcf =
      text.open("##fileformat=VCFv4.2\n##x\n#CHROM\tPOS\n1\t7\n2\t9\n", {{"csv.comment", "##"}});
  CHECK(test::labels_of(vcf) == DialectLabels{"#CHROM", "POS"});
  CHECK(test::cells_of(vcf) == DialectCells{1, 7, 2, 9});
  CHECK(test::cells_of(text.open("1,2\n// no\n3,4\n//", {{"csv.comment", "//"}})) ==
        DialectCells{1, 2, 3, 4});
  // Not asked for, it is a word; nor does one start in a row or in quotes.
  CHECK(test::types_of(text.open("a,b\n#1,2\n3,4\n")) == "frame u8 i64");
  const auto word = text.open("a,b\n1,\"x\n#y\"\n2,z#\n", {{"csv.comment", "#"}});
  CHECK(std::get<Frame>(word).rows() == 2);
}

TEST_CASE("csv dialect: delimiters in quotes that follow another one are none") {
  test::CsvText text;
  for (const char* const csv :
       {"x,\"y;z\"\n1,\"a;b\"\n2,\"c;d\"\n", "x,\"y\tz\"\n1,\"a\tb\"\n2,\"c\td\"\n", "x,\"y;z\"\n",
        "x;\"y\tz\"\n1;\"a\tb\"\n"}) {
    CAPTURE(csv);
    const auto object = text.open(csv);
    CHECK(test::labels_of(object).front() == "x");
    CHECK(std::get<Frame>(object).cols() == 2);
  }
  // Quotes that begin no field are part of it.
  CHECK(test::labels_of(text.open("a 1\";b\n1;2\n")) == DialectLabels{"a 1\"", "b"});
  CHECK(test::labels_of(text.open("a,\"1\";b\n1;2\n")) == DialectLabels{"a,\"1\"", "b"});
}

TEST_CASE("csv dialect: comments count as lines in messages, and not as rows") {
  CHECK(error_text("a,b\n#\n1,2\n#\n3\n", {{"csv.comment", "#"}}) ==
        "corrupt: line 5 has 1 field where the others have 2");
  CHECK(error_text("a,b\n1,2\n#\n3,x\n", {{"csv.comment", "#"}, {"csv.type", "b=u8"}}) ==
        "type_mismatch: line 4, column 2 ('b'): 'x' is not a number");
  CHECK(
      error_text("a,b\n1,2\n#\n3,\xe9\n", {{"csv.comment", "#"}}) ==
      "unsupported: line 4, column 2 ('b'): '\\xe9' is not UTF-8; convert the text to UTF-8 first");
  test::CsvText text;
  text.meta("{\"numRows\": 2, \"numCols\": 2, \"valueType\": \"f64\"}");
  CHECK(test::cells_of(text.open("#\n1,2\n#\n3,4\n", {{"csv.comment", "#"}})) ==
        DialectCells{1, 2, 3, 4});
}

TEST_CASE("csv dialect: a comment must not look like a row") {
  CHECK(error_text("a;b\n1;2\n", {{"csv.comment", ";"}}) ==
        "invalid_argument: ';' cannot start a comment: a row may start so");
  for (const char* const comment : {"\"", "7", "\n", "\r#"}) {
    CHECK(error_text("a;b\n1;2\n", {{"csv.comment", comment}}).starts_with("invalid_argument"));
  }
}

TEST_CASE("csv dialect: lines before the table are skipped") {
  test::CsvText text;
  const std::string csv = "Report, \"2024\n\nDate\na;b\n1;2\n3;4\n5;6\n";
  const auto object = text.open(csv, {{"csv.skip", "3"}});
  CHECK(test::labels_of(object) == DialectLabels{"a", "b"});
  CHECK(test::cells_of(object) == DialectCells{1, 2, 3, 4, 5, 6});
  CHECK(test::cells_of(text.open("sep=|\nx\n1|2\n3|4\n", {{"csv.skip", "2"}})) ==
        DialectCells{1, 2, 3, 4});
  CHECK(test::cells_of(text.open("\xef\xbb\xbfx\r1,2\r3,4", {{"csv.skip", "1"}})) ==
        DialectCells{1, 2, 3, 4});
  // The first line of the table is looked at as that of a file is.
  CHECK(error_text(std::string("x\na,\0b\n1,2\n", 11), {{"csv.skip", "1"}}) ==
        "not_recognised: the file is no text: its first line has a zero byte");
  CHECK(error_text("a\n1\n", {{"csv.skip", "9"}}) ==
        "corrupt: after the lines that are skipped there is neither a label nor a value");
  CHECK(error_text("x\na,b\n1,2\n3\n", {{"csv.skip", "1"}}) ==
        "corrupt: line 4 has 1 field where the others have 2");
}

TEST_CASE("csv dialect: the error names the lines before a table") {
  CHECK(error_text("Title\n\nmade,by,x,y,z\na;b;c\n1;2;3\n4;5;6\n") ==
        "corrupt: line 1 has 1 field where those from line 4 on have 3; the option skip (3) leaves "
        "out what is before them");
  CHECK(error_text("Title\na,b,c\n1,2,3\n3,4,5\n") ==
        "corrupt: line 1 has 1 field where those from line 2 on have 3; the option skip (1) leaves "
        "out what is before them");
}

TEST_CASE("csv dialect: decimal commas") {
  test::CsvText text;
  const FormatOptions comma{{"csv.decimal", ","}};
  const auto object = text.open(
      "x;y;z;w\n1,5;-0,25;7;1.5\n+,5;1,e3;8;b\n\"2,25\"; 1,0 "
      ";9;1.234,5\n1e2;12345678901234567,25;10;c\n",
      comma);
  CHECK(test::types_of(object) == "frame f64 f64 i64 u8");
  const Frame& frame = std::get<Frame>(object);
  CHECK(frame.read_column<double>(0, {0, 4}) == DialectCells{1.5, 0.5, 2.25, 100});
  CHECK(frame.read_column<double>(1, {0, 4}) == DialectCells{-0.25, 1000, 1, 12345678901234567.25});
  const auto& words = *frame.column_info(3).meaning.words;
  CHECK(words[0] == "1.5");
  CHECK(words[2] == "1.234,5");
  CHECK(test::cells_of(text.open("1,5\t2\n3\t4,75\n", comma)) == DialectCells{1.5, 2, 3, 4.75});
  CHECK(test::cells_of(text.open("1,5\n2,5\n", comma)) == DialectCells{1.5, 2.5});
  const auto single =
      text.open("a;b\n0,1;3\n0,2;4\n", {{"csv.decimal", ","}, {"csv.type", "a=f32"}});
  CHECK(std::get<Frame>(single).read_column<float>(0, {0, 2}) == std::vector<float>{0.1F, 0.2F});
  CHECK(error_text("a;b\n1,5;2\n", {{"csv.decimal", ","}, {"csv.type", "a=i32"}}) ==
        "type_mismatch: line 2, column 1 ('a'): '1,5' does not fit i32");
  CHECK(error_text("a,b\n1,2\n", {{"csv.delimiter", ","}, {"csv.decimal", ","}}) ==
        "invalid_argument: ',' cannot be both the delimiter and the decimal");
  CHECK(error_text("a\n1\n", {{"csv.decimal", "'"}}) ==
        "invalid_argument: the option 'csv.decimal' must be '.' or ',', not '''");
  const FormatOptions marked{
      {"csv.decimal", ","}, {"csv.missing_as_nan", "true"}, {"csv.missing_word", "-9,9"}};
  const auto missing = test::cells_of(text.open("a;b\n-9,9;1\n2,5;3\n", marked));
  CHECK(std::isnan(missing[0]));
  CHECK(missing[2] == 2.5);
}

TEST_CASE("csv dialect: lines may end in a carriage return alone") {
  test::CsvText text;
  for (const std::string end : {"\r", "\r\n", "\n"}) {
    CAPTURE(end);
    const std::string rows = "a,b" + end + "1,x" + end + "2,\"y\rz\"" + end + "3,w";
    for (const std::string& csv : {rows, rows + end, rows + end + end}) {
      const auto object = text.open(csv);
      CHECK(test::labels_of(object) == DialectLabels{"a", "b"});
      const Frame& frame = std::get<Frame>(object);
      CHECK(frame.read_column<double>(0, {0, 3}) == DialectCells{1, 2, 3});
      CHECK((*frame.column_info(1).meaning.words)[1] == "y\rz");
    }
  }
  CHECK(test::cells_of(text.open("1,2\r3,4\n5,6\r\n7,8\r")) ==
        DialectCells{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(error_text("a,b\r1,2\r3\r") == "corrupt: line 3 has 1 field where the others have 2");
  // More than a thread takes at once.
  std::string many = "n,m\r";
  for (int i = 0; i < 400'000; ++i) many += std::to_string(i) + ",7\r";
  const auto object = text.open(many);
  const auto column = std::get<Frame>(object).read_column<double>(0, {0, 400'000});
  for (std::size_t i = 0; i < column.size(); i += 997) CHECK(column[i] == static_cast<double>(i));
}
