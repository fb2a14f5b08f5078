// What ML.NET sees of a file where it is not what the file seems to say: hidden columns, slots of
// one name, values and codecs that it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/foreign/idv_image.h"
#include "tests/support.h"

using namespace dapple;
using test::base;
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
  options.idv.columns = {"a"};
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
  options.idv.columns = {"p.no"};
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
  options.idv.drop_unsupported = true;
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
