// Futhark streams: values found, chosen, and opened in place. The rules for numbers as text are
// tested in test_futhark_typed.cpp and test_futhark_untyped.cpp.
#include <unistd.h>

#include <bit>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/cells_text.h"
#include "tests/foreign/futhark_values.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// "[2][3]bool" as a program that reads it says it: "[][]bool".
std::string without_sizes(std::string_view type) {
  std::string plain;
  bool inside = false;
  for (const char c : type) {
    if (c == ']') inside = false;
    if (!inside) plain += c;
    if (c == '[') inside = true;
  }
  return plain;
}

float half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(1024.0F + static_cast<float>(fraction), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Compares a matrix with the words of a line of X.cells.txt.
void check_cells(const Matrix& matrix, bool halves, std::istringstream& words) {
  visit_type(matrix.value_type(), [&](auto tag) {
    using T = decltype(tag);
    std::string word;
    for (const T value : cells_of<T>(matrix)) {
      REQUIRE(static_cast<bool>(words >> word));
      if (halves) {
        const auto bits = static_cast<std::uint16_t>(std::stoul(word, nullptr, 16));
        CHECK(static_cast<float>(value) == half(bits));
      } else if constexpr (std::is_floating_point_v<T>) {
        const std::string text = cell_text(value);
        const std::string expected = text.empty() ? std::string(word.size(), '0') : text;
        CHECK(expected == word);
      } else {
        CHECK(std::to_string(value) == word);
      }
    }
    CHECK(!static_cast<bool>(words >> word));
  });
}

}  // namespace

TEST_CASE("futhark: values written by Futhark's C runtime are read, untyped and typed") {
  for (const auto& cells : golden_files("futhark", ".cells.txt")) {
    const std::string path = cells.string().substr(0, cells.string().size() - 10);
    CAPTURE(path);
    std::istringstream lines(read_text(cells));
    std::string word, number, type;
    REQUIRE(static_cast<bool>(lines >> word >> number >> type));
    type.pop_back();  // the colon
    const std::string elements = lines.str().substr(static_cast<std::size_t>(lines.tellg()));
    const bool halves = type.ends_with("f16");
    for (const auto& options : {OpenOptions{}, as_futhark(typed(without_sizes(type)))}) {
      const auto object = open(path, options);
      const Matrix& matrix = std::get<Matrix>(object);
      CHECK(matrix.format() == "futhark");
      CHECK(matrix.contents() == std::vector<std::string>{type});
      std::istringstream words(elements);
      check_cells(matrix, halves, words);
    }
  }
}

TEST_CASE("futhark: inputs of real programs") {
  const auto folder = golden("futhark");
  SUBCASE("a 256 x 256 binary matrix is a view into the file") {
    const Matrix m = Matrix::open(folder / "rodinia_lud_data_256.in");
    CHECK(m.rows() == 256);
    const auto view = m.block({0, 0}).dense_view<float>();
    const std::vector<float> copy = m.read<float>({{0, 256}, {0, 256}});
    CHECK(view(0, 0) == 10.0F);
    CHECK(view(255, 255) == copy[65535]);
    CHECK(m.grid() == Grid{1, 1, {256, 256}});
  }
  SUBCASE("the same matrix as text, smaller") {
    const Matrix m = Matrix::open(folder / "rodinia_lud_data_64.in");
    CHECK(m.rows() == 64);
    CHECK(m.read<float>({{0, 1}, {0, 3}}) == std::vector<float>{10.0F, 9.990005F, 9.980020F});
  }
  SUBCASE("three vectors and a scalar") {
    const auto path = folder / "accelerate_pagerank_data_small.in";
    OpenOptions options = as_futhark();
    options.format_options = {{"futhark.value", "3"}};
    const Matrix m = Matrix::open(path, options);
    CHECK(m.contents() == std::vector<std::string>{"[15]i32", "[15]i32", "[11]i32", "i32"});
    CHECK(cells_of<std::int32_t>(m) == std::vector<std::int32_t>{20});
    options.format_options = {{"futhark.value", "2"},
                              {"futhark.type", "[]i32 []i32"},
                              {"futhark.type", "[]i32"},
                              {"futhark.type", "i32"}};
    CHECK(cells_of<std::int32_t>(Matrix::open(path, options)) ==
          std::vector<std::int32_t>{0, 2, 1, 0, 1, 1, 3, 0, 3, 3, 1});
  }
  SUBCASE("values with comments between and inside them") {
    OpenOptions options = as_futhark();
    options.format_options = {{"futhark.value", "4"}};
    const Matrix m = Matrix::open(folder / "finpar_OptionPricing-data_small.in", options);
    CHECK(m.contents().size() > 10);
  }
  SUBCASE("a binary output, its newline behind it") {
    const Matrix m = Matrix::open(folder / "pbbs_rangeQuery2d_data_2DinSphere_10K.out");
    CHECK(m.rows() == 3333);
    CHECK(m.cols() == 1);
    CHECK(m.read<std::int32_t>({{0, 2}, {0, 1}}) == std::vector<std::int32_t>{755, 240});
  }
}

TEST_CASE("futhark: the last dimension is columns, all others are rows") {
  const TempDir dir;
  const auto shape = [&](std::string_view text) {
    const Matrix m = matrix_of(dir, text);
    return std::pair{m.rows(), m.cols()};
  };
  CHECK(shape("7") == std::pair{1UL, 1UL});
  CHECK(shape("[7, 8]") == std::pair{2UL, 1UL});
  CHECK(shape("[[7, 8, 9]]") == std::pair{1UL, 3UL});
  CHECK(shape("[[[1, 2]], [[3, 4]], [[5, 6]]]") == std::pair{3UL, 2UL});
  CHECK(shape("empty([0]f64)") == std::pair{0UL, 1UL});
  CHECK(shape("empty([2][0]f64)") == std::pair{2UL, 0UL});
  CHECK(shape("empty([0][4611686018427387904]f64)") == std::pair{0UL, 4611686018427387904UL});
  CHECK(matrix_of(dir, "[[1, 2]]").note().empty());
  CHECK(matrix_of(dir, "[[[1, 2]]]").note() ==
        "a [1][1][2]i32: all dimensions but the last are rows");
  CHECK(matrix_of(dir, "[true]").note() == "bool is read as u8");
  CHECK(matrix_of(dir, "[[[1f16]]]").note() ==
        "a [1][1][1]f16: all dimensions but the last are rows; f16 is read as f32");
}

TEST_CASE("futhark: one of several values is chosen, or vectors make a frame") {
  const TempDir dir;
  const std::string text = "[1, 2] [0.5, 1.5] " + binary_value<std::uint8_t>("bool", {2}, {1, 0});
  FormatOptions options{{"futhark.value", "1"}};
  CHECK(cells_of<double>(dir, text, options) == std::vector<double>{0.5, 1.5});
  CHECK(matrix_of(dir, text, options).note() == "value 1 of 3");
  options = {{"futhark.value", "3"}};
  CHECK(complaint(dir, text, options) ==
        "out_of_range: there is no value 3 among the 3 of the file, which are counted from 0");
  CHECK(complaint(dir, text) ==
        "invalid_argument: the file holds 3 values (0: [2]i32, 1: [2]f64, 2: [2]bool)");
  CHECK(complaint(dir, "1 2 3 4 5 6 7 8 9").find("8: ") == std::string::npos);

  options = {{"futhark.first", "true"}};
  const Matrix first = matrix_of(dir, text, options);
  CHECK(first.rows() == 2);
  CHECK(first.contents() == std::vector<std::string>{"[2]i32", "[2]f64", "[2]bool"});

  options = {{"futhark.frame", "true"}};
  const Frame frame = std::get<Frame>(open_text(dir, text, options));
  CHECK(frame.rows() == 2);
  CHECK(frame.cols() == 3);
  CHECK(frame.label(1) == "1");
  CHECK(frame.column_type(0) == ValueType::i32);
  CHECK(frame.column_type(2) == ValueType::u8);
  CHECK(frame.read_column<double>(1, {0, 2}) == std::vector<double>{0.5, 1.5});
  CHECK(frame.read_column<std::uint8_t>(2, {0, 2}) == std::vector<std::uint8_t>{1, 0});
  CHECK(frame.note() == "f16 columns are read as f32, bool columns as u8");
  CHECK(complaint(dir, "[1] 2", options) ==
        "invalid_argument at byte 4: value 1 is a i32, but the columns of a frame are vectors");
  CHECK(
      complaint(dir, "[1] [1, 2]", options) ==
      "invalid_argument at byte 4: value 1 is a [2]i32, but the vectors before it have 1 element");
  options.emplace("futhark.value", "0");
  CHECK(complaint(dir, "[1]", options) ==
        "invalid_argument: one value or all of them as a frame: both were asked for");
}

TEST_CASE("futhark: binary values are used in place, except halves and Booleans") {
  const TempDir dir;
  const std::string bytes = binary_value<double>(" f64", {2, 3}, {1, 2, 3, 4, 5, -0.0});
  const Matrix m = matrix_of(dir, " \n\t\v\f\r" + bytes + "\n");
  const auto view = m.block({0, 0}).dense_view<double>();
  CHECK(view(1, 1) == 5);
  CHECK(std::signbit(view(1, 2)));
  CHECK(m.block({0, 0}).info().offset == 6 + 7 + 16);
  CHECK(m.block({0, 0}).info().bytes == 48);

  const Matrix halves =
      matrix_of(dir, binary_value<std::uint16_t>(" f16", {2, 3},
                                                 {0x3C00, 0x8000, 0x0001, 0x7C00, 0xFBFF, 0x7E01}));
  CHECK(error_of([&] { halves.block({0, 0}).dense_view<float>(); })->code() == Errc::type_mismatch);
  const auto cells = cells_of<float>(halves);
  CHECK(cells[0] == 1.0F);
  CHECK(std::bit_cast<std::uint32_t>(cells[1]) == 0x80000000);
  CHECK(cells[2] == 0x1p-24F);
  CHECK(std::isinf(cells[3]));
  CHECK(cells[4] == -65504.0F);
  CHECK(std::bit_cast<std::uint32_t>(cells[5]) == 0x7FC02000);
  CHECK(halves.read<double>({{1, 2}, {1, 2}}) == std::vector<double>{-65504.0});
  CHECK(error_of([&] {
          halves.read<std::int8_t>({{1, 2}, {1, 2}});
        })->code() == Errc::type_mismatch);

  const std::string truths = binary_value<std::uint8_t>("bool", {4}, {1, 0, 2, 1});
  CHECK(complaint(dir, truths) == "corrupt at byte 17: 2 is no bool, which is 0 or 1");
  CHECK(matrix_of(dir, truths).read<std::int64_t>({{0, 2}, {0, 1}}) ==
        std::vector<std::int64_t>{1, 0});
}

TEST_CASE("futhark: damaged binary values are refused before anything is allocated") {
  const TempDir dir;
  const auto value = [](std::uint64_t rows, std::uint64_t cols) {
    return binary_value<std::uint8_t>(" i16", {rows, cols}, {1, 2, 3});
  };
  CHECK(complaint(dir, value(2, 1)) ==
        "corrupt at byte 23: 4 bytes of the elements of a [2][1]i16 are needed here, but only 3 "
        "are left");
  CHECK(complaint(dir, value(1ULL << 32, 1ULL << 32)) ==
        "corrupt at byte 7: a [4294967296][4294967296]i16 has more elements than 2^63 - 1");
  CHECK(complaint(dir, value(1, ~0ULL)) ==
        "corrupt at byte 15: a dimension of 18446744073709551615 is larger than 2^63 - 1");
  CHECK(complaint(dir, value(1ULL << 62, 1)).find("corrupt at byte ") == 0);
  CHECK(complaint(dir, binary_value<std::uint8_t>("  i8", {1ULL << 40, 1ULL << 40, 0}, {})) ==
        "corrupt at byte 7: a [1099511627776][1099511627776][0]i8 has more elements than 2^63 - 1");
  std::string bytes = binary_value<std::uint8_t>("  u8", {}, {9});
  CHECK(complaint(dir, bytes).empty());
  bytes[1] = 1;
  CHECK(complaint(dir, bytes) ==
        "corrupt at byte 1: binary values of version 1 cannot be read, only those of version 2");
  bytes[1] = 2;
  bytes[2] = static_cast<char>(128);
  CHECK(complaint(dir, bytes) ==
        "corrupt at byte 2: a value of rank 128 has too many dimensions: 127 are possible");
  bytes[2] = 0;
  bytes[6] = '9';
  CHECK(complaint(dir, bytes) == "corrupt at byte 3: '  u9' is no element type");
}

TEST_CASE("futhark: a file cut anywhere gives whole values or an error, never other cells") {
  const TempDir dir;
  const std::string text = "-- numbers\n[[1.5f32, 2f32], [f32.inf, -0.0f32]]\n";
  const std::string binary = binary_value<std::int16_t>(" i16", {3}, {1, 2, 3});
  for (const std::string& whole : {text, binary, text + binary, binary + text}) {
    // The line feed after the last value may be missing.
    const std::size_t end = whole.size() - (whole.back() == '\n' ? 1 : 0);
    for (std::size_t size = 0; size < end; ++size) {
      const std::string cut = whole.substr(0, size);
      CAPTURE(cut);
      for (const FormatOptions& options : {FormatOptions{}, typed("[][]f32, []i16")}) {
        FormatOptions last = options;
        last.emplace("futhark.value", "1");
        const std::string line = complaint(dir, cut, last);
        CHECK_FALSE(line.empty());
      }
    }
  }
}

TEST_CASE("futhark: every change of one bit in a header gives an object or an error") {
  const TempDir dir;
  const std::string whole = binary_value<std::int32_t>(" i32", {2, 2}, {1, 2, 3, 4}) + "\n";
  for (std::size_t bit = 0; bit < 23 * 8; ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    CAPTURE(bit);
    const std::string line = complaint(dir, changed);
    // A smaller dimension leaves bytes over, a larger one misses some; other types of the same
    // size are not told apart.
    const bool other_type = bit / 8 >= 3 && bit / 8 < 7;
    if (!other_type) CHECK_FALSE(line.empty());
  }
}

TEST_CASE("futhark: rows without a cell are not cut into blocks, however many there are") {
  const TempDir dir;
  write_text(dir / "x.in", "empty([4611686018427387904][0]i32)");
  const auto object = open(dir / "x.in");
  const Matrix& matrix = std::get<Matrix>(object);
  CHECK(matrix.rows() == std::uint64_t{1} << 62);
  CHECK(matrix.cols() == 0);
  CHECK(matrix.blocks().size() == 0);
}

TEST_CASE("futhark: a pipe is read, and written to") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const std::string text = "[[1, 2], [3, 4]]\n";
  REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(ends[1]);
  const auto object = open_stream(ends[0], "stdin");
  close(ends[0]);
  std::string written;
  ConvertOptions options;
  options.to = "futhark-text";
  convert(
      object, {},
      [&](std::span<const std::byte> bytes) {
        written.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      },
      options);
  CHECK(written == "[[1i32, 2i32], [3i32, 4i32]]\n");
}

TEST_CASE("futhark: files are recognised by their content, text of numbers only by name") {
  const TempDir dir;
  const auto format_of = [&](std::string_view name, std::string_view text) {
    write_text(dir / name, text);
    try {
      return std::string(std::visit([](const auto& o) { return o.format(); }, open(dir / name)));
    } catch (const Error& error) {
      return std::string(dapple::name(error.code()));
    }
  };
  CHECK(format_of("x.bin", binary_value<std::int8_t>("  i8", {}, {1})) == "futhark");
  CHECK(format_of("x.bin", "\n " + binary_value<std::int8_t>("  i8", {}, {1})) == "futhark");
  CHECK(format_of("x.txt", "-- a comment\n[ [1, 2] ]") == "futhark");
  CHECK(format_of("x.txt", "[true, false]") == "futhark");
  CHECK(format_of("x.txt", "empty([0]i32)") == "futhark");
  CHECK(format_of("x.in", "12") == "futhark");
  CHECK(format_of("x.out", "12") == "futhark");
  CHECK(format_of("x.txt", "12") == "not_recognised");
  CHECK(format_of("x.txt", "[{\"json\": 1}]") == "not_recognised");
  CHECK(format_of("x.txt", "[header]\nkey=1") == "not_recognised");
  CHECK(format_of("x.csv", "[1,2\n3,4\n") == "csv");
  CHECK(format_of("x.in", "") == "corrupt");
}
