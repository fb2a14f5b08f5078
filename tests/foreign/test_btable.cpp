// BTables read and written: real ones, and built ones of every shape.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/base/utf16.h"
#include "tests/check.h"
#include "tests/foreign/btable_image.h"
#include "tests/foreign/cells_text.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// A label as the canonical text has it: JSON in ASCII.
std::string json_text(std::string_view label) {
  Bytes units;
  REQUIRE_FALSE(detail::append_utf8_as_utf16be(label, units));
  std::string text = "\"";
  for (std::size_t i = 0; i < units.size(); i += 2) {
    const auto unit = detail::load_be<std::uint16_t>(&units[i]);
    if (unit == '"' || unit == '\\') text += '\\';
    if (unit >= 0x20 && unit < 0x7F) {
      text += static_cast<char>(unit);
    } else {
      text += "\\u" + hex_digits(unit, 4);
    }
  }
  return text + "\"";
}

std::string canonical(const Frame& frame) {
  std::string text = "btable v0 rows " + std::to_string(frame.rows()) + " cols " +
                     std::to_string(frame.cols()) + "\n";
  for (std::uint64_t col = 0; col < frame.cols(); ++col) {
    text += "label " + std::to_string(col) + " " + json_text(frame.label(col)) + "\n";
  }
  return text + cell_lines(frame);
}

/// A frame of one row in a file of dapple's own format.
template <Value T>
Frame frame_of(const TempDir& dir, const std::vector<std::string>& labels,
               const std::vector<T>& values) {
  std::vector<Column> columns;
  for (const std::string& label : labels) columns.push_back({label, value_type_of<T>()});
  WriteOptions options;
  options.overwrite = true;
  auto writer = FrameWriter::create(dir / "f.dbdf", 1, columns, options);
  if (!values.empty()) {
    writer.put<T>({0, 0},
                  DenseRef<T>{values.data(), 1, static_cast<std::uint32_t>(values.size()), 0});
  }
  writer.finish();
  return Frame::open(dir / "f.dbdf");
}

}  // namespace

TEST_CASE("btable: real files give the cells that their writers put in") {
  for (const auto& path : golden_files("btable", ".btable")) {
    CAPTURE(path);
    const auto object = open(path);
    const Frame& frame = std::get<Frame>(object);
    CHECK(frame.format() == "btable");
    const std::string wanted = read_text(path.string() + ".cells.txt");
    CHECK(std::equal(wanted.begin(), wanted.end(), canonical(frame).begin()));
    CHECK(wanted.size() == canonical(frame).size());
  }
}

TEST_CASE("btable: real files are written back byte for byte, directly and by way of dbdf") {
  const TempDir dir;
  for (const auto& path : golden_files("btable", ".btable")) {
    CAPTURE(path);
    to_file(open(path), dir / "direct.btable");
    CHECK(read_bytes(dir / "direct.btable") == read_bytes(path));
    to_file(open(path), dir / "between.dbdf");
    to_file(open(dir / "between.dbdf"), dir / "back.btable");
    CHECK(read_bytes(dir / "back.btable") == read_bytes(path));
  }
}

TEST_CASE("btable: a table is a frame of f64 in blocks of stored entries") {
  const TempDir dir;
  const Frame frame = open_table(dir, table(u"a\x1F"
                                            u"b",
                                            {{{1, 2.5}}, {}, {{0, -1}, {1, 3}}}));
  CHECK(frame.rows() == 3);
  CHECK(frame.cols() == 2);
  CHECK(frame.label(0) == "a");
  CHECK(frame.label(1) == "b");
  CHECK(frame.column_type(1) == ValueType::f64);
  CHECK(frame.note().empty());
  CHECK(row_of(frame, 0) == std::vector{0.0, 2.5});
  CHECK(row_of(frame, 1) == std::vector{0.0, 0.0});
  CHECK(row_of(frame, 2) == std::vector{-1.0, 3.0});
  CHECK_THROWS_AS(frame.block({0, 0}).csr_view<double>(), Error);
}

TEST_CASE("btable: trailing empty labels are columns, and are noted") {
  const TempDir dir;
  const Frame three = open_table(dir, table(u"a\x1F\x1F", {{{2, 1}}}));
  CHECK(three.cols() == 3);
  CHECK(three.label(2).empty());
  CHECK(
      three.note() ==
      "the last 2 labels are empty: Java and Clojure readers of BTables do not see columns without "
      "one");
  CHECK(open_table(dir, table(u"a\x1F", {{{1, 1}}})).note() ==
        "the last label is empty: Java and Clojure readers of BTables do not see columns without "
        "one");
  const Frame one = open_table(dir, table(u"", {{{0, 1}}}));
  CHECK(one.cols() == 1);
  CHECK(one.label(0).empty());
  CHECK(one.note().empty());
  const Frame two = open_table(dir, table(u"\x1F", {}));
  CHECK(two.cols() == 2);
  CHECK(two.rows() == 0);
  CHECK(open_table(dir, table(u"\x1F"
                              u"b",
                              {}))
            .note()
            .empty());
}

TEST_CASE("btable: of a repeated column the last entry counts, even when it is zero") {
  const TempDir dir;
  const Bytes bytes = table(
      u"a\x1F"
      u"b\x1F"
      u"c",
      {{{2, 1}, {0, 2}, {2, 3}, {0, 0}}, {{1, 5}, {0, 4}}});
  const Frame frame = open_table(dir, bytes);
  CHECK(row_of(frame, 0) == std::vector{0.0, 0.0, 3.0});
  CHECK(row_of(frame, 1) == std::vector{4.0, 5.0, 0.0});
  CHECK(frame.counts().stored == 6);
  to_file(frame, dir / "settled.btable");
  CHECK(read_bytes(dir / "settled.btable") == table(u"a\x1F"
                                                    u"b\x1F"
                                                    u"c",
                                                    {{{2, 3}}, {{0, 4}, {1, 5}}}));
  to_file(frame, dir / "settled.dbdf");
  CHECK(cell_lines(open(dir / "settled.dbdf")) == cell_lines(frame));
}

TEST_CASE("btable: minus zero, NaN payloads and denormals go both ways") {
  const TempDir dir;
  const double nan = std::bit_cast<double>(0xFFF4000000001234U);
  const double tiny = std::numeric_limits<double>::denorm_min();
  const Bytes bytes = table(
      u"a\x1F"
      u"b\x1F"
      u"c",
      {{{0, -0.0}, {1, nan}, {2, -tiny}}});
  const Frame frame = open_table(dir, bytes);
  CHECK(cell_lines(frame) ==
        "c 0 0 8000000000000000\nc 0 1 fff4000000001234\nc 0 2 8000000000000001\n");
  to_file(frame, dir / "again.btable");
  CHECK(read_bytes(dir / "again.btable") == bytes);
}

TEST_CASE("btable: values are read as other types where they fit, or the cell is named") {
  const TempDir dir;
  const Frame frame = open_table(dir, table(u"a\x1F"
                                            u"b",
                                            {{{0, 7}, {1, 2.5}}, {{0, -0.0}}}));
  std::vector<std::uint8_t> bytes(1);
  frame.read_column<std::uint8_t>(0, {0, 1}, std::span(bytes));
  CHECK(bytes[0] == 7);
  const Error error = required_error(error_of([&] {
    frame.read_column<std::uint8_t>(1, {0, 1}, std::span(bytes));
  }));
  CHECK(error.code() == Errc::type_mismatch);
  CHECK(!error.offset());  // the file is sound
  CHECK(error.detail() == "2.5 in cell (0, 1) is not exact as u8");
  CHECK(error_of([&] { frame.read_column<std::uint8_t>(0, {1, 2}, std::span(bytes)); }));
  std::vector<float> floats(1);
  frame.read_column<float>(1, {0, 1}, std::span(floats));
  CHECK(floats[0] == 2.5F);
}

TEST_CASE("btable: tables of many blocks are read, cut and converted like a plain array") {
  const TempDir dir;
  Rng rng(20151029);
  constexpr std::uint64_t kRows = 9000, kCols = 11;
  std::vector<Row> rows(kRows);
  std::vector<double> cells(kRows * kCols);
  for (std::uint64_t r = 0; r < kRows; ++r) {
    const std::uint64_t entries = rng.chance(30) ? 0 : rng.below(3 * kCols);
    for (std::uint64_t i = 0; i < entries; ++i) {
      const auto col = static_cast<std::int32_t>(rng.below(kCols));
      const double value = static_cast<double>(rng.below(9)) - 4;
      rows[r].push_back({col, value});
      cells[r * kCols + static_cast<std::uint64_t>(col)] = value;
    }
  }
  const Frame frame = open_table(dir, table(u"0\x1F"
                                            u"1\x1F"
                                            u"2\x1F"
                                            u"3\x1F"
                                            u"4\x1F"
                                            u"5\x1F"
                                            u"6\x1F"
                                            u"7\x1F"
                                            u"8\x1F"
                                            u"9\x1F"
                                            u"A",
                                            rows));
  CHECK(frame.rows() == kRows);
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t r = rng.below(kRows), c = rng.below(kCols);
    const Region region{{r, r + rng.between(1, std::min<std::uint64_t>(kRows - r, 3000))},
                        {c, c + rng.between(1, kCols - c)}};
    std::vector<double> part(region.rows.size() * region.cols.size());
    frame.read<double>(region, std::span(part));
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < part.size(); ++k) {
      const std::uint64_t row = region.rows.begin + k / region.cols.size();
      const std::uint64_t col = region.cols.begin + k % region.cols.size();
      wrong += part[k] != cells[row * kCols + col];
    }
    CHECK(wrong == 0);
  }
  to_file(frame, dir / "b.dbdf");
  to_file(open(dir / "b.dbdf"), dir / "c.btable");
  std::vector<Row> settled(kRows);
  for (std::uint64_t k = 0; k < cells.size(); ++k) {
    if (cells[k] != 0)
      settled[k / kCols].push_back({static_cast<std::int32_t>(k % kCols), cells[k]});
  }
  CHECK(read_bytes(dir / "c.btable") == table(u"0\x1F"
                                              u"1\x1F"
                                              u"2\x1F"
                                              u"3\x1F"
                                              u"4\x1F"
                                              u"5\x1F"
                                              u"6\x1F"
                                              u"7\x1F"
                                              u"8\x1F"
                                              u"9\x1F"
                                              u"A",
                                              settled));
}

TEST_CASE("btable: the columns of a matrix are labelled by their numbers") {
  const TempDir dir;
  auto writer = MatrixWriter::create(dir / "m.dbdf", 2, 11, ValueType::i32);
  std::vector<std::int32_t> values(22);
  values[3] = -7;
  values[21] = 9;
  writer.put<std::int32_t>({0, 0}, {values.data(), 2, 11, 0});
  writer.finish();
  to_file(open(dir / "m.dbdf"), dir / "m.btable");
  const Frame frame = open_table(dir / "m.btable");
  CHECK(frame.cols() == 11);
  CHECK(frame.label(0) == "0");
  CHECK(frame.label(10) == "10");
  CHECK(cell_lines(frame) == "c 0 3 c01c000000000000\nc 1 10 4022000000000000\n");
}

TEST_CASE("btable: cells that become another type on the way are not zeros") {
  const TempDir dir;
  auto writer = MatrixWriter::create(dir / "m.dbdf", 1, 3, ValueType::f64);
  const double values[] = {0, 61, 2.5};
  writer.put<double>({0, 0}, {values, 1, 3});
  writer.finish();
  const auto written = [&](const ConvertOptions& options) {
    convert(open(dir / "m.dbdf"), {{}, std::vector<std::uint64_t>{0, 1}}, dir / "m.btable",
            options);
    return row_of(open_table(dir / "m.btable"), 0);
  };
  for (const ValueType type : {ValueType::u8, ValueType::i64, ValueType::f32}) {
    ConvertOptions options;
    options.value_type = type;
    options.write.overwrite = true;
    CHECK(written(options) == std::vector<double>{0, 61});
  }
}

TEST_CASE("btable: what the format cannot hold is refused, and nothing is left behind") {
  const TempDir dir;
  const auto refusal = [&](const Frame& frame) {
    const Error error = required_error(error_of([&] { to_file(frame, dir / "no.btable"); }));
    CHECK_FALSE(std::filesystem::exists(dir / "no.btable"));
    CHECK(error.code() == Errc::unsupported);
    return error.detail();
  };
  CHECK(refusal(frame_of<double>(dir, {"a", "b\x1Fz"}, {1, 2})) ==
        "a BTable cannot hold the label of column 1: it has U+001F, which separates labels");
  CHECK(refusal(frame_of<double>(dir, {"\xC3\x28"}, {1})) ==
        "a BTable cannot hold the label of column 0: it is not UTF-8");
  CHECK(refusal(frame_of<double>(dir, {"\xED\xA0\x80"}, {1})) ==
        "a BTable cannot hold the label of column 0: it is not UTF-8");
  CHECK(refusal(frame_of<double>(dir, {}, {})) == "a BTable cannot hold an object without columns");
  CHECK(refusal(frame_of<std::int64_t>(dir, {"a", "b"}, {1, (std::int64_t{1} << 53) + 1})) ==
        "the value 9007199254740993 in row 0, column 1 is not exact as f64, the only type of a "
        "BTable");
  CHECK(refusal(frame_of<std::int64_t>(dir, {"a"}, {-(std::int64_t{1} << 53) - 1})) ==
        "the value -9007199254740993 in row 0, column 0 is not exact as f64, the only type of a "
        "BTable");
  to_file(frame_of<std::uint64_t>(dir, {"a"}, {std::uint64_t{1} << 63}), dir / "yes.btable");
  CHECK(row_of(open_table(dir / "yes.btable"), 0) == std::vector{0x1p63});
}

TEST_CASE("btable: a file is recognised by its content or its name") {
  const TempDir dir;
  const Bytes good = table(u"a", {{{0, 1}}});
  CHECK(std::get<Frame>(open(dir.write("data", good))).format() == "btable");
  const Bytes unlabelled = table(u"", {{{0, 1}}});
  CHECK(error_of([&] { open(dir.write("data", unlabelled)); })->code() == Errc::not_recognised);
  CHECK(std::get<Frame>(open(dir.write("data.btable", unlabelled))).cols() == 1);
  CHECK(error_of([&] { open(dir.write("data", Bytes(64))); })->code() == Errc::not_recognised);
  const Error cut = required_error(error_of([&] { open(dir.write("cut.BTABLE", Bytes(3))); }));
  CHECK(cut.code() == Errc::corrupt);
  // A pair of surrogates that the first 4096 bytes cut in two is not a lone one.
  std::u16string labels(2043, u'x');
  labels += u"\xD834\xDD1E";
  CHECK(std::get<Frame>(open(dir.write("data", table(labels, {})))).format() == "btable");
}
