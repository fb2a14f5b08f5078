// Lines of delimited text that are no rows, and rows that have not as many fields as there are
// labels.

#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/support.h"

using namespace dapple;
using LineLabels = std::vector<std::string>;
using LineCells = std::vector<double>;

namespace {

std::string note_of(const std::variant<Matrix, Frame>& object) {
  return std::string(std::visit([](const auto& o) { return o.note(); }, object));
}

LineLabels words_of(const Frame& frame, std::uint64_t col) {
  LineLabels words;
  const Meaning& meaning = frame.column_info(col).meaning;
  for (const std::uint32_t code : frame.read_column<std::uint32_t>(col, {0, frame.rows()})) {
    words.emplace_back((*meaning.words)[code - 1]);
  }
  return words;
}

LineCells numbers_of(const Frame& frame, std::uint64_t col) {
  return frame.read_column<double>(col, {0, frame.rows()});
}

}  // namespace

TEST_CASE("csv lines: a last line of blanks is no row") {
  test::CsvText text;
  for (const char* const end : {" ", "\n", " \n", "  \t \r\n\n ", "\n \n"}) {
    CAPTURE(end);
    const auto object = text.open(std::string("a,b\n1,2\n3,4\n") + end);
    CHECK(test::cells_of(object) == LineCells{1, 2, 3, 4});
    CHECK(test::cells_of(text.open(std::string("1,2\n3,4\n") + end)) == LineCells{1, 2, 3, 4});
  }
  // Where a tab is the delimiter, it says that there is a row; a blank is a field in one column.
  CHECK(test::types_of(text.open("a\tb\n1\t2\n \t\n")) == "frame f64 f64");
  CHECK(std::get<Frame>(text.open("a\tb\n1\t2\n \t\n")).rows() == 2);
  CHECK(std::get<Frame>(text.open("a\n1\n \n")).rows() == 2);
}

TEST_CASE("csv lines: a first line may say the delimiter") {
  test::CsvText text;
  for (const char* const first : {"sep=;\n", "SEP=;\r\n", "\"sep=;\"\n", "\xef\xbb\xbfsep=;\n"}) {
    CAPTURE(first);
    const auto object = text.open(std::string(first) + "a;b,c\n1;2\n3;4\n");
    CHECK(test::labels_of(object) == LineLabels{"a", "b,c"});
    CHECK(test::cells_of(object) == LineCells{1, 2, 3, 4});
  }
  CHECK(test::cells_of(text.open("sep=|\n1|2\n3|4\n")) == LineCells{1, 2, 3, 4});
  CHECK(test::cells_of(text.open("sep=\t\n1\t2\n", {{"csv.header", "false"}})) == LineCells{1, 2});
  // The caller knows better, and the line is none of the rows all the same.
  CHECK(test::cells_of(text.open("sep=;\n1,2\n", {{"csv.delimiter", ","}})) == LineCells{1, 2});
  const auto error = test::error_of([&] { text.open("sep=;\na;b\n1;2\n3\n"); });
  CHECK(error.value().detail() == "line 4 has 1 field where the others have 2");
  CHECK(test::labels_of(text.open("sep=a\n1\n")) == LineLabels{"sep=a"});
  CHECK(test::labels_of(text.open("sep\x1d;\n1;2\n")) == LineLabels{"sep\x1d", ""});
  CHECK(test::labels_of(text.open("sep=;;\n1;2;3\n")) == LineLabels{"sep=", "", ""});
}

TEST_CASE("csv lines: rows may have one field more than there are labels, as R writes them") {
  test::CsvText text;
  // write.table(data.frame(x = c(5, 7, 9), y = c(6, 8, 1), row.names = c("r1", "r2", "r3")), sep =
  // "\t")
  const auto object = text.open("\"x\"\t\"y\"\n\"r1\"\t5\t6\n\"r2\"\t7\t8\n\"r3\"\t9\t1\n");
  CHECK(test::labels_of(object) == LineLabels{"", "x", "y"});
  const Frame& frame = std::get<Frame>(object);
  CHECK(words_of(frame, 0) == LineLabels{"r1", "r2", "r3"});
  CHECK(numbers_of(frame, 1) == LineCells{5, 7, 9});
  CHECK(numbers_of(frame, 2) == LineCells{6, 8, 1});
  CHECK(note_of(object).starts_with("the rows have one field more than there are labels"));
  // A missing value at the end of the first row does not make of it a row that ends in a delimiter.
  CHECK(test::labels_of(text.open("x,y\nr1,5,\nr2,7,8\n")) == LineLabels{"", "x", "y"});
}

TEST_CASE("csv lines: a title above a table of one field more is no line of R's labels") {
  test::CsvText text;
  const auto skip = [&](const std::string& bytes) -> std::string {
    const auto error = test::error_of([&] { text.open(bytes); });
    return error ? error->detail() : "opened";
  };
  const std::string title =
      "line 1 has 1 field where those from line 2 on have 2; the option skip (1) leaves out what "
      "is "
      "before them";
  CHECK(skip("Towns\ntown,people\nOslo,700000\n") == title);
  CHECK(skip("Towns\ntown,since\nOslo,1048-01-01\nRome,\nBergen,1070-01-01\n") == title);
  CHECK(skip("Towns of Norway\ntown,county\nBergen,Vestland\n") == title);
  CHECK(skip("Towns\n\"town\",\"people\"\n\"Oslo\",\"7\"\n").starts_with("line 1 has 1 field"));
  CHECK(skip("Towns,Norway\ntown,county,people\nBergen,Vestland,5\n").starts_with("line 1 has 2"));
  CHECK(test::labels_of(text.open("Towns\ntown,people\nOslo,7\n", {{"csv.skip", "1"}})) ==
        LineLabels{"town", "people"});
  // write.table of one column: rows with numbers, with names, and of words
  for (const char* const rows : {"\"1\",5\n\"2\",6\n", "\"a\",5\n\"b\",6\n",
                                 "\"a\",\"u\"\n\"b\",\"v\"\n", "\"a\",NA\n\"b\",6\n"}) {
    CAPTURE(rows);
    CHECK(test::labels_of(text.open(std::string("\"a x\"\n") + rows)) == LineLabels{"", "a x"});
  }
  CHECK(test::labels_of(text.open("a x\nr1,5\nr2,6\n", {{"csv.header", "true"}})) ==
        LineLabels{"", "a x"});
}

TEST_CASE("csv lines: rows may end in a delimiter that no label has, and the other way round") {
  test::CsvText text;
  const auto object = text.open("A,B,C\n1,4,7,\n2,5,8,\r\n3,\"6,\n\",9,\n");
  CHECK(test::labels_of(object) == LineLabels{"A", "B", "C"});
  const Frame& frame = std::get<Frame>(object);
  CHECK(numbers_of(frame, 0) == LineCells{1, 2, 3});
  CHECK(words_of(frame, 1) == LineLabels{"4", "5", "6,\n"});
  CHECK(numbers_of(frame, 2) == LineCells{7, 8, 9});
  CHECK(note_of(object).empty());
  const auto labels = text.open("A,B,\n1,4\n2,5\n");
  CHECK(test::labels_of(labels) == LineLabels{"A", "B"});
  CHECK(test::cells_of(labels) == LineCells{1, 4, 2, 5});
  CHECK(test::labels_of(text.open("A,B,\n1,4,\n")) == LineLabels{"A", "B", ""});
}

TEST_CASE("csv lines: labels of several lines, or before a comment, are no title") {
  test::CsvText text;
  const std::string rows = "1,4,\n2,5,\n3,6,\n7,8,\n";
  CHECK(test::labels_of(text.open("A,\"B\nm\"\n" + rows)) == LineLabels{"A", "B\nm"});
  CHECK(test::labels_of(text.open("A,B\n# units\n" + rows, {{"csv.comment", "#"}})) ==
        LineLabels{"A", "B"});
  CHECK(test::labels_of(text.open("\"A\nm\",B\n\"r\",1,4\n\"s\",2,5\n\"t\",3,6\n")) ==
        LineLabels{"", "A\nm", "B"});
  const auto error = test::error_of([&] { text.open("\"A\ntitle\"\n1,2,3\n4,5,6\n7,8,9\n"); });
  CHECK(error.value().detail().find("the option skip (2)") != std::string::npos);
}

TEST_CASE("csv lines: labels are UTF-8, as words are") {
  test::CsvText text;
  const auto error = test::error_of([&] { text.open("a,caf\xe9\n1,2\n"); });
  CHECK(error.value().code() == Errc::unsupported);
  CHECK(error->offset() == 2);
  CHECK(error->option() == "utf-8");
  CHECK(error->detail() == "the label 'caf\\xe9' is not UTF-8; convert the text to UTF-8 first");
  CHECK(test::labels_of(text.open("a,caf\xc3\xa9\n1,2\n")) == LineLabels{"a", "caf\xc3\xa9"});
}

TEST_CASE("csv lines: a .meta file of another program says nothing of the text") {
  test::CsvText text;
  for (const char* const meta :
       {"fileFormatVersion: 2\nguid: 0123\n", "", "{\"name\": \"t\"}", "<xml/>"}) {
    CAPTURE(meta);
    text.meta(meta);
    CHECK(test::labels_of(text.open("a,b\n1,2\n")) == LineLabels{"a", "b"});
  }
  text.meta("{\"numRows\": 1, \"numCols\"");
  CHECK(test::error_of([&] { text.open("1,2\n"); }).value().code() == Errc::corrupt);
}
