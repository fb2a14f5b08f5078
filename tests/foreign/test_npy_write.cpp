// npy files written: exact bytes, and everything read back.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/foreign/npy/python_literal.h"
#include "tests/check.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using dapple::detail::ObjectKind;
using dapple::test::Table;
using dapple::test::TempDir;

namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Table frame_of(std::vector<std::string> labels) {
  std::vector<Column> columns;
  for (std::string& label : labels) columns.push_back({std::move(label), ValueType::u8});
  return {ObjectKind::frame, 1, std::move(columns)};
}

Error error_of_writing(const Table& table, const TempDir& folder) {
  WriteOptions replace;
  replace.overwrite = true;
  table.write(folder / "in.dbdf", replace);
  try {
    convert(open(folder / "in.dbdf"), {}, folder / "out.npy");
  } catch (const Error& error) {
    CHECK_FALSE(std::filesystem::exists(folder / "out.npy"));
    return error;
  }
  FAIL("expected an error, got none");
  return Error(Errc::io, "");
}

}  // namespace

TEST_CASE("npy: a matrix is written as numpy.save writes the array") {
  const TempDir folder;
  Table table(ObjectKind::matrix, 2, {{"", ValueType::i16}, {"", ValueType::i16}});
  for (std::uint64_t i = 0; i < 4; ++i) table.set(i / 2, i % 2, static_cast<std::int16_t>(i));
  table.write(folder / "in.dbdf", {});
  convert(open(folder / "in.dbdf"), {}, folder / "out.npy");
  std::string wanted("\x93NUMPY\x01\x00\x76\x00", 10);
  wanted += "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }";
  wanted.append(127 - wanted.size(), ' ').append("\n");
  wanted += std::string("\0\0\1\0\2\0\3\0", 8);
  CHECK(text_of(test::read_bytes(folder / "out.npy")) == wanted);
}

TEST_CASE("npy: a frame is written as packed records") {
  const TempDir folder;
  Table table(ObjectKind::frame, 2, {{"a'b", ValueType::u8}, {"c", ValueType::f32}});
  table.set(0, 0, std::uint8_t{1});
  table.set(1, 0, std::uint8_t{2});
  table.set(0, 1, 0.5F);
  table.set(1, 1, -0.0F);
  table.write(folder / "in.dbdf", {});
  convert(open(folder / "in.dbdf"), {}, folder / "out.npy");
  std::string wanted("\x93NUMPY\x01\x00\x76\x00", 10);
  wanted += "{'descr': [(\"a'b\", '|u1'), ('c', '<f4')], 'fortran_order': False, 'shape': (2,), }";
  wanted.append(127 - wanted.size(), ' ').append("\n");
  wanted += std::string("\1\0\0\0\x3f\2\0\0\0\x80", 10);
  CHECK(text_of(test::read_bytes(folder / "out.npy")) == wanted);
}

TEST_CASE("npy: long headers make version 2.0, labels beyond Latin-1 version 3.0") {
  const TempDir folder;
  const auto version = [&](const Table& table) {
    WriteOptions replace;
    replace.overwrite = true;
    table.write(folder / "in.dbdf", replace);
    ConvertOptions options;
    options.write.overwrite = true;
    convert(open(folder / "in.dbdf"), {}, folder / "out.npy", options);
    CHECK(Table::read(open(folder / "out.npy")) == table);
    const auto bytes = test::read_bytes(folder / "out.npy");
    CHECK((bytes.size() - table.cols()) % 64 == 0);
    return static_cast<int>(bytes[6]);
  };
  CHECK(version(frame_of({"\xc3\xa9"})) == 1);
  CHECK(version(frame_of({"\xe6\x97\xa5", "b"})) == 3);
  CHECK(version(frame_of({std::string(65000, 'x')})) == 1);
  CHECK(version(frame_of({std::string(65535, 'x')})) == 2);
}

TEST_CASE("npy: everything written reads back, bit for bit") {
  const TempDir folder;
  test::Rng random(8);
  for (int round = 0; round < 20; ++round) {
    const ObjectKind kind = round % 2 == 0 ? ObjectKind::matrix : ObjectKind::frame;
    const Table table = Table::random(kind, random.below(300), random.between(1, 40), 60, random);
    WriteOptions tiles;
    tiles.tile = TileShape{32, 16};
    tiles.overwrite = true;
    table.write(folder / "in.dbdf", tiles);
    ConvertOptions options;
    options.write.overwrite = true;
    convert(open(folder / "in.dbdf"), {}, folder / "out.npy", options);
    CHECK(Table::read(open(folder / "out.npy")) == table);
    convert(open(folder / "out.npy"), {}, folder / "back.dbdf", options);
    CHECK(Table::read(open(folder / "back.dbdf")) == table);
  }
}

TEST_CASE("npy: labels that NumPy cannot hold are unsupported") {
  const TempDir folder;
  CHECK(error_of_writing(frame_of({"a", ""}), folder).detail().find("column 1") !=
        std::string::npos);
  CHECK(error_of_writing(frame_of({"a", "b", "a"}), folder).detail().find("used twice: 'a'") !=
        std::string::npos);
  const std::string label(60'000, 'x');
  CHECK(error_of_writing(frame_of({label, label}), folder).detail() ==
        "NumPy cannot hold the label of column 1, which is used twice: '" + std::string(40, 'x') +
            "...'");
  const Error error = error_of_writing(frame_of({"\xff"}), folder);
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.detail().find("not UTF-8") != std::string::npos);
}

TEST_CASE("npy: python_repr chooses quotes and escapes as Python does") {
  using detail::npy::python_repr;
  CHECK(python_repr("plain") == "'plain'");
  CHECK(python_repr("it's") == "\"it's\"");
  CHECK(python_repr("it's \"it\"") == "'it\\'s \"it\"'");
  CHECK(python_repr(std::string("\0\n\r\t\x1f\x7f\\", 7)) == "'\\x00\\n\\r\\t\\x1f\\x7f\\\\'");
  CHECK(python_repr("\xc2\xa0\xc2\xad\xc3\xa9") == "'\\xa0\\xad\xc3\xa9'");
  CHECK(python_repr("\xe2\x80\xa8\xee\x80\x80") == "'\\u2028\\ue000'");
  CHECK(python_repr("\xf0\x9f\x98\x80\xf3\xa0\x80\xa0") == "'\xf0\x9f\x98\x80\\U000e0020'");
}
