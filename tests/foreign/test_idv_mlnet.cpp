// What ML.NET sees of a file where it is not what the file seems to say: hidden columns, slots of
// one name, values and codecs that it refuses.

#include <algorithm>
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
using test::base;
using test::error_of;
using test::required_error;
using namespace test::idv;

namespace {

std::filesystem::path write_idv(const test::TempDir& dir, const std::vector<FileColumn>& columns) {
  return dir.write("t.idv", build(6, 1, columns).bytes);
}

std::vector<std::string> labels_of(const std::variant<Matrix, Frame>& object) {
  std::vector<std::string> labels;
  const Frame& frame = std::get<Frame>(object);
  for (std::uint64_t c = 0; c < frame.cols(); ++c) labels.push_back(frame.label(c));
  return labels;
}

FileColumn number(std::string name, std::uint8_t value) {
  return {std::move(name), codec("Byte"), {packed<std::uint8_t>({value})}, 1};
}

FileColumn one_hot(std::string name) {
  FileColumn column{std::move(name),
                    vector_codec(codec("Byte"), {2}),
                    {vectors({{2}}, 2, packed<std::uint8_t>({1, 0}))},
                    1};
  column.metadata = {{"SlotNames", vector_codec(codec("TextSpan"), {2}),
                      vectors({{2}}, 2, texts({3, 5}, "yesno"))}};
  return column;
}

std::vector<std::string> findings(const std::filesystem::path& path, Level level) {
  std::vector<std::string> details;
  for (const Error& finding : verify(path, level).findings) details.push_back(finding.detail());
  return details;
}

}  // namespace

TEST_CASE("idv: of columns of one name the last is chosen, and the others are told as hidden") {
  const test::TempDir dir;
  const auto path = write_idv(dir, {number("a", 1), number("b", 2), number("a", 3)});
  OpenOptions options;
  options.format_options = {{"idv.column", "a"}};
  const auto chosen = std::get<Frame>(open(path, options));
  CHECK(chosen.read_column<std::uint8_t>(0, {0, 1}) == std::vector<std::uint8_t>{3});
  std::vector<std::string> hidden;
  for (const Detail& detail : base(open(path)).details()) {
    if (detail.title == "hidden") hidden.push_back(detail.text);
  }
  CHECK(hidden ==
        std::vector<std::string>{"\"a\", column 0 of the file: a later one has its name"});
}

TEST_CASE("idv: slots whose names are not unique are labelled with their column as well") {
  const test::TempDir dir;
  using Labels = std::vector<std::string>;
  CHECK(labels_of(open(write_idv(dir, {one_hot("p"), number("n", 1)}))) ==
        Labels{"yes", "no", "n"});
  CHECK(labels_of(open(write_idv(dir, {one_hot("p"), one_hot("q")}))) ==
        Labels{"p.yes", "p.no", "q.yes", "q.no"});
  const auto path = write_idv(dir, {one_hot("p"), number("no", 1)});
  CHECK(labels_of(open(path)) == Labels{"yes", "p.no", "no"});
  OpenOptions options;
  options.format_options = {{"idv.column", "p.no"}};
  CHECK(labels_of(open(path, options)) == Labels{"p.no"});
}

TEST_CASE("idv: a vector too wide for a frame is dropped when that is asked for") {
  const test::TempDir dir;
  const FileColumn hashed{"hashed",
                          vector_codec(codec("Byte"), {300'000}),
                          {vectors({Vector{300'000, std::vector<std::int32_t>{7}}}, 300'000,
                                   packed<std::uint8_t>({1}))},
                          1};
  const auto path = write_idv(dir, {number("n", 5), hashed});
  CHECK(base(open(path)).text_columns().size() == 1);
  OpenOptions options;
  options.format_options = {{"idv.drop_unsupported", "true"}};
  const auto frame = std::get<Frame>(open(path, options));
  CHECK(frame.text_columns().empty());
  CHECK(labels_of(frame) == std::vector<std::string>{"n"});
  convert(open(path, options), {}, dir / "n.dbdf");
  CHECK(Frame::open(dir / "n.dbdf").read_column<int>(0, {0, 1}) == std::vector<int>{5});
}

TEST_CASE("idv: verify finds codecs and compressions that nobody knows") {
  const test::TempDir dir;
  const FileColumn strange{"s", codec("Strange"), {raw("?")}, 1};
  const FileColumn inside{"i", vector_codec(codec("Bite"), {2}), {raw("?")}, 1};
  FileColumn squeezed = number("z", 1);
  squeezed.compression = 9;
  const auto path = write_idv(dir, {number("n", 1), strange, inside, squeezed});
  for (const Level level : {Level::structure, Level::payload}) {
    CHECK(findings(path, level) ==
          std::vector<std::string>{"column \"s\" cannot be read: unknown codec Strange",
                                   "column \"i\" cannot be read: unknown codec Bite",
                                   "column \"z\" cannot be read: Byte, compression unknown (9)"});
  }
  CHECK(findings(write_idv(dir, {number("n", 1)}), Level::payload).empty());
}

TEST_CASE("idv: verify finds dates that .NET does not have") {
  const test::TempDir dir;
  constexpr std::int64_t kMost = 3'155'378'975'999'999'999;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const auto found = [&](const char* item, const Bytes& block) {
    return findings(write_idv(dir, {{"d", codec(item), {block}, 1}}), Level::payload).size();
  };
  const auto ticks = [](std::int64_t value) { return packed<std::int64_t>({value}); };
  for (const std::int64_t value : {std::int64_t{0}, kMost}) {
    CHECK(found("DateTime", ticks(value)) == 0);
    CHECK(found("DateTimeOffset", zoned({{value, 840}})) == 0);
  }
  for (const std::int64_t value : {std::int64_t{-1}, kMost + 1, kLeast}) {
    CHECK(found("DateTime", ticks(value)) == 1);
    CHECK(found("DateTimeOffset", zoned({{value, -840}})) == 1);
    CHECK(found("TimeSpan", ticks(value)) == 0);
    CHECK(found("Int64", ticks(value)) == 0);
  }
  CHECK(found("DateTimeOffset", zoned({{5, 841}})) == 1);
  // A missing value of the old codecs.
  CHECK(found("DvDateTime", ticks(kLeast)) == 0);
  CHECK(found("DvDateTime", ticks(-1)) == 1);
}

TEST_CASE("idv: a column is no part of a vector whose name another column has") {
  const test::TempDir dir;
  for (const char* text :
       {"a,a.0,a.1\n5,1,3\n6,2,4\n", "a.0,a.1,a\n1,3,5\n2,4,6\n", "a.0,a.1,b,a.0,a.1\n1,2,3,4,5\n",
        "a.0,a.1,a.0.0,a.0.1,a\n1,2,3,4,5\n"}) {
    CAPTURE(text);
    test::write_text(dir / "t.csv", text);
    CHECK(written(open(dir / "t.csv"), dir / "t.idv").empty());
    CHECK(columns_of(dir / "t.idv") == columns_of(dir / "t.csv"));
  }
  // A group of our own format, too.
  const auto group = std::make_shared<ColumnGroup>(ColumnGroup{"g", 2});
  const std::vector<Column> columns = {
      {"x", ValueType::u8, {}, group, 0}, {"y", ValueType::u8, {}, group, 1}, {"g", ValueType::u8}};
  FrameWriter::create(dir / "g.dbdf", 0, columns).finish();
  CHECK(written(open(dir / "g.dbdf"), dir / "g.idv").empty());
  CHECK(columns_of(dir / "g.idv") == Notes{"x u8 number:", "y u8 number:", "g u8 number:"});
}

TEST_CASE("idv: columns of one label are all written, and it is told that ML.NET shows the last") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", "a,b,a\n1,2,3\n");
  CHECK(written(open(dir / "t.csv"), dir / "t.idv") ==
        Notes{"column 'a': of columns of one name ML.NET shows only the last"});
  OpenOptions all;
  all.format_options = {{"idv.keep_hidden", "true"}};
  CHECK(Frame::open(dir / "t.idv", all).cols() == 3);
}

TEST_CASE("idv: values of keys that are times or truth values are shown as such") {
  const test::TempDir dir;
  const auto key = [](const char* name, const char* item, const Bytes& values, std::int32_t n) {
    FileColumn column{
        name, key2_codec("Byte", static_cast<std::uint64_t>(n)), {packed<std::uint8_t>({2, 1})}, 2};
    column.metadata = {{"KeyValues", vector_codec(codec(item), {n}), vectors({{n}}, n, values)}};
    return column;
  };
  const auto ticks = [](std::int64_t a, std::int64_t b) { return packed<std::int64_t>({a, b}); };
  FileColumn sparse = key("sparse", "Single", {}, 2);
  sparse.metadata[0].value = vectors({{2, {{1}}}}, 2, packed<float>({5}));
  const auto path = dir.write(
      "t.idv",
      build(
          6, 2,
          {key("date", "DateTime", ticks(kUnixTicks, kUnixTicks + 864'000'000'000), 2),
           key("span", "TimeSpan", ticks(36'000'000'000, 5), 2),
           key("truth", "Boolean", bits({1, 0}), 2),
           key("zoned", "DateTimeOffset", zoned({{kUnixTicks, -90}, {kUnixTicks + 10, 120}}), 2),
           key("ticks", "TimeSpan", ticks(std::numeric_limits<std::int64_t>::min(), 7), 2), sparse})
          .bytes);
  CHECK(
      columns_of(path) ==
      Notes{
          "date u8 category, missing 0: <1970-01-02T00:00:00.000000> <1970-01-01T00:00:00.000000>",
          "span u8 category, missing 0: <00:00:00.000000500> <01:00:00.000000000>",
          "truth u8 category, missing 0: <false> <true>",
          "zoned u8 category, missing 0: <1970-01-01T00:00:00.000001+02:00> "
          "<1970-01-01T00:00:00.000000-01:30>",
          "ticks u8 category, missing 0: <00:00:00.000000700> <-9223372036854775808>",
          "sparse u8 category, missing 0: <5> <0>"});
  CHECK(metadata_of(path)[2] == R"("truth": KeyValues, Vector<Boolean,2> = [true, false])");
  CHECK(written(open(path), dir / "again.idv").empty());
  CHECK(metadata_of(dir / "again.idv") == metadata_of(path));
}

TEST_CASE("idv: no columns of a matrix are a matrix without columns") {
  const test::TempDir dir;
  const FileColumn vector{
      "v", vector_codec(codec("Byte"), {2}), {vectors({{2}}, 2, packed<std::uint8_t>({1, 2}))}, 1};
  const auto path = dir.write("t.idv", build(6, 1, {vector}).bytes);
  CHECK(written(open(path), dir / "none.dbdf", {{}, std::vector<std::uint64_t>{}}).empty());
  CHECK(Matrix::open(dir / "none.dbdf").cols() == 0);
  CHECK(required_error(error_of([&] {
          written(open(path), dir / "none.idv", {{}, std::vector<std::uint64_t>{}});
        })).code() == Errc::unsupported);
}

TEST_CASE("idv: missing texts, which ML.NET has not, are told") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", "t,u\n\"x y\",a\n,b\n\"x z\",c\n\"x\",d\n\"y\",e\n");
  OpenOptions text;
  text.format_options = {{"csv.type", "*=text"}};
  CHECK(written(open(dir / "t.csv", text), dir / "t.idv") ==
        Notes{"column 't': ML.NET reads missing texts as empty ones"});
  CHECK(written(open(dir / "t.idv"), dir / "again.idv").empty());  // nothing new
}

TEST_CASE("idv: columns that can only be shown are put together when they are left out") {
  const test::TempDir dir;
  const FileColumn shown{
      "w", vector_codec(codec("Byte"), {}), {vectors({{1}}, 0, packed<std::uint8_t>({1}))}, 1};
  const FileColumn number{"n", codec("Byte"), {packed<std::uint8_t>({4})}, 1};
  const auto path = dir.write("t.idv", build(6, 1, {shown, number}).bytes);
  const Error error = required_error(error_of([&] { below({path, path}); }));
  CHECK(error.detail() == "column 'w' can only be shown, not put together");
  CHECK(error.option() == "idv.drop_unsupported");
}
