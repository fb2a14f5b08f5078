// Columns of different types that are put together: rounding, and labels alone.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

std::variant<Matrix, Frame> opened_text(const std::filesystem::path& path,
                                        const std::string& text) {
  write_text(path, text);
  return open(path);
}

}  // namespace

TEST_CASE("concat: integers that floats join are rounded when that is allowed") {
  const TempDir dir;
  const std::string starts[] = {"n,x\n", ""};
  for (const bool frame : {true, false}) {
    CAPTURE(frame);
    const std::string big = frame ? "9007199254740993,1\n" : "9007199254740993\n";
    const auto whole = opened_text(dir / "a.csv", starts[frame ? 0 : 1] + big);
    const auto real =
        opened_text(dir / "b.csv", starts[frame ? 0 : 1] + (frame ? "0.5,1.5\n" : "0.5\n"));
    convert(whole, {}, dir / "a.dbdf", [] {
      ConvertOptions options;
      options.write.overwrite = true;
      return options;
    }());
    for (const std::variant<Matrix, Frame>& first : {whole, open(dir / "a.dbdf")}) {
      const std::variant<Matrix, Frame> parts[] = {first, real};
      const auto error = error_of([&] { as_csv(concat(parts, Axis::rows)); });
      CHECK(required_error(error).code() == Errc::type_mismatch);
      CHECK(error->option() == "allow_loss");
      CHECK(as_csv(concat(parts, Axis::rows, {.allow_loss = true})) ==
            (frame ? "n,x\n9007199254740992,1\n0.5,1.5\n" : "9007199254740992\n0.5\n"));
    }
    ConvertOptions options;
    CHECK_THROWS_AS(append(dir / "a.dbdf", real, options), const Error&);
    options.allow_loss = true;
    append(dir / "a.dbdf", real, options);
    CHECK(as_csv(open(dir / "a.dbdf")) ==
          (frame ? "n,x\n9007199254740992,1\n0.5,1.5\n" : "9007199254740992\n0.5\n"));
  }
}

TEST_CASE("concat: a number that would be rounded beside a missing cell names column and row") {
  const TempDir dir;
  const std::variant<Matrix, Frame> parts[] = {
      opened_text(dir / "a.csv", "k,n\n1,7\n2,9007199254740993\n3,\n"),
      opened_text(dir / "b.csv", "k,n\n4,0.5\n")};
  const auto error = error_of([&] { as_csv(concat(parts, Axis::rows)); });
  CHECK(required_error(error).detail() ==
        "column 'n', row 1: 9007199254740993 is not exact as f64");
  CHECK(error->option() == "allow_loss");
  CHECK(as_csv(concat(parts, Axis::rows, {.allow_loss = true})) ==
        "k,n\n1,7\n2,9007199254740992\n3,\n4,0.5\n");
}

TEST_CASE("concat: numbers where others have words say how to read them as words") {
  const TempDir dir;
  const auto words = opened_text(dir / "a.csv", "w,n\nx,1\n"),
             numbers = opened_text(dir / "b.csv", "w,n\n5,1\n");
  convert(numbers, {}, dir / "b.dbdf");
  const auto option = [](const auto& a, const auto& b) {
    const std::variant<Matrix, Frame> parts[] = {a, b};
    const auto error = error_of([&] { concat(parts, Axis::rows); });
    CHECK(required_error(error).detail().starts_with("column 'w' is a "));
    return error->option();
  };
  CHECK(option(words, numbers) == "csv.type=text");
  CHECK(option(numbers, words) == "csv.type=text");
  CHECK(option(words, open(dir / "b.dbdf")) == "");
}

TEST_CASE("concat: a CSV of labels alone has columns of any kind") {
  const TempDir dir;
  const std::string label = "w,day,ok,i\n", row = "x,2024-01-02,true,9007199254740993\n";
  const auto none = opened_text(dir / "none.csv", label),
             some = opened_text(dir / "some.csv", label + row);
  for (const bool first : {true, false}) {
    const std::variant<Matrix, Frame> parts[] = {first ? none : some, first ? some : none};
    const auto whole = concat(parts, Axis::rows);
    CHECK(as_csv(whole) == label + row);
    CHECK(std::get<Frame>(whole).column_info(3) == std::get<Frame>(some).column_info(3));
  }
  const std::variant<Matrix, Frame> nothing[] = {none, none};
  CHECK(as_csv(concat(nothing, Axis::rows)) == label);
  convert(some, {}, dir / "all.dbdf");
  append(dir / "all.dbdf", none);
  CHECK(as_csv(open(dir / "all.dbdf")) == label + row);
}

TEST_CASE("concat: searches find what is stored narrower in a file than in the whole") {
  const TempDir dir;
  const auto file = [&](const char* name, const std::string& text) {
    const auto path = dir / (std::string(name) + ".csv");
    convert(opened_text(path, text), {}, dir / name);
    return open(dir / name);
  };
  std::string first = "w,n,t\n", second = first;
  for (int i = 0; i < 200; ++i) {
    first += "a" + std::to_string(i) + ",1,2024-01-02\n";
    second += "b" + std::to_string(i) + ",2,2024-01-02T03:04:05.678\n";
  }
  first += "a7,,\n";
  second += ",300,\n";
  const std::variant<Matrix, Frame> parts[] = {file("a.dbdf", first), file("b.dbdf", second)};
  const Frame whole = std::get<Frame>(concat(parts, Axis::rows));
  REQUIRE(whole.column_type(0) == ValueType::u16);
  convert(whole, {}, dir / "both.dbdf");
  const Frame copy = Frame::open(dir / "both.dbdf");
  for (const std::string test :
       {"w = 'b199'", "w = 'a7'", "w missing", "not w = 'b199'", "w in ('a199', 'b0')", "n missing",
        "n = 1", "n >= 300", "t missing", "t = '2024-01-02'", "t > '2024-01-02T03:00'",
        "t < '2024-01-02T03:00'"}) {
    CAPTURE(test);
    const auto wanted = Expression::parse(test);
    CHECK(rows_where(whole, wanted) == rows_where(copy, wanted));
    CHECK(count_where(copy, wanted) > 0);
  }
}

TEST_CASE("concat: columns that share their words in every file share those of the whole") {
  const TempDir dir;
  const auto file = [&](const char* name, const std::vector<const char*>& list) {
    DictionaryBuilder words;
    for (const char* word : list) words.add(word);
    Column a{"a", ValueType::u8};
    a.meaning.kind = MeaningKind::category;
    a.meaning.words = words.finish();
    Column b = a, c = a;
    b.label = "b";
    c.label = "c";
    c.meaning.ordered = true;
    auto writer = FrameWriter::create(dir / name, 1, {a, b, c});
    const auto last = static_cast<std::uint8_t>(list.size());
    const std::vector<std::uint8_t> codes = {1, last, last};
    writer.put<std::uint8_t>({0, 0}, {codes.data(), 1, 3});
    writer.finish();
    return open(dir / name);
  };
  const std::variant<Matrix, Frame> parts[] = {file("x", {"lo", "hi"}),
                                               file("y", {"lo", "mid", "hi", "top"})};
  const auto check = [](const Frame& frame) {
    CHECK(frame.column_info(0).meaning.words == frame.column_info(1).meaning.words);
    CHECK(frame.column_info(2).meaning.ordered);
    CHECK((*frame.column_info(2).meaning.words)[1] == "mid");
    CHECK(as_csv(frame) == "a,b,c\nlo,hi,hi\nlo,top,top\n");
  };
  check(std::get<Frame>(concat(parts, Axis::rows)));
  append(dir / "x", parts[1]);
  check(Frame::open(dir / "x"));
}
