// Futhark values written: exact bytes, and everything read back.

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/futhark_values.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

template <Value T>
Matrix stored(const TempDir& dir, std::uint64_t rows, std::uint64_t cols,
              const std::vector<T>& cells) {
  const auto path = dir / "stored.dbdf";
  WriteOptions options;
  options.overwrite = true;
  options.sync = false;
  MatrixWriter writer = MatrixWriter::create(path, rows, cols, value_type_of<T>(), options);
  const TileShape tile = writer.tile();
  for (std::uint64_t r = 0; r < rows; r += tile.rows) {
    for (std::uint64_t c = 0; c < cols; c += tile.cols) {
      const auto height = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.rows, rows - r));
      const auto width = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.cols, cols - c));
      writer.put<T>({r, c}, DenseRef<T>{&cells[r * cols + c], height, width, cols});
    }
  }
  writer.finish();
  return Matrix::open(path);
}

std::string written(const std::variant<Matrix, Frame>& object, const std::string& to,
                    unsigned threads = 1) {
  ConvertOptions options;
  options.to = to;
  options.threads = threads;
  return converted(object, options);
}

template <Value T>
std::vector<T> random_values(std::uint64_t n, std::uint64_t seed) {
  Rng random(seed);
  std::vector<T> values;
  while (values.size() < n) {
    const std::uint64_t bits = random.bits();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    // Texts have one NaN only.
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
      if (random.chance(30)) value = static_cast<T>(random.below(100'000)) / 100;
    }
    values.push_back(value);
  }
  return values;
}

template <Value T>
void check_same(const std::vector<T>& got, const std::vector<T>& wanted) {
  REQUIRE(got.size() == wanted.size());
  CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(T)) == 0);
}

}  // namespace

TEST_CASE("futhark: a matrix is written as an array of rank 2, byte for byte") {
  const TempDir dir;
  const Matrix m = stored<std::int16_t>(dir, 2, 3, {1, -2, 3, 4, 5, 32767});
  CHECK(written(m, "futhark") ==
        binary_value<std::int16_t>(" i16", {2, 3}, {1, -2, 3, 4, 5, 32767}) + "\n");
  CHECK(written(m, "futhark-text") == "[[1i16, -2i16, 3i16], [4i16, 5i16, 32767i16]]\n");
  CHECK(written(stored<double>(dir, 1, 1, {0.1}), "futhark-text") == "[[0.1f64]]\n");
  CHECK(written(stored<float>(dir, 0, 3, {}), "futhark-text") == "empty([0][3]f32)\n");
  CHECK(written(stored<float>(dir, 2, 0, {}), "futhark") ==
        binary_value<float>(" f32", {2, 0}, {}) + "\n");
}

TEST_CASE("futhark: floats are written in the digits that every reader gets them back from") {
  const TempDir dir;
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const float nan = std::bit_cast<float>(0xFFC12345U);
  CHECK(
      written(stored<float>(dir, 1, 7, {1e20F, -0.0F, kInfinite, -kInfinite, nan, 0.1F, 100000.0F}),
              "futhark-text") ==
      "[[1e+20f32, -0f32, f32.inf, -f32.inf, f32.nan, 0.1f32, 1e+05f32]]\n");
  // The shortest digits of this one are in the middle of two floats, for readers of doubles.
  const float tricky = 7.038531e-26F;
  const std::string text = written(stored<float>(dir, 1, 1, {tricky}), "futhark-text");
  CHECK(cells_of<float>(dir, text) == std::vector<float>{tricky});
  CHECK(cells_of<float>(dir, text, typed("[][]f32")) == std::vector<float>{tricky});
}

TEST_CASE("futhark: a frame is written as one vector per column") {
  const TempDir dir;
  const FormatOptions options{{"futhark.frame", "true"}};
  const std::string text = "[1u8, 2u8]\n[0.5f64, -1f64]\n[3i64, 4i64]\n";
  const auto frame = open_text(dir, text, options);
  CHECK(written(frame, "futhark-text") == text);
  CHECK(written(frame, "futhark") == binary_value<std::uint8_t>("  u8", {2}, {1, 2}) + "\n" +
                                         binary_value<double>(" f64", {2}, {0.5, -1}) + "\n" +
                                         binary_value<std::int64_t>(" i64", {2}, {3, 4}) + "\n");
  const auto empty = open_text(dir, "empty([0]i32) empty([0]f32)", options);
  CHECK(written(empty, "futhark-text") == "empty([0]i32)\nempty([0]f32)\n");
  auto writer = FrameWriter::create(dir / "none.dbdf", 3, {});
  writer.finish();
  const auto none = open(dir / "none.dbdf");
  CHECK(error_of([&] { written(none, "futhark"); })->code() == Errc::unsupported);
}

TEST_CASE("futhark: labels that say more than a column's number are never lost unasked") {
  const TempDir dir;
  const auto path = dir / "frame.dbdf";
  auto writer = FrameWriter::create(path, 1, {{"0", ValueType::u8}, {"", ValueType::u8}});
  writer.finish();
  CHECK(written(open(path), "futhark-text") == "[0u8]\n[0u8]\n");
  WriteOptions replace;
  replace.overwrite = true;
  auto other = FrameWriter::create(path, 1, {{"0", ValueType::u8}, {"pH", ValueType::u8}}, replace);
  other.finish();
  const auto labelled = open(path);
  const auto error = error_of([&] { written(labelled, "futhark"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::unsupported);
  CHECK(error->file() == path.string());
  CHECK(error->detail() == "futhark has no place for column labels such as 'pH'");
  CHECK(error->option() == "drop_labels");
  ConvertOptions drop;
  drop.drop_labels = true;
  const auto out = dir / "frame.in";
  CHECK(convert(labelled, {}, out, drop).bytes == 34);
}

TEST_CASE("futhark: a frame with columns longer than what is held at once") {
  const TempDir dir;
  constexpr std::uint64_t kRows = 4'300'000;  // of u64: more than 32 MiB
  std::string text = "[";
  std::vector<std::uint64_t> numbers(kRows);
  for (std::uint64_t i = 0; i < kRows; ++i) numbers[i] = i * i;
  const std::vector<std::uint8_t> bytes(kRows, 9);
  const std::string stream = binary_value(" u64", {kRows}, numbers) + "\n" +
                             binary_value("  u8", {kRows}, bytes) + "\n" +
                             binary_value("  u8", {kRows}, bytes) + "\n";
  const FormatOptions options{{"futhark.frame", "true"}};
  CHECK(written(open_text(dir, stream, options), "futhark") == stream);
}

TEST_CASE_TEMPLATE("futhark: what is written is read back, binary and text, by both readers", T,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, float, double) {
  const TempDir dir;
  const std::string type = "[][]" + std::string(name(value_type_of<T>()));
  const std::pair<std::uint64_t, std::uint64_t> shapes[] = {{1, 1}, {7, 1}, {1, 9}, {300, 301}};
  for (const auto& shape : shapes) {
    const std::uint64_t rows = shape.first, cols = shape.second;
    CAPTURE(rows);
    const auto cells = random_values<T>(rows * cols, rows * 1000 + cols);
    const Matrix m = stored<T>(dir, rows, cols, cells);
    for (const char* format : {"futhark", "futhark-text"}) {
      const std::string stream = written(m, format);
      CHECK(written(m, format, 3) == stream);
      check_same(cells_of<T>(dir, stream), cells);
      check_same(cells_of<T>(dir, stream, typed(type)), cells);
    }
  }
}

TEST_CASE("futhark: shapes at the edge of 63 bits") {
  const TempDir dir;
  const Image image = Image::matrix(1ULL << 60, 1, ValueType::u64);
  const auto huge = open(dir.write("huge.dbdf", image.bytes()));
  ConvertOptions options;
  options.to = "futhark";
  options.absent = Absent::zero;
  const auto error = error_of([&] {
    convert(
        huge, {}, [](std::span<const std::byte>) {}, options);
  });
  REQUIRE(error);
  CHECK(error->code() == Errc::unsupported);
  CHECK(error->detail() ==
        "[1152921504606846976][1]u64 takes 2^63 bytes or more, too many for Futhark");
  const auto flat = binary_value<std::uint8_t>("  u8", {1ULL << 62, 0}, {});
  CHECK(written(matrix_of(dir, flat), "futhark") == flat + "\n");
}
