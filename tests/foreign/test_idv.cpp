// Reading ML.NET files: every codec, version and compression, against what was put into them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/idv_image.h"
#include "tests/support.h"

using namespace dapple;
using test::base;
using test::error_of;
using namespace test::idv;

namespace {

std::variant<Matrix, Frame> open_file(const test::TempDir& dir, const Bytes& bytes,
                                      const FormatOptions& options = {}) {
  OpenOptions open_options;
  open_options.format_options = options;
  return open(dir.write("t.idv", bytes), open_options);
}

/// "label type: v v v" for each column, then "label as type: v | v" for each text column.
std::vector<std::string> columns_of(const std::variant<Matrix, Frame>& object) {
  const BlockedObject& o = base(object);
  std::vector<std::string> lines;
  for (std::uint64_t c = 0; c < o.cols(); ++c) {
    const auto* frame = std::get_if<Frame>(&object);
    std::string line = frame != nullptr ? frame->label(c) + " " : "";
    if (frame != nullptr && frame->column_info(c).meaning.has_words()) {
      const Column& info = frame->column_info(c);
      line += std::string(name(info.meaning.kind)) + ':';
      const auto codes = frame->read_column<std::uint64_t>(c, {0, o.rows()});
      for (std::size_t r = 0; r < codes.size(); ++r) {
        line += r == 0 ? " " : " | ";
        append_text(info, codes[r], line);
      }
      lines.push_back(line);
      continue;
    }
    line += std::string(name(o.column_type(c))) + ":";
    visit_type(o.column_type(c), [&](auto tag) {
      using T = decltype(tag);
      std::vector<T> values(o.rows());
      const Region column{{0, o.rows()}, {c, c + 1}};
      std::visit([&](const auto& x) { x.template read<T>(column, std::span<T>(values)); }, object);
      for (const T v : values) {
        if constexpr (std::is_integral_v<T>) {
          line += " " + std::to_string(v);
        } else {
          line += " " + std::to_string(static_cast<std::int64_t>(v * 8)) + "/8";
        }
      }
    });
    lines.push_back(line);
  }
  for (std::size_t k = 0; k < o.text_columns().size(); ++k) {
    const TextColumn& column = o.text_columns()[k];
    std::string line = column.label + " as " + column.type + ":";
    if (column.readable) {
      o.read_text(k, {0, o.rows()}, [&](std::uint64_t row, std::string_view text) {
        line += (row == 0 ? " " : " | ") + std::string(text);
      });
    }
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

/// One column of three rows in two blocks, in each codec that is not a vector.
struct CodecSample {
  std::string load_name;
  Bytes codec, first, second;
  Lines expected;
};

std::vector<CodecSample> scalar_samples() {
  const auto plain = [](std::string load_name, Bytes first, Bytes second, std::string line) {
    return CodecSample{load_name, codec(load_name), std::move(first), std::move(second), {line}};
  };
  using I64 = std::int64_t;
  std::vector<CodecSample> all = {
      plain("SByte", packed<std::int8_t>({-128, 127}), packed<std::int8_t>({-1}),
            "x i8: -128 127 -1"),
      plain("Byte", packed<std::uint8_t>({0, 255}), packed<std::uint8_t>({7}), "x u8: 0 255 7"),
      plain("Int16", packed<std::int16_t>({-32768, 1}), packed<std::int16_t>({2}),
            "x i16: -32768 1 2"),
      plain("UInt16", packed<std::uint16_t>({65535, 1}), packed<std::uint16_t>({2}),
            "x u16: 65535 1 2"),
      plain("Int32", packed<std::int32_t>({-5, 6}), packed<std::int32_t>({7}), "x i32: -5 6 7"),
      plain("UInt32", packed<std::uint32_t>({4294967295u, 6}), packed<std::uint32_t>({7}),
            "x u32: 4294967295 6 7"),
      plain("Int64", packed<I64>({kLeast, 6}), packed<I64>({7}), "x i64: -9223372036854775808 6 7"),
      plain("UInt64", packed<std::uint64_t>({~std::uint64_t{0}, 6}), packed<std::uint64_t>({7}),
            "x u64: 18446744073709551615 6 7"),
      plain("Single", packed<float>({0.5f, -1}), packed<float>({8}), "x f32: 4/8 -8/8 64/8"),
      plain("Double", packed<double>({0.125, -1}), packed<double>({8}), "x f64: 1/8 -8/8 64/8"),
      plain("TimeSpan", packed<I64>({5, 6}), packed<I64>({7}), "x i64: 500 600 700"),
      plain("Boolean", bits({1, 0}), bits({1}), "x u8: 1 0 1"),
      plain("DvBool", bits2({2, 1}), bits2({0}), "x u8: 2 1 0"),
      plain("DataViewRowId", packed<std::uint64_t>({1, 2, 3, 4}), packed<std::uint64_t>({5, 6}),
            "x.low u64: 1 3 5"),
      plain("TextSpan", texts({3, 3 | 0x80000000u}, "foo"), texts({0}, ""), "x text: foo |  | "),
      {"Key2",
       key2_codec("Byte", 255),
       packed<std::uint8_t>({0, 255}),
       packed<std::uint8_t>({1}),
       {"x u8: 0 255 1"}},
      {"Key",
       old_key_codec("UInt64", 0),
       packed<std::uint64_t>({0, 9}),
       packed<std::uint64_t>({1}),
       {"x u64: 0 9 1"}},
  };
  all[13].expected.push_back("x.high u64: 2 4 6");
  // Nanoseconds; or ticks, for dates that are too long ago for those.
  for (const std::string ticks : {"DvTimeSpan", "DateTime", "DvDateTime"}) {
    all.push_back(plain(ticks, packed<I64>({kLeast, 6}), packed<I64>({7}),
                        std::string("x i64: -9223372036854775808 ") +
                            (ticks.ends_with("TimeSpan") ? "600 700" : "6 7")));
  }
  for (const char* zone : {"DateTimeOffset", "DvDateTimeZone"}) {
    all.push_back(plain(zone, zoned({{10, -840}, {11, 0}}), zoned({{kLeast, 840}}),
                        "x i64: 10 11 -9223372036854775808"));
    all.back().expected.push_back("x.minutes i16: -840 0 840");
  }
  return all;
}

}  // namespace

TEST_CASE("idv: every codec reads in every version and compression") {
  const test::TempDir dir;
  for (const CodecSample& sample : scalar_samples()) {
    CAPTURE(sample.load_name);
    for (int version = 2; version <= 6; ++version) {
      for (int compression = 0; compression <= 2; ++compression) {
        CAPTURE(version);
        CAPTURE(compression);
        const FileColumn column{"x", sample.codec, {sample.first, sample.second}, 2, compression};
        const auto object = open_file(dir, build(version, 3, {column}).bytes);
        CHECK(std::holds_alternative<Frame>(object));
        CHECK(columns_of(object) == sample.expected);
      }
    }
  }
}

TEST_CASE("idv: many packed Booleans keep their places over words and blocks") {
  const test::TempDir dir;
  std::vector<int> one(1000), two(1000);
  test::Rng rng(5);
  for (auto& b : one) b = static_cast<int>(rng.below(2));
  for (auto& b : two) b = static_cast<int>(rng.below(3));
  const auto object = open_file(dir, build(6, 1000,
                                           {{"a", codec("Boolean"), {bits(one)}, 1000},
                                            {"b", codec("DvBool"), {bits2(two)}, 1000}})
                                         .bytes);
  const Frame& frame = std::get<Frame>(object);
  for (const Range rows : {Range{0, 1000}, Range{13, 600}, Range{999, 1000}}) {
    const auto a = frame.read_column<double>(0, rows), b = frame.read_column<double>(1, rows);
    CHECK(std::equal(a.begin(), a.end(), one.begin() + static_cast<std::ptrdiff_t>(rows.begin)));
    CHECK(std::equal(b.begin(), b.end(), two.begin() + static_cast<std::ptrdiff_t>(rows.begin)));
  }
}

TEST_CASE("idv: one column of numeric vectors is a matrix, dense and sparse rows alike") {
  const test::TempDir dir;
  const Vector dense{3}, sparse{3, std::vector<std::int32_t>{0, 2}}, none{3, {{}}};
  const Bytes block =
      vectors({dense, sparse, none, dense}, 3, packed<float>({1, 2, 3, 4, 5, 6, 7, 8}));
  const auto object =
      open_file(dir, build(6, 4, {{"f", vector_codec(codec("Single"), {3}), {block}, 9, 1}}).bytes);
  REQUIRE(std::holds_alternative<Matrix>(object));
  const Matrix& m = std::get<Matrix>(object);
  CHECK(m.value_type() == ValueType::f32);
  CHECK(m.storage() == Storage::csr);
  CHECK(m.read<double>({{0, 4}, {0, 3}}) ==
        std::vector<double>{1, 2, 3, 4, 0, 5, 0, 0, 0, 6, 7, 8});
  CHECK(m.read<float>({{1, 4}, {1, 3}}) == std::vector<float>{0, 5, 0, 0, 7, 8});
  const auto csr = m.read_csr<float>({{1, 4}, {0, 3}});
  CHECK(csr.col_idx == std::vector<std::uint64_t>{0, 2, 0, 1, 2});
  CHECK(csr.values == std::vector<float>{4, 5, 6, 7, 8});
  CHECK(m.block({0, 0}).info().kind == BlockKind::csr);
}

TEST_CASE("idv: vectors of every item") {
  const test::TempDir dir;
  const Vector dense{2}, sparse{2, std::vector<std::int32_t>{1}};
  const auto check = [&](const Bytes& items, const Bytes& values, const Lines& expected) {
    const FileColumn vector{
        "v", vector_codec(items, {2, 1}), {vectors({dense, sparse}, 2, values)}, 2};
    const FileColumn other{"n", codec("Byte"), {packed<std::uint8_t>({8, 9})}, 2};
    Lines lines = expected;
    lines.insert(std::find_if(lines.begin(), lines.end(),
                              [](const std::string& l) { return l.find(" as ") != l.npos; }),
                 "n u8: 8 9");
    CHECK(columns_of(open_file(dir, build(6, 2, {vector, other}).bytes)) == lines);
  };
  check(codec("Int16"), packed<std::int16_t>({-1, 2, 3}), {"v.0 i16: -1 0", "v.1 i16: 2 3"});
  check(codec("Boolean"), bits({1, 0, 1}), {"v.0 u8: 1 0", "v.1 u8: 0 1"});
  check(codec("DvBool"), bits2({2, 0, 1}), {"v.0 u8: 2 0", "v.1 u8: 0 1"});
  check(key2_codec("UInt32", 9), packed<std::uint32_t>({9, 0, 1}),
        {"v.0 u32: 9 0", "v.1 u32: 0 1"});
  check(codec("TimeSpan"), packed<std::int64_t>({1, 2, 3}), {"v.0 i64: 1 0", "v.1 i64: 2 3"});
  check(codec("DateTimeOffset"), zoned({{1, -1}, {2, -2}, {3, -3}}),
        {"v.0 i64: 1 0", "v.1 i64: 2 3", "v.0.minutes i16: -1 0", "v.1.minutes i16: -2 -3"});
  check(codec("DataViewRowId"), packed<std::uint64_t>({1, 2, 3, 4, 5, 6}),
        {"v.0.low u64: 1 0", "v.1.low u64: 3 5", "v.0.high u64: 2 0", "v.1.high u64: 4 6"});
  check(codec("TextSpan"), texts({1, 1, 3}, "a\"b"),
        {"v as Vector<Text,2,1>: [\"a\", \"\"] | 2: {1: \"\"\"b\"}"});
}

TEST_CASE("idv: vectors of varying length are text columns") {
  const test::TempDir dir;
  const auto lines = [&](const Bytes& definition, const Bytes& block, std::uint64_t rows) {
    return columns_of(open_file(dir, build(6, rows, {{"v", definition, {block}, rows}}).bytes));
  };
  const Bytes open_ended = vector_codec(codec("Single"), {0});
  CHECK(lines(open_ended,
              vectors({{0}, {2}, {3, {{1}}}, {1, {{}}}}, 0, packed<float>({0.5, -1, 7})),
              4) == Lines{"v as Vector<Single>: [] | [0.5, -1] | 3: {1: 7} | 1: {}"});
  CHECK(lines(open_ended, vectors({{1}, {1}}, 1, packed<float>({1, 2})), 2) ==
        Lines{"v as Vector<Single>: [1] | [2]"});
  CHECK(lines(vector_codec(codec("Byte"), {}), vectors({{1}}, 1, packed<std::uint8_t>({1})), 1) ==
        Lines{"v as Vector<Byte>: [1]"});
  CHECK(lines(vector_codec(codec("DateTimeOffset"), {2, 0}), vectors({{1}}, 1, zoned({{5, -60}})),
              1) == Lines{"v as Vector<DateTimeOffset,2,0>: [5@-60]"});
}

TEST_CASE("idv: text positions count UTF-16 units, and may split a surrogate pair") {
  const test::TempDir dir;
  const std::string smile = "\xf0\x9f\x98\x80";  // two units
  const auto lines = [&](const std::vector<std::uint32_t>& ends, const std::string& all) {
    const std::uint64_t rows = ends.size();
    return columns_of(
        open_file(dir, build(6, rows, {{"t", codec("TextSpan"), {texts(ends, all)}, rows}}).bytes));
  };
  CHECK(lines({2, 3, 3, 5},
              "\xc3\xa9"
              "bc" +
                  smile) == Lines{"t text: \xc3\xa9"
                                  "b | c |  | " +
                                  smile});
  const std::string half = "\xef\xbf\xbd";
  CHECK(lines({1, 1, 2, 4}, smile + "xy") == Lines{"t text: " + half + " |  | " + half + " | xy"});
  CHECK(lines({1, 3, 4}, smile + smile) ==
        Lines{"t text: " + half + " | " + half + half + " | " + half});
}

TEST_CASE("idv: slot names label the columns of a frame") {
  const test::TempDir dir;
  const Bytes block = vectors({{3}}, 3, packed<float>({1, 2, 3}));
  FileColumn vector{"v", vector_codec(codec("Single"), {3}), {block}, 1};
  const FileColumn other{"n", codec("Byte"), {packed<std::uint8_t>({8})}, 1};
  const Lines expected = {"a f32: 8/8", "v.1 f32: 16/8", "c f32: 24/8", "n u8: 8"};
  SUBCASE("metadata, plain and compressed, beside other kinds") {
    const Bytes names = vectors({{3, {{0, 2}}}}, 3, texts({1, 2}, "ac"));
    for (int compression = 0; compression <= 2; ++compression) {
      vector.metadata = {{"IsNormalized", codec("Boolean"), bits({1})},
                         {"Odd", codec("NoSuchCodec", raw("abc")), raw("?")},
                         {"SlotNames", vector_codec(codec("TextSpan"), {3}), names, compression}};
      CHECK(columns_of(open_file(dir, build(4, 1, {vector, other}).bytes)) == expected);
    }
  }
  SUBCASE("the table of version 1.1.1.3") {
    vector.slots = {{2, "c"}, {0, "a"}};
    CHECK(columns_of(open_file(dir, build(3, 1, {vector, other}).bytes)) == expected);
  }
  SUBCASE("names of another number of slots are none") {
    vector.metadata = {{"SlotNames", vector_codec(codec("TextSpan"), {2}),
                        vectors({{2}}, 2, texts({1, 2}, "ab"))}};
    const auto lines = columns_of(open_file(dir, build(6, 1, {vector, other}).bytes));
    CHECK(lines.front() == "v.0 f32: 8/8");
  }
}

TEST_CASE("idv: columns are chosen by name, by slot, or because they are numbers") {
  const test::TempDir dir;
  const FileColumn vector{
      "v", vector_codec(codec("Single"), {2}), {vectors({{2}}, 2, packed<float>({1, 2}))}, 1};
  const FileColumn text{"t", codec("TextSpan"), {texts({1}, "x")}, 1};
  const FileColumn number{"n", codec("Byte"), {packed<std::uint8_t>({8})}, 1};
  const Bytes bytes = build(6, 1, {vector, text, number}).bytes;
  CHECK(columns_of(open_file(dir, bytes)) ==
        Lines{"v.0 f32: 8/8", "v.1 f32: 16/8", "t text: x", "n u8: 8"});
  const FileColumn words{
      "w", vector_codec(codec("TextSpan"), {1}), {vectors({{1}}, 1, texts({1}, "x"))}, 1};
  const Bytes shown = build(6, 1, {vector, words, number}).bytes;
  CHECK(columns_of(open_file(dir, shown)).back() == "w as Vector<Text,1>: [\"x\"]");
  CHECK(base(open_file(dir, shown)).text_columns()[0].before == 2);
  CHECK(columns_of(open_file(dir, bytes, {{"idv.column", "v"}})) == Lines{"f32: 8/8", "f32: 16/8"});
  CHECK(columns_of(open_file(dir, bytes, {{"idv.column", "n"}, {"idv.column", "v"}})) ==
        Lines{"n u8: 8", "v.0 f32: 8/8", "v.1 f32: 16/8"});
  CHECK(columns_of(open_file(dir, bytes, {{"idv.column", "n"}, {"idv.column", "v.1"}})) ==
        Lines{"n u8: 8", "v.1 f32: 16/8"});
  CHECK(columns_of(open_file(dir, bytes, {{"idv.column", "t"}})) == Lines{"t text: x"});
  CHECK(columns_of(open_file(dir, shown, {{"idv.drop_unsupported", "true"}})) ==
        Lines{"v.0 f32: 8/8", "v.1 f32: 16/8", "n u8: 8"});
  CHECK(std::holds_alternative<Matrix>(
      open_file(dir, build(6, 1, {vector, words}).bytes, {{"idv.drop_unsupported", "true"}})));
  CHECK(error_of([&] { open_file(dir, bytes, {{"idv.column", "z"}}); })->code() == Errc::absent);
}

TEST_CASE("idv: a column in an unknown codec or compression is listed and skipped") {
  const test::TempDir dir;
  const FileColumn number{"n", codec("Byte"), {packed<std::uint8_t>({8})}, 1};
  const FileColumn strange{"s", codec("Strange", raw("\x01\x02")), {raw("??")}, 1};
  const FileColumn inside{"i", vector_codec(codec("Strange"), {2}), {raw("??")}, 1};
  const FileColumn squeezed{"z", codec("Byte"), {packed<std::uint8_t>({8})}, 1, 9};
  const auto object = open_file(dir, build(6, 1, {strange, number, inside, squeezed}).bytes);
  CHECK(columns_of(object) == Lines{"n u8: 8",
                                    "s as unknown codec Strange:", "i as unknown codec Strange:",
                                    "z as Byte, compression unknown (9):"});
  CHECK(base(object).note().find("\"s\" of unknown codec Strange") != std::string::npos);
  CHECK(error_of([&] { base(object).read_text(0, {0, 1}, {}); })->code() == Errc::unsupported);
  CHECK(error_of([&] {
          open_file(dir, build(6, 1, {strange, number}).bytes, {{"idv.column", "s"}});
        })->code() == Errc::unsupported);
  // What ML.NET does not see does not keep a vector from being a matrix.
  const FileColumn vector{
      "v", vector_codec(codec("Single"), {2}), {vectors({{2}}, 2, packed<float>({1, 2}))}, 1};
  CHECK(std::holds_alternative<Matrix>(open_file(dir, build(6, 1, {strange, vector}).bytes)));
}

TEST_CASE("idv: columns may be cut at different rows, and blocks may come in any order") {
  const test::TempDir dir;
  std::vector<Bytes> threes, ones;
  std::vector<std::int32_t> all(7);
  std::iota(all.begin(), all.end(), 10);
  for (std::int32_t v : all) ones.push_back(packed<std::int32_t>({v}));
  threes = {packed<std::int32_t>({10, 11, 12}), packed<std::int32_t>({13, 14, 15}),
            packed<std::int32_t>({16})};
  File file = build(6, 7, {{"a", codec("Int32"), threes, 3}, {"b", codec("Int32"), ones, 1}});
  const auto object = open_file(dir, file.bytes);
  CHECK(columns_of(object) == Lines{"a i32: 10 11 12 13 14 15 16", "b i32: 10 11 12 13 14 15 16"});
  CHECK(base(object).counts().total == 10);
  // The first two blocks of column a change places.
  file.patch(file.lookup[0], file.blocks[0][1]).patch(file.lookup[0] + 16, file.blocks[0][0]);
  CHECK(columns_of(open_file(dir, file.bytes))[0] == "a i32: 13 14 15 10 11 12 16");
}

TEST_CASE("idv: files without rows or columns open") {
  const test::TempDir dir;
  const auto no_rows =
      open_file(dir, build(6, 0, {{"v", vector_codec(codec("Single"), {4}), {}, 1, 1}}).bytes);
  CHECK(base(no_rows).rows() == 0);
  CHECK(base(no_rows).cols() == 4);
  CHECK(std::holds_alternative<Matrix>(no_rows));
  const auto no_columns = open_file(dir, build(6, 12, {}).bytes);
  CHECK(base(no_columns).rows() == 12);
  CHECK(base(no_columns).cols() == 0);
}

TEST_CASE("idv: a vector too wide for a frame is a text column there, a matrix by itself") {
  const test::TempDir dir;
  const std::int32_t width = 1 << 30;
  const Bytes block = vectors({{width, {{5, width - 1}}}}, width, packed<float>({0.5, 2}));
  const FileColumn wide{"w", vector_codec(codec("Single"), {width}), {block}, 1, 1};
  const FileColumn number{"n", codec("Byte"), {packed<std::uint8_t>({8})}, 1};
  const Bytes bytes = build(6, 1, {wide, number}).bytes;
  CHECK(columns_of(open_file(dir, bytes)) ==
        Lines{"n u8: 8", "w as Vector<Single,1073741824>: 1073741824: {5: 0.5, 1073741823: 2}"});
  const Matrix m = std::get<Matrix>(open_file(dir, bytes, {{"idv.column", "w"}}));
  CHECK(m.cols() == 1 << 30);
  CHECK(m.read<float>({{0, 1}, {4, 7}}) == std::vector<float>{0, 0.5, 0});
  CHECK(m.read_csr<float>({{0, 1}, {0, m.cols()}}).values == std::vector<float>{0.5, 2});
}
