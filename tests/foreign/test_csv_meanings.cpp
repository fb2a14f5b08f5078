#include <bit>
#include <string>
#include <vector>

#include "dapple/convert.h"
#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/open.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

Frame open_frame(const std::filesystem::path& path, FormatOptions csv = {}) {
  OpenOptions options;
  options.format_options = std::move(csv);
  return Frame::open(path, options);
}

/// A cell as `append_text` shows it, "(missing)" for a missing one.
std::string cell(const Frame& frame, std::uint64_t row, std::uint64_t col) {
  const Column& column = frame.column_info(col);
  const std::uint64_t bits = visit_type(column.value_type, [&](auto tag) -> std::uint64_t {
    using T = decltype(tag);
    const T value = frame.read_column<T>(col, {row, row + 1}).at(0);
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
  });
  if (is_missing(column.meaning, bits)) return "(missing)";
  std::string text;
  append_text(column, bits, text);
  return text;
}

constexpr char kPeople[] =
    "name,age,city,born,active,seen\n"
    "Ann,34,Graz,1990-02-28,true,2024-01-01T10:00:00Z\n"
    "Bob,,\"Linz, Upper\",1984-12-31,false,2024-01-01T10:00:00.5+02:00\n"
    "\"C \"\"X\"\" D\",7,Graz,NA,TRUE,2024-01-02T00:00Z\n"
    "Eve,0,Graz,2016-01-01,,2023-06-05T04:03:02Z\n"
    "\"two\nlines\",5,NA,2016-01-02,true,2023-06-05T04:03:02Z\n"
    "\"\",6,Graz,2016-01-03,true,2023-06-05T04:03:02Z\n";

}  // namespace

TEST_CASE("csv meanings: words, times, truth values and missing cells are seen as such") {
  const TempDir folder;
  write_text(folder / "people.csv", kPeople);
  const Frame frame = open_frame(folder / "people.csv");
  REQUIRE(frame.rows() == 6);
  REQUIRE(frame.cols() == 6);
  const auto kind = [&](std::uint64_t c) { return frame.column_info(c).meaning.kind; };
  CHECK(kind(0) == MeaningKind::text);
  CHECK(kind(1) == MeaningKind::number);
  CHECK(kind(2) == MeaningKind::category);
  CHECK(kind(3) == MeaningKind::timestamp);
  CHECK(frame.column_info(3).meaning.unit == TimeUnit::day);
  CHECK(kind(4) == MeaningKind::boolean);
  CHECK(frame.column_info(5).meaning.unit == TimeUnit::millisecond);
  CHECK(frame.column_info(5).meaning.zone == "UTC");
  const std::vector<std::vector<std::string>> expected = {
      {"Ann", "34", "Graz", "1990-02-28", "true", "2024-01-01T10:00:00.000Z"},
      {"Bob", "(missing)", "Linz, Upper", "1984-12-31", "false", "2024-01-01T08:00:00.500Z"},
      {"C \"X\" D", "7", "Graz", "(missing)", "true", "2024-01-02T00:00:00.000Z"},
      {"Eve", "0", "Graz", "2016-01-01", "(missing)", "2023-06-05T04:03:02.000Z"},
      {"two\nlines", "5", "(missing)", "2016-01-02", "true", "2023-06-05T04:03:02.000Z"},
      {"", "6", "Graz", "2016-01-03", "true", "2023-06-05T04:03:02.000Z"}};
  for (std::uint64_t r = 0; r < 6; ++r) {
    for (std::uint64_t c = 0; c < 6; ++c) {
      CAPTURE(r);
      CAPTURE(c);
      CHECK(cell(frame, r, c) == expected[r][c]);
    }
  }
}

TEST_CASE("csv meanings: what is written is read back as it was") {
  const TempDir folder;
  write_text(folder / "people.csv", kPeople);
  const Frame first = open_frame(folder / "people.csv");
  convert(first, {}, folder / "again.csv");
  const Frame again = open_frame(folder / "again.csv");
  REQUIRE(again.cols() == first.cols());
  for (std::uint64_t c = 0; c < first.cols(); ++c) {
    CHECK(again.column_info(c) == first.column_info(c));
    for (std::uint64_t r = 0; r < first.rows(); ++r) CHECK(cell(again, r, c) == cell(first, r, c));
  }
  convert(again, {}, folder / "third.csv");
  CHECK(read_text(folder / "third.csv") == read_text(folder / "again.csv"));
}

TEST_CASE("csv meanings: a column that turns out to be words late is words from its first row") {
  const TempDir folder;
  std::string text = "when,flag,n\n";
  for (int i = 0; i < 5000; ++i) text += "2024-01-01,true," + std::to_string(i) + "\n";
  text += "yesterday,perhaps,none\n";
  write_text(folder / "late.csv", text);
  const Frame frame = open_frame(folder / "late.csv");
  CHECK(frame.column_info(0).meaning.kind == MeaningKind::category);
  CHECK(frame.column_info(1).meaning.kind == MeaningKind::category);
  CHECK(frame.column_info(2).meaning.kind == MeaningKind::text);
  CHECK(cell(frame, 0, 0) == "2024-01-01");
  CHECK(cell(frame, 4999, 1) == "true");
  CHECK(cell(frame, 17, 2) == "17");
  CHECK(cell(frame, 5000, 0) == "yesterday");
  CHECK(cell(frame, 5000, 1) == "perhaps");
  CHECK(cell(frame, 5000, 2) == "none");
}

TEST_CASE("csv meanings: the caller decides what a column is") {
  const TempDir folder;
  write_text(folder / "zip.csv", "zip,took\n01234,00:00:01.5\n99,25:00:00\n01234,\n");
  FormatOptions csv{{"csv.type", "zip=text"}, {"csv.type", "1=duration"}};
  const Frame frame = open_frame(folder / "zip.csv", csv);
  CHECK(frame.column_info(0).meaning.kind == MeaningKind::text);
  CHECK(cell(frame, 0, 0) == "01234");
  CHECK(cell(frame, 0, 1) == "00:00:01.500");
  CHECK(cell(frame, 1, 1) == "25:00:00.000");
  CHECK(cell(frame, 2, 1) == "(missing)");
  csv = {{"csv.type", "zip=boolean"}};
  CHECK_THROWS_AS(open_frame(folder / "zip.csv", csv), const Error&);
  csv = {{"csv.type", "none=text"}};
  CHECK_THROWS_AS(open_frame(folder / "zip.csv", csv), const Error&);
}

TEST_CASE("csv meanings: one type for all columns that are not named") {
  const TempDir folder;
  write_text(folder / "t.csv", "id,n,x,when\n7,1,2,2024-01-01\n8,3,4,2024-01-02\n");
  FormatOptions csv{{"csv.type", "*=text"}, {"csv.type", "n=u8"}, {"csv.type", "2=f32"}};
  const Frame frame = open_frame(folder / "t.csv", csv);
  CHECK(frame.column_info(0).meaning.kind == MeaningKind::text);
  CHECK(frame.column_type(1) == ValueType::u8);
  CHECK(frame.column_type(2) == ValueType::f32);
  CHECK(cell(frame, 1, 3) == "2024-01-02");
  CHECK(frame.column_info(3).meaning.kind == MeaningKind::text);
  csv = {{"csv.type", "when=category"}, {"csv.type", "*=i16"}};
  CHECK(open_frame(folder / "t.csv", csv).column_type(0) == ValueType::i16);
  write_text(folder / "star.csv", "*,n\n7,1\n");
  CHECK(open_frame(folder / "star.csv", {{"csv.type", "*=f32"}}).column_type(1) == ValueType::i64);
  write_text(folder / "m.csv", "1,2\n3,4\n");
  OpenOptions options;
  options.format_options = {{"csv.type", "*=f32"}};
  CHECK(Matrix::open(folder / "m.csv", options).value_type() == ValueType::f32);
}

TEST_CASE("csv meanings: the type str of a .meta file is text, whatever the fields look like") {
  const TempDir folder;
  write_text(folder / "a.csv", "01234,7\n99,8\n");
  write_text(folder / "a.csv.meta",
             R"({"numCols":2,"numRows":2,"schema":[{"label":"zip","valueType":"str"},)"
             R"({"label":"n","valueType":"si64"}]})");
  const Frame frame = open_frame(folder / "a.csv", {});
  CHECK(frame.column_info(0).meaning.kind == MeaningKind::text);
  CHECK(frame.label(0) == "zip");
  CHECK(cell(frame, 0, 0) == "01234");
  CHECK(frame.column_info(1).value_type == ValueType::i64);
  CHECK(is_plain(frame.column_info(1)));
  write_text(folder / "b.csv", "\n");
  write_text(folder / "b.csv.meta",
             R"({"numCols":1,"numRows":0,"schema":[{"label":"zip","valueType":"str"}]})");
  CHECK(open_frame(folder / "b.csv", {}).column_info(0).meaning.words->size() == 0);
}

TEST_CASE("csv meanings: rows without labels that hold words are a frame") {
  const TempDir folder;
  write_text(folder / "plain.csv", "1,a\n2,b\n");
  const Frame frame = open_frame(folder / "plain.csv", {{"csv.header", "false"}});
  CHECK(frame.label(0) == "c0");
  CHECK(cell(frame, 1, 1) == "b");
}

TEST_CASE("csv meanings: a missing cell of the only column is no blank line") {
  const TempDir dir;
  write_text(dir / "in.csv", "who\nAnn\nNA\nBob\n?\n");
  convert(open(dir / "in.csv"), {}, dir / "out.csv");
  CHECK(read_text(dir / "out.csv") == "who\nAnn\nNA\nBob\nNA\n");
}

TEST_CASE("csv meanings: numbers in quotes are words where other numbers are without") {
  const TempDir dir;
  write_text(dir / "r.csv", "\"zip\",\"n\"\n\"01234\",1\n\"99\",2\nNA,3\n");  // as R writes
  const Frame r = open_frame(dir / "r.csv");
  CHECK(r.column_info(0).meaning.kind == MeaningKind::text);
  CHECK(cell(r, 0, 0) == "01234");
  CHECK(cell(r, 2, 0) == "(missing)");
  CHECK(is_plain(r.column_info(1)));
  write_text(dir / "all.csv", "\"zip\",\"n\"\n\"1234\",\"1\"\n\"99\",\"2\"\n");
  const Frame all = open_frame(dir / "all.csv");
  CHECK(is_plain(all.column_info(0)));
  write_text(dir / "some.csv", "zip,n\n\"1234\",1\n99,2\n");
  CHECK(is_plain(open_frame(dir / "some.csv").column_info(0)));
  FormatOptions csv{{"csv.type", "zip=i64"}};
  CHECK(
      is_plain(open_frame(dir / "r.csv", {{"csv.missing_as_nan", "true"}, {"csv.type", "zip=f64"}})
                   .column_info(0)));
}

TEST_CASE("csv meanings: words that look like something else come back as words") {
  const TempDir dir;
  write_text(dir / "in.csv", "a,b,c,n\n1,true,2024-01-01,5\n2,false,2024-01-02,6\n1,true,x,7\n");
  const FormatOptions csv{
      {"csv.type", "a=category"}, {"csv.type", "b=text"}, {"csv.type", "c=text"}};
  const Frame in = open_frame(dir / "in.csv", csv);
  convert(in, {}, dir / "out.csv");
  CHECK(read_text(dir / "out.csv") ==
        "a,b,c,n\n\"1\",\"true\",\"2024-01-01\",5\n\"2\",\"false\",\"2024-01-02\",6\n"
        "\"1\",\"true\",x,7\n");
  const Frame out = open_frame(dir / "out.csv");
  CHECK(out.column_info(0).meaning.has_words());
  CHECK(cell(out, 1, 0) == "2");
}

TEST_CASE("csv meanings: a file that ends with its page and an empty field is read no further") {
  const TempDir dir;
  constexpr std::size_t kPage = 4096;
  for (const std::string last : {"7,", "7,\"\"", "7,x"}) {
    std::string text = "n,who\n";
    while (text.size() + 8 + last.size() <= kPage) text += "1,a\n";
    text += std::string(kPage - text.size() - last.size() - 4, '1') + "1,a\n" + last;
    REQUIRE(text.size() == kPage);
    write_text(dir / "page.csv", text);
    const Frame frame = open_frame(dir / "page.csv");
    CHECK(cell(frame, frame.rows() - 1, 0) == "7");
  }
}

TEST_CASE("csv meanings: an empty text before the first word is a word, a missing cell is not") {
  const TempDir dir;
  write_text(dir / "in.csv", "a,n\n\"\",1\n,2\nx,3\n");
  const Frame in = open_frame(dir / "in.csv");
  REQUIRE(in.column_info(0).meaning.kind == MeaningKind::text);
  CHECK(cell(in, 0, 0) == "");
  CHECK(cell(in, 1, 0) == "(missing)");
  CHECK(cell(in, 2, 0) == "x");
  convert(in, {}, dir / "out.csv");
  CHECK(read_text(dir / "out.csv") == "a,n\n\"\",1\n,2\nx,3\n");
}

TEST_CASE("csv meanings: empty fields in quotes are words, but missing among numbers in quotes") {
  const TempDir dir;
  write_text(dir / "words.csv", "a,n\n\"\",1\n,2\n\"\",3\n");
  const Frame words = open_frame(dir / "words.csv");
  REQUIRE(words.column_info(0).meaning.has_words());
  CHECK(cell(words, 0, 0) == "");
  CHECK(cell(words, 1, 0) == "(missing)");
  write_text(dir / "all.csv", "\"a\",\"n\"\n\"\",\"1\"\n\"5\",\"2\"\n\"\",\"3\"\n");
  const Frame all = open_frame(dir / "all.csv");
  REQUIRE(all.column_info(0).meaning.kind == MeaningKind::number);
  CHECK(cell(all, 0, 0) == "(missing)");
  CHECK(cell(all, 1, 0) == "5");
}

TEST_CASE("csv meanings: integers with zeros in front are words in a frame") {
  const TempDir dir;
  const auto kind = [&](const std::string& text, FormatOptions csv = {}) {
    write_text(dir / "in.csv", text);
    return open_frame(dir / "in.csv", std::move(csv)).column_info(0).meaning.kind;
  };
  CHECK(kind("zip,n\n00123,1\n456,2\n") == MeaningKind::text);
  CHECK(kind("\"zip\",\"n\"\n\"00123\",\"1\"\n\"456\",\"2\"\n") == MeaningKind::text);
  CHECK(kind("zip,n\n+07,1\n5,2\n") == MeaningKind::text);
  CHECK(kind("zip,n\n-00000000000000000007,1\n5,2\n") == MeaningKind::text);
  CHECK(kind("00123,Graz\n456,Linz\n", {{"csv.header", "false"}}) == MeaningKind::text);
  CHECK(kind("00123,true\n456,false\n", {{"csv.header", "false"}}) == MeaningKind::text);
  CHECK(kind("zip,n\n0,1\n-0,1\n") == MeaningKind::number);
  CHECK(kind("zip,n\n00.5,1\n0.25,2\n") == MeaningKind::number);
  CHECK(kind("zip,n\n00123,1\n456,2\n", {{"csv.type", "zip=i64"}}) == MeaningKind::number);
  std::string late = "zip,n\n";
  for (int i = 0; i < 300'000; ++i) late += "1234,1\n";
  CHECK(kind(late + "00123,1\n") == MeaningKind::category);
  const Frame frame = open_frame(dir / "in.csv");
  CHECK(cell(frame, 5, 0) == "1234");
  CHECK(cell(frame, 300'000, 0) == "00123");
  write_text(dir / "matrix.csv", "000,012\n255,001\n");
  CHECK(Matrix::open(dir / "matrix.csv").read<double>({{0, 1}, {0, 2}}) ==
        std::vector<double>{0, 12});
}

TEST_CASE("csv meanings: fractions of a second are times in every year") {
  const TempDir dir;
  write_text(dir / "in.csv",
             "us,ms,ns\n"
             "0001-01-01T00:00:00.000001,9999-12-31T23:59:59.999,2020-01-01T00:00:00.000000001\n"
             "2020-01-01T00:00:00.5,0000-01-01T00:00:00.5,9999-12-31T00:00:00.5\n");
  const Frame frame = open_frame(dir / "in.csv");
  REQUIRE(frame.column_info(0).meaning.kind == MeaningKind::timestamp);
  CHECK(frame.column_info(0).meaning.unit == TimeUnit::microsecond);
  CHECK(cell(frame, 0, 0) == "0001-01-01T00:00:00.000001");
  REQUIRE(frame.column_info(1).meaning.kind == MeaningKind::timestamp);
  CHECK(cell(frame, 1, 1) == "0000-01-01T00:00:00.500");
  CHECK(frame.column_info(2).meaning.kind == MeaningKind::text);  // no unit holds both
}

TEST_CASE("csv meanings: times of far years are read as they are written") {
  const TempDir dir;
  const std::string rows[] = {"+12345-06-07,-0001-12-31T23:59:59.5,+300000-01-01,a,+12345-06-07Z",
                              "-29719-04-05,+292277026596-12-04,2020-01-01T00:00:00.000001,b,x"};
  write_text(dir / "in.csv", "d,none,us,w,z\n" + rows[0] + "\n" + rows[1] + "\n");
  const Frame frame = open_frame(dir / "in.csv");
  const auto meaning = [&](std::uint64_t c) { return frame.column_info(c).meaning; };
  REQUIRE(meaning(0).kind == MeaningKind::timestamp);
  CHECK(meaning(0).unit == TimeUnit::day);
  CHECK(cell(frame, 0, 0) == "+12345-06-07");
  CHECK(cell(frame, 1, 0) == "-29719-04-05");
  CHECK(meaning(1).kind == MeaningKind::text);  // no unit holds both
  CHECK(meaning(2).kind == MeaningKind::text);
  CHECK(meaning(4).kind == MeaningKind::text);
  // What looks like a time comes back as it was.
  convert(open(dir / "in.csv"), {}, dir / "out.csv");
  const Frame again = open_frame(dir / "out.csv");
  for (std::uint64_t c = 0; c < frame.cols(); ++c) {
    CHECK(again.column_info(c).meaning.kind == meaning(c).kind);
    for (const std::uint64_t row : {0, 1}) CHECK(cell(again, row, c) == cell(frame, row, c));
  }
  write_text(dir / "seconds.csv", "t,f\n+292277026596-12-04T15:30:07,+300000-01-01T00:00:00.5\n");
  const Frame seconds = open_frame(dir / "seconds.csv");
  CHECK(seconds.column_info(0).meaning.unit == TimeUnit::second);
  CHECK(cell(seconds, 0, 0) == "+292277026596-12-04T15:30:07");
  CHECK(cell(seconds, 0, 1) == "+300000-01-01T00:00:00.500");
}

TEST_CASE("csv meanings: a column may begin with missing cells") {
  const TempDir dir;
  for (const std::string value : {"x", "true", "2024-01-01", "5", "00:00:01"}) {
    CAPTURE(value);
    const std::string text = "a,n\n,1\n,2\n" + value + ",3\n,4\n";
    write_text(dir / "in.csv", text);
    const Frame in = open_frame(dir / "in.csv");
    CHECK(cell(in, 0, 0) == "(missing)");
    CHECK(cell(in, 2, 0) == value);
    ConvertOptions again;
    again.write.overwrite = true;
    convert(in, {}, dir / "out.csv", again);
    CHECK(read_text(dir / "out.csv") == text);
  }
}
