// What quotes around fields mean: words, missing cells, or nothing at all.

#include <string>
#include <tuple>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// The kinds of the columns, "timestamp? text": with a question mark if a cell may be missing.
std::string kinds_of(const std::variant<Matrix, Frame>& object) {
  std::string kinds;
  const Frame& frame = std::get<Frame>(object);
  for (std::uint64_t col = 0; col < frame.cols(); ++col) {
    const Column& column = frame.column_info(col);
    if (!kinds.empty()) kinds += ' ';
    kinds += name(column.meaning.kind);
    if (column.meaning.missing) kinds += '?';
  }
  return kinds;
}

}  // namespace

TEST_CASE(
    "csv quotes: an empty field is missing among times and truth values, a word among words") {
  CsvText csv;
  // As pandas writes with QUOTE_ALL; the missing cell comes first, in the middle, and last.
  const std::string rows[] = {"\"\",\"\",\"\",\"\"\n", "\"2024-01-02\",\"True\",\"1\",\"x\"\n",
                              "\"2024-01-03\",\"False\",\"2\",\"x\"\n"};
  const std::string cells[] = {",,,\"\"\n", "2024-01-02,true,1,x\n", "2024-01-03,false,2,x\n"};
  for (const auto& [a_, b_, c_] : {std::tuple(0, 1, 2), std::tuple(1, 0, 2), std::tuple(1, 2, 0)}) {
    const auto& a = a_;  // clang 14 captures no bindings
    const auto& b = b_;
    const auto& c = c_;
    CAPTURE(a);
    CAPTURE(b);
    const auto frame = csv.open("\"day\",\"ok\",\"n\",\"w\"\n" + rows[a] + rows[b] + rows[c]);
    CHECK(kinds_of(frame) == "timestamp? boolean? number? text");
    CHECK(as_csv(frame) == "day,ok,n,w\n" + cells[a] + cells[b] + cells[c]);
  }
}

TEST_CASE("csv quotes: one word among times makes empty fields words, before it and after it") {
  CsvText csv;
  for (const std::string word : {"soon", "NA", " "}) {
    CAPTURE(word);
    const std::string text = "day,n\n\"\",1\n\"2024-01-02\",2\n\"" + word + "\",3\n\"\",4\n,5\n";
    const auto frame = csv.open(text);
    CHECK(kinds_of(frame) == "text? number");
    const std::string shown = word == "soon" ? word : '"' + word + '"';
    CHECK(as_csv(frame) == "day,n\n\"\",1\n\"2024-01-02\",2\n" + shown + ",3\n\"\",4\n,5\n");
  }
}

TEST_CASE("csv quotes: what a column must be may be missing in quotes") {
  CsvText csv;
  const FormatOptions options{{"csv.type", "day=timestamp"}, {"csv.type", "took=duration"}};
  const auto frame = csv.open("day,took,n\n\"\",\"\",1\n\"2024-01-02\",\"00:00:05\",2\n", options);
  CHECK(kinds_of(frame) == "timestamp? duration? number");
  CHECK(as_csv(frame) == "day,took,n\n,,1\n2024-01-02,00:00:05,2\n");
}

TEST_CASE("csv quotes: fields that the caller calls missing") {
  CsvText csv;
  const std::string text =
      "w,day,n\n\"\",\"\",1\nx,\"NULL\",2\n\"NULL\",\"2024-01-02\",3\n\"NA\",NA,4\n";
  // `''` and NA would be missing anyway, so naming them is about those in quotes.
  CHECK(as_csv(csv.open(text, {{"csv.missing_word", "NULL"}, {"csv.missing_word", ""}})) ==
        "w,day,n\n,,1\nx,,2\nNULL,2024-01-02,3\n\"NA\",,4\n");
  CHECK(as_csv(csv.open(text, {{"csv.missing_word", "NULL"}, {"csv.missing_word", "NA"}})) ==
        "w,day,n\n\"\",,1\nx,,2\nNULL,2024-01-02,3\n,,4\n");
  CHECK(as_csv(csv.open(text)) ==
        "w,day,n\n\"\",\"\",1\nx,NULL,2\nNULL,\"2024-01-02\",3\n\"NA\",,4\n");
}

TEST_CASE("csv quotes: threads and sidecars see missing cells where one pass does") {
  CsvText csv;
  std::string text = "\"day\",\"w\"\n";
  for (int i = 0; i < 200'000; ++i) {
    text += i % 3 == 0 ? "\"\",\"\"\n" : "\"2024-01-02\",\"true\"\n";
  }
  const std::string late = text + "\"\",\"soon\"\n";
  const auto one = csv.open(late);
  CHECK(kinds_of(one) == "timestamp? category");
  const std::string cells = as_csv(one);
  OpenOptions options;
  options.threads = 4;
  CHECK(as_csv(open(csv.dir() / "t.csv", options)) == cells);
  write_sidecar(csv.dir() / "t.csv", {});
  const auto saved = open(csv.dir() / "t.csv");
  CHECK(std::get<Frame>(saved).index_origin() == IndexOrigin::sidecar);
  CHECK(as_csv(saved) == cells);
}

TEST_CASE("csv quotes: words of blanks and digits are words beside numbers") {
  CsvText csv;
  for (const std::string word : {" ", " 2", "\t", "3 ", " NA "}) {
    CAPTURE(word);
    const std::string text = "w,i\n\"1\",0\n\"" + word + "\",1\n";
    const auto frame = csv.open(text);
    CHECK(kinds_of(frame) == "text number");
    CHECK(as_csv(frame) == text);
  }
  CHECK(kinds_of(csv.open("w,i\n\" NA \",0\n\"NA\",1\n")) == "text number");
}
