// What the columns of ML.NET files mean, both ways: words of keys and texts, times, truth values.

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/idv_image.h"
#include "tests/foreign/idv_shown.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::required_error;
using namespace test::idv;

namespace {

constexpr std::int64_t kLeastTick = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kEpoch = 621'355'968'000'000'000;  // 1970, in ticks of .NET

FileColumn key(std::string name, const Bytes& codes, bool named) {
  FileColumn column{std::move(name), key2_codec("Byte", 3), {codes}, 3};
  if (named) {
    column.metadata = {{"KeyValues", vector_codec(codec("TextSpan"), {3}),
                        vectors({{3}}, 3, texts({3, 4, 7}, "redbxyz"))}};
  }
  return column;
}

FileColumn times(std::string name, const char* item, const std::vector<std::int64_t>& ticks) {
  return {std::move(name), codec(item), {packed(ticks)}, ticks.size()};
}

/// Three rows of everything that a frame has a meaning for.
std::vector<FileColumn> sample() {
  FileColumn vector{"v",
                    vector_codec(codec("Single"), {2}),
                    {vectors({{2}, {2, {{1}}}, {2}}, 2, packed<float>({1, 2, 3, 4, 5}))},
                    3};
  vector.metadata = {
      {"SlotNames", vector_codec(codec("TextSpan"), {2}), vectors({{2}}, 2, texts({1, 2}, "ab"))}};
  return {key("k", packed<std::uint8_t>({2, 0, 3}), true),
          key("n", packed<std::uint8_t>({1, 0, 2}), false),
          {"b", codec("Boolean"), {bits({1, 0, 1})}, 3},
          times("d", "DateTime", {kEpoch, kEpoch + 10, 0}),
          times("f", "DateTime", {kEpoch + 1, kEpoch, kEpoch - 1}),
          times("s", "TimeSpan", {10'000'000, -10, 0}),
          {"z", codec("DateTimeOffset"), {zoned({{kEpoch, 60}, {kEpoch, -60}, {kEpoch, 0}})}, 3},
          {"r", codec("DataViewRowId"), {packed<std::uint64_t>({1, 2, 3, 4, 5, 6})}, 3},
          {"t", codec("TextSpan"), {texts({2, 2 | 0x80000000u, 2}, "ab")}, 3},
          std::move(vector),
          {"i", codec("Int16"), {packed<std::int16_t>({-1, 0, 1})}, 3}};
}

const std::vector<std::string> kSample = {
    "k u8 category, missing 0: <b> <> <xyz>",
    "n u8 number, missing 0: <1> <> <2>",
    "b u8 boolean: <true> <false> <true>",
    "d i64 timestamp us: <1970-01-01T00:00:00.000000> <1970-01-01T00:00:00.000001> "
    "<0001-01-01T00:00:00.000000>",
    "f i64 timestamp ns: <1970-01-01T00:00:00.000000100> <1970-01-01T00:00:00.000000000> "
    "<1969-12-31T23:59:59.999999900>",
    "s i64 duration us: <00:00:01.000000> <-00:00:00.000001> <00:00:00.000000>",
    "z i64 timestamp us: <1970-01-01T00:00:00.000000> <1970-01-01T00:00:00.000000> "
    "<1970-01-01T00:00:00.000000>",
    "z.minutes i16 number: <60> <-60> <0>",
    "r.low u64 number: <1> <3> <5>",
    "r.high u64 number: <2> <4> <6>",
    "t u32 text, missing 0: <ab> <> <>",
    "a f32 number: <1> <0> <4>",
    "b f32 number: <2> <3> <5>",
    "i i16 number: <-1> <0> <1>",
};

}  // namespace

TEST_CASE("idv: keys, texts, times and Booleans are read as what they mean") {
  const test::TempDir dir;
  const auto path = dir.write("t.idv", build(6, 3, sample()).bytes);
  auto expected = kSample;
  expected[12] = "v.b f32 number: <2> <3> <5>";  // there is another column b
  CHECK(columns_of(path) == expected);
  CHECK(verify(path, Level::payload).findings.empty());
}

TEST_CASE("idv: a file becomes the same file: types, keys, vectors and slot names are kept") {
  const test::TempDir dir;
  const auto path = dir.write("t.idv", build(6, 3, sample()).bytes);
  for (const bool deflate : {true, false}) {
    ConvertOptions options = over();
    options.format_options = {{"idv.deflate", deflate ? "true" : "false"}};
    convert(open(path), {}, dir / "again.idv", options);
    CHECK(columns_of(dir / "again.idv") == columns_of(path));
    CHECK(metadata_of(dir / "again.idv") == metadata_of(path));
    CHECK(verify(dir / "again.idv", Level::payload).findings.empty());
  }
  const std::string bytes = test::read_text(dir / "again.idv");
  for (const char* item : {"Key2", "Boolean", "DateTime", "TimeSpan", "DateTimeOffset",
                           "DataViewRowId", "TextSpan", "VBuffer", "Int16"}) {
    CAPTURE(item);
    CHECK(bytes.find(item) != std::string::npos);
  }
  // The file's own types, as they are told of columns that are chosen alone.
  OpenOptions alone;
  alone.format_options = {{"idv.column", "v"}};
  CHECK(std::holds_alternative<Matrix>(open(dir / "again.idv", alone)));
  alone.format_options = {{"idv.column", "z"}};
  CHECK(Frame::open(dir / "again.idv", alone).cols() == 2);
}

TEST_CASE("idv: a single vector keeps its name, its items and its slot names") {
  const test::TempDir dir;
  FileColumn column{"pixels",
                    vector_codec(key2_codec("Byte", 3), {2}),
                    {vectors({{2}}, 2, packed<std::uint8_t>({1, 3}))},
                    1};
  column.metadata = {
      {"SlotNames", vector_codec(codec("TextSpan"), {2}), vectors({{2}}, 2, texts({1, 2}, "ab"))},
      {"KeyValues", vector_codec(codec("TextSpan"), {3}),
       vectors({{3}}, 3, texts({3, 4, 7}, "redbxyz"))}};
  const auto path = dir.write("t.idv", build(6, 1, {column}).bytes);
  convert(open(path), {}, dir / "again.idv", over());
  OpenOptions named;
  named.format_options = {{"idv.column", "pixels"}};
  const Frame pixels = Frame::open(dir / "again.idv", named);
  CHECK(pixels.read_column<int>(1, {0, 1}) == std::vector<int>{3});
  const auto metadata = metadata_of(dir / "again.idv");
  REQUIRE(metadata.size() == 2);
  CHECK(metadata[0] == R"("pixels": KeyValues, Vector<Text,3> = ["red", "b", "xyz"])");
  CHECK(metadata[1] == R"("pixels": SlotNames, Vector<Text,2> = ["a", "b"])");
}

TEST_CASE("idv: a single vector with slot names has a header line in CSV") {
  const test::TempDir dir;
  FileColumn column{"v",
                    vector_codec(codec("Byte"), {3}),
                    {vectors({{3}}, 3, packed<std::uint8_t>({1, 2, 3}))},
                    1};
  const auto path = dir.write("plain.idv", build(6, 1, {column}).bytes);
  convert(open(path), {}, dir / "t.csv", over());
  CHECK(test::read_text(dir / "t.csv") == "1,2,3\n");
  column.metadata = {{"SlotNames", vector_codec(codec("TextSpan"), {3}),
                      vectors({{3, {{0, 2}}}}, 3, texts({1, 3}, "abc"))}};
  const auto named = dir.write("named.idv", build(6, 1, {column}).bytes);
  convert(open(named), {}, dir / "t.csv", over());
  CHECK(test::read_text(dir / "t.csv") == "a,v.1,bc\n1,2,3\n");
  convert(open(named), {{}, std::vector<std::uint64_t>{2, 0}}, dir / "t.csv", over());
  CHECK(test::read_text(dir / "t.csv") == "bc,a\n3,1\n");
}

TEST_CASE("idv: meanings survive a way through our own format and through CSV") {
  const test::TempDir dir;
  const auto path = dir.write("t.idv", build(6, 3, sample()).bytes);
  convert(open(path), {}, dir / "t.dbdf", over());
  CHECK(columns_of(dir / "t.dbdf") == columns_of(path));
  test::write_text(dir / "people.csv",
                   "name,member,born,team\nAnn,true,1990-02-03,red\nBob,false,1985-12-31,blue\n"
                   "Cem,true,2001-01-01,red\nDan,false,1999-09-09,\n");
  convert(open(dir / "people.csv"), {}, dir / "people.idv", over());
  const Frame csv = Frame::open(dir / "people.csv"), idv = Frame::open(dir / "people.idv");
  REQUIRE(idv.cols() == 4);
  for (std::uint64_t col : {0, 1, 3}) {
    CHECK(idv.column_info(col).meaning.kind == csv.column_info(col).meaning.kind);
  }
  const auto lines = columns_of(dir / "people.idv");
  CHECK(lines[0].ends_with("<Ann> <Bob> <Cem> <Dan>"));
  CHECK(lines[1] == "member u8 boolean: <true> <false> <true> <false>");
  CHECK(
      lines[2].ends_with("<1990-02-03T00:00:00.000000> <1985-12-31T00:00:00.000000> "
                         "<2001-01-01T00:00:00.000000> <1999-09-09T00:00:00.000000>"));
  CHECK(lines[3].ends_with("<red> <blue> <red> <>"));
}

TEST_CASE("idv: numbered columns of one type are a vector") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", "x.0,x.1,y.0,z\n1.5,2.5,3.5,4.5\n");
  convert(open(dir / "t.csv"), {}, dir / "t.idv", over());
  OpenOptions chosen;
  chosen.format_options = {{"idv.column", "x"}};
  CHECK(std::get<Matrix>(open(dir / "t.idv", chosen)).cols() == 2);
  CHECK(columns_of(dir / "t.idv") == columns_of(dir / "t.csv"));
}

TEST_CASE("idv: what ML.NET has no place for names the column, and can be had as numbers") {
  const test::TempDir dir;
  const auto refused = [&](const std::string& text, const std::string& column) {
    test::write_text(dir / "t.csv", text);
    const Error error =
        required_error(error_of([&] { convert(open(dir / "t.csv"), {}, dir / "t.idv", over()); }));
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.detail().find("column '" + column + "'") != std::string::npos);
    CHECK(error.option() == "stored_numbers");
    ConvertOptions numbers = over();
    numbers.stored_numbers = true;
    convert(open(dir / "t.csv"), {}, dir / "t.idv", numbers);
    CHECK(is_plain(Frame::open(dir / "t.idv").column_info(0)));
  };
  refused("alive,n\ntrue,1\n,2\nfalse,3\n", "alive");
  refused("day,n\n2020-01-01,1\n,2\n", "day");
  const Error old = [&] {
    const auto path =
        dir.write("old.idv", build(6, 2, {{"b", codec("DvBool"), {bits2({1, 2})}, 2}}).bytes);
    return required_error(error_of([&] { convert(open(path), {}, dir / "t.idv", over()); }));
  }();
  CHECK(old.option() == "stored_numbers");
}

TEST_CASE("idv: times that no unit of ours holds stay ticks") {
  const test::TempDir dir;
  // A step of 100 ns in the year 1 is beyond nanoseconds since 1970, and no microsecond.
  const auto path = dir.write(
      "t.idv",
      build(6, 2, {times("d", "DateTime", {1, 20}), times("o", "DvDateTime", {kLeastTick, 20})})
          .bytes);
  CHECK(columns_of(path) ==
        std::vector<std::string>{
            "d i64 number: <1> <20>",
            "o i64 timestamp us, missing 9223372036854775808: <> <0001-01-01T00:00:00.000002>"});
  convert(open(path), {{}, std::vector<std::uint64_t>{0}}, dir / "again.idv", over());
  CHECK(columns_of(dir / "again.idv")[0] == "d i64 number: <1> <20>");
}

TEST_CASE("idv: the longest time span is missing only in files of old versions") {
  const test::TempDir dir;
  const FileColumn spans = times("s", "TimeSpan", {kLeastTick, 20});
  const auto today = dir.write("today.idv", build(6, 2, {spans}).bytes);
  const std::vector<std::string> ticks = {"s i64 number: <-9223372036854775808> <20>"};
  CHECK(columns_of(today) == ticks);
  for (const char* target : {"a.dbdf", "a.idv", "a.csv"}) {
    convert(open(today), {}, dir / target, over());
    CHECK(columns_of(dir / target) == ticks);
  }
  const std::vector<std::string> missing = {
      "s i64 duration us, missing 9223372036854775808: <> <00:00:00.000002>"};
  CHECK(columns_of(dir.write("old.idv", build(5, 2, {spans}).bytes)) == missing);
  const FileColumn renamed = times("s", "DvTimeSpan", {kLeastTick, 20});
  CHECK(columns_of(dir.write("dv.idv", build(6, 2, {renamed}).bytes)) == missing);
}

TEST_CASE("idv: convert tells of columns that become two, and of names that a matrix loses") {
  const test::TempDir dir;
  const auto path = dir.write("t.idv", build(6, 3, sample()).bytes);
  const auto notes = [&](const char* target, const std::vector<std::string>& columns) {
    std::string all;
    OpenOptions chosen;
    for (const std::string& column : columns) chosen.format_options.emplace("idv.column", column);
    ConvertOptions options = over();
    options.note = [&](const std::string& note) { all += note + '\n'; };
    convert(open(path, chosen), {}, dir / target, options);
    return all;
  };
  CHECK(notes("a.dbdf", {}) ==
        "column 'n': dbdf does not keep how many keys there are\n"
        "columns 'z', 'r': dbdf keeps the two parts of each cell as two columns\n");
  CHECK(notes("a.csv", {"r", "v"}) ==
        "group 'v': csv keeps the columns, but not that they are one vector\n"
        "column 'r': csv keeps the two parts of each cell as two columns\n");
  CHECK(notes("a.idv", {}).empty());
  CHECK(notes("a.npy", {"v"}) == "npy keeps no names of the columns of a matrix\n");
  CHECK(notes("a.csv", {"v"}).empty());
}

TEST_CASE("idv: convert tells of times that become plain ticks") {
  const test::TempDir dir;
  const FileColumn vector{"v",
                          vector_codec(codec("DateTime"), {2}),
                          {vectors({{2}, {2}}, 2, packed<std::int64_t>({1, 2, 3, 4}))},
                          2};
  const auto path = dir.write("t.idv", build(6, 2,
                                             {times("s", "TimeSpan", {kLeastTick, 20}),
                                              times("d", "DateTime", {kEpoch, 20}), vector})
                                           .bytes);
  const auto notes = [&](const char* target, const Selection& selection, bool stored) {
    std::string all;
    ConvertOptions options = over();
    options.stored_numbers = stored;
    options.note = [&](const std::string& note) { all += note + '\n'; };
    convert(open(path), selection, dir / target, options);
    return all;
  };
  CHECK(notes("a.dbdf", {}, false) ==
        "columns 's', 'v': dbdf keeps the times as plain numbers, ticks of 100 ns\n");
  CHECK(notes("a.dbdf", {}, true).empty());  // that is what was asked for
  CHECK(notes("a.idv", {}, false).empty());
  CHECK(columns_of(dir / "a.idv") == columns_of(path));
  CHECK(details_of(dir / "a.idv", "ticks") ==
        std::vector<std::string>{"\"s\": TimeSpan as plain numbers, ticks of 100 ns, because no "
                                 "unit of time was found to hold every value",
                                 "\"v\": DateTime as plain numbers, ticks of 100 ns, because it "
                                 "is a vector"});
  // One slot of the vector is no vector.
  CHECK(notes("b.idv", {{}, std::vector<std::uint64_t>{0, 2}}, false) ==
        "column 'v': idv keeps the times as plain numbers, ticks of 100 ns\n");
}

TEST_CASE("idv: damaged texts and key values are an error, and never other words") {
  const test::TempDir dir;
  const FileColumn number{"i", codec("Byte"), {packed<std::uint8_t>({1, 2})}, 2};
  const FileColumn bad{"t", codec("TextSpan"), {texts({1, 3}, "ab")}, 2};
  const auto path = dir.write("t.idv", build(6, 2, {number, bad}).bytes);
  const Frame frame = Frame::open(path);
  CHECK(frame.read_column<int>(0, {0, 2}) == std::vector<int>{1, 2});
  for (int i = 0; i < 2; ++i) {
    CHECK(error_of([&] { frame.read_column<std::uint32_t>(1, {0, 2}); })->code() == Errc::corrupt);
    const auto unread = error_of([&] { frame.column_info(1).meaning.words->size(); });
    CHECK((unread && unread->code() == Errc::corrupt));
  }
  CHECK(verify(path, Level::payload).findings.size() == 1);

  // Two thousand million words in a few bytes.
  FileColumn many{"m", key2_codec("UInt32", 2'000'000'000), {packed<std::uint32_t>({1})}, 1};
  many.metadata = {{"KeyValues", vector_codec(codec("TextSpan"), {2'000'000'000}),
                    vectors({{2'000'000'000, {{5}}}}, 2'000'000'000, texts({1}, "a"))}};
  const Frame of_many = Frame::open(dir.write("m.idv", build(6, 1, {many}).bytes));
  CHECK(error_of([&] { (*of_many.column_info(0).meaning.words)[0]; })->code() == Errc::corrupt);

  FileColumn keys = key("k", packed<std::uint8_t>({1, 2, 3}), true);
  keys.metadata[0].value = vectors({{3}}, 3, texts({3, 4, 9}, "redbxyz"));
  const auto keyed = dir.write("k.idv", build(6, 3, {keys}).bytes);
  const Frame of_keys = Frame::open(keyed);
  CHECK(of_keys.column_info(0).meaning.words->size() == 3);
  CHECK(error_of([&] { (*of_keys.column_info(0).meaning.words)[0]; })->code() == Errc::corrupt);
  CHECK(of_keys.read_column<int>(0, {0, 3}) == std::vector<int>{1, 2, 3});
}
