// Structured arrays of NumPy with times, truth values and texts, both ways, and half-precision
// floats.

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::TempDir;

namespace {

std::vector<std::byte> npy(const std::string& descr, const std::string& shape,
                           const std::string& data) {
  const std::string header =
      "{'descr': " + descr + ", 'fortran_order': False, 'shape': (" + shape + "), }\n";
  std::string all("\x93NUMPY\1\0", 8);
  all += static_cast<char>(header.size() & 0xff);
  all += static_cast<char>(header.size() >> 8);
  all += header + data;
  std::vector<std::byte> bytes(all.size());
  std::memcpy(bytes.data(), all.data(), all.size());
  return bytes;
}

template <class T>
std::string little(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
template <class T>
std::string big(T value) {
  return little(detail::swap_bytes(value));
}

std::string fixed(std::string text, std::size_t size) {
  text.resize(size, '\0');
  return text;
}

std::string cell(const Frame& frame, std::uint64_t row, std::uint64_t col) {
  const Column& column = frame.column_info(col);
  return visit_type(column.value_type, [&](auto tag) {
    const auto value = frame.read_column<decltype(tag)>(col, {row, row + 1})[0];
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    if (is_missing(column.meaning, bits)) return std::string("(missing)");
    std::string text;
    append_text(column, bits, text);
    return text;
  });
}

ConvertOptions replacing() {
  ConvertOptions options;
  options.write.overwrite = true;
  return options;
}

constexpr std::int64_t kNaT = std::numeric_limits<std::int64_t>::min();

/// Two records of everything.
std::vector<std::byte> sample_frame() {
  const std::string descr =
      "[('t', '<M8[us]'), ('b', '>m8[s]'), ('ok', '|b1'), ('s', '|S3'), ('u', '<U2'), "
      "('v', '>U1'), ('h', '<f2'), ('n', '<i2')]";
  std::string data;
  data += little<std::int64_t>(1'000'001) + big<std::int64_t>(61) + '\1' + fixed("ab", 3) +
          little<std::uint32_t>(0xe9) + little<std::uint32_t>(0x1f600) + big<std::uint32_t>('x') +
          little<std::uint16_t>(0x3c00) + little<std::int16_t>(-3);
  data += little<std::int64_t>(kNaT) + big<std::int64_t>(kNaT) + '\0' + fixed("", 3) +
          little<std::uint32_t>('z') + little<std::uint32_t>(0) + big<std::uint32_t>('x') +
          little<std::uint16_t>(0xc500) + little<std::int16_t>(4);
  return npy(descr, "2,", data);
}

}  // namespace

TEST_CASE("npy: records of times, Booleans and texts are read as what they mean") {
  const TempDir folder;
  const Frame frame = Frame::open(folder.write("a.npy", sample_frame()));
  REQUIRE(frame.cols() == 8);
  CHECK(frame.column_info(0).meaning.kind == MeaningKind::timestamp);
  CHECK(frame.column_info(0).meaning.unit == TimeUnit::microsecond);
  CHECK(frame.column_info(1).meaning.kind == MeaningKind::duration);
  CHECK(frame.column_info(2).meaning.kind == MeaningKind::boolean);
  CHECK(frame.column_info(3).meaning.kind == MeaningKind::text);
  CHECK(is_plain(frame.column_info(7)));
  const std::vector<std::string> first = {"1970-01-01T00:00:01.000001", "00:01:01", "true", "ab",
                                          "\xc3\xa9\xf0\x9f\x98\x80",   "x",        "1",    "-3"};
  const std::vector<std::string> second = {"(missing)", "(missing)", "false", "",
                                           "z",         "x",         "-5",    "4"};
  for (std::uint64_t col = 0; col < 8; ++col) {
    CAPTURE(col);
    CHECK(cell(frame, 0, col) == first[col]);
    CHECK(cell(frame, 1, col) == second[col]);
  }
  CHECK(verify(folder / "a.npy", Level::payload).findings.empty());
}

TEST_CASE("npy: each of many fields of texts keeps no more than its own place") {
  constexpr std::uint64_t kFields = 2000;
  const TempDir folder;
  std::string descr = "[";
  for (std::uint64_t i = 0; i < kFields; ++i) descr += "('c" + std::to_string(i) + "', '|S1'), ";
  test::write_bytes(folder / "a.npy", npy(descr + "]", "1,", std::string(kFields, 'x')));
  const auto in_use = [] {
    const auto memory = ::mallinfo2();
    return memory.uordblks + memory.hblkhd;
  };
  const std::size_t before = in_use();
  const Frame frame = Frame::open(folder / "a.npy");
  CHECK(in_use() - before < kFields * 10'000);
  CHECK(cell(frame, 0, kFields - 1) == "x");
}

TEST_CASE("npy: arrays of half-precision floats are read as f32") {
  const TempDir folder;
  const std::string little_data = little<std::uint16_t>(0x3c00) + little<std::uint16_t>(0xfbff) +
                                  little<std::uint16_t>(0x0001) + little<std::uint16_t>(0x7c00);
  const std::string big_data = big<std::uint16_t>(0x3c00) + big<std::uint16_t>(0xfbff) +
                               big<std::uint16_t>(0x0001) + big<std::uint16_t>(0x7c00);
  const std::vector<float> expected = {1.0F, -65504.0F, 0x1p-24F,
                                       std::numeric_limits<float>::infinity()};
  for (const auto& bytes : {npy("'<f2'", "2, 2", little_data), npy("'>f2'", "2, 2", big_data)}) {
    const Matrix m = Matrix::open(folder.write("h.npy", bytes));
    CHECK(m.value_type() == ValueType::f32);
    CHECK(m.read<float>({{0, 2}, {0, 2}}) == expected);
    CHECK(m.read<double>({{1, 2}, {0, 1}})[0] == 0x1p-24);
    CHECK(test::error_of([&] { m.block({0, 0}).dense_view<float>(); }).has_value());
  }
  convert(open(folder / "h.npy"), {}, folder / "h.dbdf", replacing());
  CHECK(Matrix::open(folder / "h.dbdf").read<float>({{0, 2}, {0, 2}}) == expected);
}

TEST_CASE("npy: frames are written with their times, Booleans and texts") {
  const TempDir folder;
  convert(open(folder.write("a.npy", sample_frame())), {}, folder / "a.dbdf", replacing());
  convert(open(folder / "a.dbdf"), {}, folder / "b.npy", replacing());
  const std::string text = test::read_text(folder / "b.npy");
  CHECK(text.find("[('t', '<M8[us]'), ('b', '<m8[s]'), ('ok', '|b1'), ('s', '<U2'), ('u', '<U2'), "
                  "('v', '<U1'), ('h', '<f4'), ('n', '<i2')]") != std::string::npos);
  const Frame before = Frame::open(folder / "a.npy"), after = Frame::open(folder / "b.npy");
  REQUIRE(after.cols() == before.cols());
  for (std::uint64_t row = 0; row < 2; ++row) {
    for (std::uint64_t col = 0; col < 8; ++col) {
      CAPTURE(col);
      CHECK(cell(after, row, col) == cell(before, row, col));
    }
  }
}

TEST_CASE("npy: records of long texts are written some at a time") {
  const TempDir folder;
  const std::string word(20000, 'x');  // 80 KB in each record
  std::string text = "w,n\n";
  for (int row = 0; row < 200; ++row) text += (row % 50 == 7 ? word : "y") + ",1\n";
  test::write_text(folder / "a.csv", text);
  ConvertOptions options = replacing();
  std::uint64_t last = 0, longest = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t) {
    longest = std::max(longest, done - last);
    last = done;
  };
  convert(open(folder / "a.csv"), {}, folder / "a.npy", options);
  CHECK(last == 200);
  CHECK(longest < 60);
  options.progress = {};
  convert(open(folder / "a.npy"), {}, folder / "b.csv", options);
  CHECK(test::read_text(folder / "b.csv") == text);
}

TEST_CASE("npy: missing texts and Booleans are refused, or written as the stored numbers") {
  const TempDir folder;
  test::write_text(folder / "a.csv", "who,ok\nAnn,true\n,\n");
  const Error error = test::required_error(
      test::error_of([&] { convert(open(folder / "a.csv"), {}, folder / "a.npy", replacing()); }));
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.option() == "stored_numbers");
  CHECK(error.detail().find("column 'who' has missing cells") == 0);
  ConvertOptions numbers = replacing();
  numbers.stored_numbers = true;
  convert(open(folder / "a.csv"), {}, folder / "a.npy", numbers);
  const Frame frame = Frame::open(folder / "a.npy");
  CHECK(is_plain(frame.column_info(0)));
  CHECK(frame.read_column<int>(0, {0, 2}) == std::vector<int>{1, 0});
}

TEST_CASE("npy: bytes that are no text are corrupt, and other fields can be read") {
  const TempDir folder;
  const Frame frame = Frame::open(folder.write(
      "a.npy", npy("[('s', '|S2'), ('u', '<U1'), ('n', '|u1')]", "1,",
                   std::string("\xff\xfe", 2) + little<std::uint32_t>(0xd800) + '\7')));
  CHECK(frame.read_column<int>(2, {0, 1}) == std::vector<int>{7});
  for (std::uint64_t col : {0, 1}) {
    CHECK(test::error_of([&] { frame.read_column<int>(col, {0, 1}); })->code() == Errc::corrupt);
  }
}

TEST_CASE("npy: a word that ends in NUL is refused, for NumPy would cut it") {
  const TempDir dir;
  test::write_text(dir / "a.csv", std::string("w,n\nx,1\nx") + '\0' + ",2\n");
  const Frame frame = Frame::open(dir / "a.csv");
  const auto error = test::error_of([&] { convert(frame, {}, dir / "a.npy"); });
  CHECK(test::required_error(error).code() == Errc::unsupported);
  CHECK(error->detail() ==
        "column 'w' has the word 'x\\x00', and npy cannot tell a NUL at the end from no character");
}
