// Objects opened from memory, and reading as a type that is known at run time.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "dapple/convert.h"
#include "dapple/gather.h"
#include "dapple/open.h"
#include "dapple/writer.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// 3 x 4, row after row 0 to 11, in two blocks.
std::vector<std::byte> small_file() {
  return test::Image::matrix(3, 4, ValueType::i32)
      .dense<std::int32_t>({0, 0}, 2, 4, {0, 1, 2, 3, 4, 5, 6, 7})
      .dense<std::int8_t>({2, 0}, 1, 4, {8, 9, 10, 11})
      .bytes();
}

constexpr Region kAll{{0, 3}, {0, 4}};

}  // namespace

TEST_CASE("memory: the bytes of a file are opened, and used in place") {
  const auto bytes = small_file();
  const Matrix matrix = Matrix::open(bytes);
  CHECK(matrix.read<int>(kAll) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  // A view is of these very bytes.
  const auto payload = matrix.block({0, 0}).payload();
  CHECK(payload.data() >= bytes.data());
  CHECK(payload.data() + payload.size() <= bytes.data() + bytes.size());
  CHECK_THROWS_AS((void)Frame::open(bytes), Error);
}

TEST_CASE("memory: damage is named by byte, and by the name that was given") {
  auto bytes = small_file();
  bytes.resize(bytes.size() - 1);
  const auto error = test::error_of([&] { (void)open(bytes, "a parcel"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
  CHECK(error->file() == "a parcel");
  CHECK(test::error_of([&] { (void)open(std::span<const std::byte>()); })->code() ==
        Errc::not_recognised);
}

TEST_CASE("memory: cells are read as a type that is known at run time, with any strides") {
  const auto bytes = small_file();
  const Matrix matrix = Matrix::open(bytes);
  std::vector<double> rows(12, -1.0), columns(12, -1.0), spread(40, -1.0);
  matrix.read(kAll, ValueType::f64, std::as_writable_bytes(std::span(rows)));
  matrix.read(kAll, ValueType::f64, std::as_writable_bytes(std::span(columns)), {8, 24});
  matrix.read(kAll, ValueType::f64, std::as_writable_bytes(std::span(spread)), {80, 16});
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      const auto cell = static_cast<double>(4 * r + c);
      CHECK(rows[4 * r + c] == cell);
      CHECK(columns[r + 3 * c] == cell);
      CHECK(spread[10 * r + 2 * c] == cell);
    }
  }
  CHECK(spread[1] == -1.0);
}

TEST_CASE("memory: what is no value type is refused") {
  const test::TempDir dir;
  auto writer = FrameWriter::create(dir / "f.dbdf", 2, {{"a", ValueType::i32}});
  writer.put<std::int32_t>({0, 0}, {std::array{1, 2}.data(), 2, 1});
  writer.finish();
  const Frame frame = Frame::open(dir / "f.dbdf");
  for (const int code : {0, 11, 255}) {
    const auto none = static_cast<ValueType>(code);
    std::array<std::byte, 64> out{};
    const ColumnBuffer buffer{0, none, out.data(), 8};
    const std::array<std::uint64_t, 1> row{1};
    const std::string refused = "invalid_argument: there is no value type " + std::to_string(code) +
                                "; they are 1, u8, to 10, f64";
    const auto said = [](const auto& call) {
      const Error e = test::error_of(call).value();
      return std::string(name(e.code())) + ": " + e.detail();
    };
    CHECK(said([&] { frame.read({{0, 2}, {0, 1}}, none, out); }) == refused);
    CHECK(said([&] { frame.read_rows({0, 2}, {&buffer, 1}); }) == refused);
    CHECK(said([&] { gather_rows(frame, row, {&buffer, 1}); }) == refused);
    CHECK(said([&] { convert_values(none, out, ValueType::f64, out); }) == refused);
    CHECK(said([&] { convert_values(ValueType::f64, out, none, out); }) == refused);
    ConvertOptions options;
    options.value_type = none;
    CHECK(said([&] { convert(frame, {}, dir / "g.dbdf", options); }) == refused);
  }
}

TEST_CASE("memory: strides with which cells would overlap or leave the memory are refused") {
  const auto bytes = small_file();
  const Matrix matrix = Matrix::open(bytes);
  std::vector<std::byte> out(12 * 4);
  const auto code = [&](Strides strides, std::size_t room) {
    const auto error = test::error_of(
        [&] { matrix.read(kAll, ValueType::i32, std::span(out).first(room), strides); });
    return error ? error->code() : Errc::io;
  };
  CHECK(code({}, 48) == Errc::io);       // fits
  CHECK(code({16, 4}, 48) == Errc::io);  // the same
  CHECK(code({4, 12}, 48) == Errc::io);  // column after column
  CHECK(code({}, 47) == Errc::invalid_argument);
  CHECK(code({12, 4}, 48) == Errc::invalid_argument);  // rows overlap
  CHECK(code({16, 3}, 48) == Errc::invalid_argument);
  CHECK(code({4, 4}, 48) == Errc::invalid_argument);
  CHECK(code({~std::size_t{0} / 2, 4}, 48) == Errc::invalid_argument);
}
