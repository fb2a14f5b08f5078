// Long Futhark texts, which are cut into tiles: any region must read as if they were not.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/futhark_values.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// Elements counted from 0, with blanks and comments strewn in.
class Text {
 public:
  explicit Text(std::uint64_t seed) : random_(seed) {}

  void mark(std::string_view c) { text_ += c; }
  void element() {
    text_ += std::to_string(count_++);
    if (random_.chance(20)) text_ += "i32";
    if (random_.chance(5)) text_ += random_.chance(50) ? " " : " --, 1]\n";
  }
  const std::string& text() const { return text_; }

 private:
  Rng random_;
  std::string text_;
  std::uint64_t count_ = 0;
};

std::string matrix_text(std::uint64_t rows, std::uint64_t cols) {
  Text text(rows * cols);
  text.mark("[");
  for (std::uint64_t r = 0; r < rows; ++r) {
    text.mark(r == 0 ? "[" : ", [");
    for (std::uint64_t c = 0; c < cols; ++c) {
      if (c > 0) text.mark(",");
      text.element();
    }
    text.mark("]");
  }
  text.mark("]");
  return text.text();
}

/// Reads random regions of a matrix whose cell (r, c) is r * cols + c.
void check_regions(const Matrix& m, std::uint64_t seed) {
  Rng random(seed);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t row = random.below(m.rows()), col = random.below(m.cols());
    const Range rows{row, row + 1 + random.below(std::min<std::uint64_t>(40, m.rows() - row))};
    const Range cols{col, col + 1 + random.below(std::min<std::uint64_t>(40, m.cols() - col))};
    const auto cells = m.read<std::int32_t>({rows, cols});
    bool equal = true;
    for (std::uint64_t r = 0; r < rows.size(); ++r) {
      for (std::uint64_t c = 0; c < cols.size(); ++c) {
        const auto wanted = (rows.begin + r) * m.cols() + cols.begin + c;
        equal &= cells[r * cols.size() + c] == static_cast<std::int32_t>(wanted);
      }
    }
    CHECK(equal);
  }
}

}  // namespace

TEST_CASE("futhark: text is cut into tiles of whole rows, or parts of long ones") {
  const TempDir dir;
  struct Shape {
    std::uint64_t rows, cols;
    TileShape tile;
  };
  for (const Shape& shape :
       {Shape{3, 70'000, {1, 32768}}, Shape{20'000, 5, {6553, 5}}, Shape{70'000, 1, {32768, 1}},
        Shape{3, 32768, {1, 32768}}, Shape{4, 16384, {2, 16384}}, Shape{2, 32769, {1, 32768}}}) {
    CAPTURE(shape.rows);
    CAPTURE(shape.cols);
    const std::string text = matrix_text(shape.rows, shape.cols);
    for (const FormatOptions& options : {FormatOptions{}, typed("[][]i32")}) {
      const Matrix m = matrix_of(dir, text, options);
      REQUIRE(m.rows() == shape.rows);
      REQUIRE(m.cols() == shape.cols);
      REQUIRE(m.grid());
      CHECK(m.grid()->tile == shape.tile);
      check_regions(m, shape.rows);
      // As another type, and by several threads.
      const auto wide = m.read<std::int64_t>({{0, m.rows()}, {0, m.cols()}}, {Absent::error, 3});
      CHECK(wide.back() == static_cast<std::int64_t>(shape.rows * shape.cols - 1));
    }
  }
}

TEST_CASE("futhark: a long vector is one column of tiles") {
  const TempDir dir;
  Text text(1);
  text.mark("[");
  for (int i = 0; i < 100'000; ++i) {
    if (i > 0) text.mark(", ");
    text.element();
  }
  text.mark(",]");
  const Matrix m = matrix_of(dir, text.text());
  CHECK(m.rows() == 100'000);
  CHECK(m.grid() == Grid{4, 1, {32768, 1}});
  check_regions(m, 2);
}

TEST_CASE("futhark: tiles may start inside a string, and inside a character of it") {
  const TempDir dir;
  std::string text = "[\"";
  std::vector<std::uint8_t> wanted;
  for (int i = 0; i < 30'000; ++i) {
    text += i % 3 == 0 ? "\\8364" : i % 3 == 1 ? "x" : "\\\"";
    if (i % 3 == 0) wanted.insert(wanted.end(), {0xE2, 0x82, 0xAC});
    if (i % 3 == 1) wanted.push_back('x');
    if (i % 3 == 2) wanted.push_back('"');
  }
  REQUIRE(wanted.size() == 50'000);
  text += "\", \"";
  for (int i = 0; i < 50'000; ++i) text += 'a';
  text += "\"]";
  const Matrix m = matrix_of(dir, text);
  REQUIRE(m.rows() == 2);
  REQUIRE(m.cols() == 50'000);
  CHECK(m.blocks().size() == 4);
  CHECK(m.read<std::uint8_t>({{0, 1}, {0, 50'000}}) == wanted);
  for (std::uint64_t col = 32'760; col < 32'776; ++col) {
    CHECK(m.read<std::uint8_t>({{0, 1}, {col, col + 1}})[0] == wanted[col]);
    CHECK(m.read<std::uint8_t>({{1, 2}, {col, col + 1}})[0] == 'a');
  }
}

TEST_CASE("futhark: tiles share a character of a string wherever its bytes are cut") {
  const TempDir dir;
  // As it is written, and its UTF-8.
  const std::vector<std::pair<std::string, std::vector<std::uint8_t>>> characters = {
      {"\xe9", {0xC3, 0xA9}},
      {"\\233", {0xC3, 0xA9}},
      {"\\000000233", {0xC3, 0xA9}},
      {"\\0000000233", {23, '3'}},  // two characters: one is of ten bytes at most
      {"\\xe9\\&\\&\\&", {0xC3, 0xA9}},
      {"\\SOH\\SO\\&H\\^A", {1, 14, 'H', 1}},
      {"\\o351", {0xC3, 0xA9}},
      {"\\8364", {0xE2, 0x82, 0xAC}},
      {"\\x20Ac", {0xE2, 0x82, 0xAC}},
      {"\\x1F600", {0xF0, 0x9F, 0x98, 0x80}},
      {"\\128512\\&", {0xF0, 0x9F, 0x98, 0x80}}};
  for (const auto& [written_, bytes] : characters) {
    const auto& written = written_;  // clang 14 captures no bindings
    for (std::size_t before = 32'768 - bytes.size(); before <= 32'768; ++before) {
      for (const std::string& behind :
           {std::string(), std::string("z"), std::string(40'000, 'z')}) {
        CAPTURE(written);
        CAPTURE(before);
        const Matrix m = matrix_of(dir, "\"" + std::string(before, 'a') + written + behind + "\"");
        std::vector<std::uint8_t> wanted(before, 'a');
        wanted.insert(wanted.end(), bytes.begin(), bytes.end());
        wanted.insert(wanted.end(), behind.begin(), behind.end());
        REQUIRE(m.rows() == wanted.size());
        CHECK(cells_of<std::uint8_t>(m) == wanted);
        for (std::uint64_t row = before; row < before + bytes.size(); ++row) {
          CHECK(m.read<std::uint8_t>({{row, row + 1}, {0, 1}})[0] == wanted[row]);
        }
      }
    }
  }
}

TEST_CASE("futhark: a file of very many values opens in little memory, and lists the first") {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "7 ";
  const FormatOptions options{{"futhark.value", "199999"}};
  const Matrix m = matrix_of(dir, text, options);
  CHECK(m.contents().size() == 1000);
  CHECK(m.note() == "value 199999 of 200000");
  CHECK(cells_of<std::int32_t>(m) == std::vector<std::int32_t>{7});
}

TEST_CASE("futhark: brackets nest 127 deep and no deeper, without recursion") {
  const TempDir dir;
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  CHECK(complaint(dir, nested(127)).empty());
  CHECK(complaint(dir, nested(128)) ==
        "unsupported at byte 127: more than 127 brackets are inside each other, in line 1");
  CHECK(complaint(dir, std::string(1'000'000, '[')).find("unsupported") == 0);
  std::string type;
  for (int i = 0; i < 127; ++i) type += "[]";
  CHECK(complaint(dir, nested(127), typed(type + "i32")).empty());
  CHECK(complaint(dir, "1", typed(type + "[]i32")).find("invalid_argument") == 0);
}
