#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;

namespace {

constexpr std::size_t kBody = 19;  // first byte after a matrix header

// Code, byte and message of what goes wrong when everything in the file is read; "" if nothing.
std::string complaint(const Image& image) {
  fuzz::MemoryFile file;
  file.set(image.bytes());
  const auto error = test::error_of([&] {
    const auto object = open(file.path(), {.format = "dbdf", .check = Check::never});
    if (const auto* m = std::get_if<Matrix>(&object)) {
      m->read<double>({{0, m->rows()}, {0, m->cols()}});
    } else {
      const auto& f = std::get<Frame>(object);
      for (std::uint64_t c = 0; c < f.cols(); ++c) f.read_column<double>(c, {0, f.rows()});
    }
  });
  if (!error) return "";
  std::string s(name(error->code()));
  if (error->offset()) s.append(" at ").append(std::to_string(*error->offset()));
  return s.append(": ").append(error->detail());
}

Image four_by_four() { return Image::matrix(4, 4, ValueType::i16); }

}  // namespace

TEST_CASE("format: R1 names the byte that is no version, type or kind") {
  const Image sound =
      four_by_four().dense<std::uint8_t>({0, 0}, 4, 4, std::vector<std::uint8_t>(16));
  CHECK(complaint(sound) == "");
  const auto with = [&](std::size_t at, int value) {
    return complaint(Image(sound).patch(at, static_cast<std::uint8_t>(value)));
  };
  CHECK(with(0, 2) == "corrupt at 0: format version 2 is unknown (R1)");
  CHECK(with(0, 'a') == "corrupt at 0: format version 97 is unknown (R1)");  // no text follows
  CHECK(with(1, 0) == "corrupt at 1: data type 0 is unknown (R1)");
  CHECK(with(1, 4) == "corrupt at 1: data type 4 is unknown (R1)");
  CHECK(with(18, 0) == "corrupt at 18: value type 0 is unknown (R1)");
  CHECK(with(18, 11) == "corrupt at 18: value type 11 is unknown (R1)");
  CHECK(with(kBody + 24, 4) == "corrupt at 43: block type 4 is unknown (R1)");
  CHECK(with(kBody + 25, 0) == "corrupt at 44: value type 0 is unknown (R1)");
  CHECK(with(kBody + 25, 11) == "corrupt at 44: value type 11 is unknown (R1)");
}

TEST_CASE("format: R2 names the block that leaves the object") {
  const auto at = [](BlockPos pos, std::uint32_t rows, std::uint32_t cols) {
    return complaint(four_by_four().empty(pos, rows, cols));
  };
  CHECK(at({0, 0}, 4, 4) == "");
  CHECK(at({1, 0}, 4, 4) ==
        "corrupt at 19: block (1, 0) of 4 x 4 cells is not inside the 4 x 4 object (R2)");
  CHECK(at({0, 0}, 4, 5) ==
        "corrupt at 19: block (0, 0) of 4 x 5 cells is not inside the 4 x 4 object (R2)");
  CHECK(at({4, 0}, 1, 1) ==
        "corrupt at 19: block (4, 0) of 1 x 1 cells is not inside the 4 x 4 object (R2)");
  CHECK(at({~0ULL, 0}, 1, 1) ==
        "corrupt at 19: block (18446744073709551615, 0) of 1 x 1 cells is not inside the 4 x 4 "
        "object (R2)");
  CHECK(at({~0ULL - 3, ~0ULL - 3}, ~0U, ~0U).ends_with("is not inside the 4 x 4 object (R2)"));
  // Blocks without cells may stand anywhere.
  CHECK(complaint(four_by_four().empty({9, 9}, 0, 7).empty({0, 0}, 4, 4)) == "");
}

TEST_CASE("format: R3 names the block that shares a cell with an earlier one") {
  CHECK(complaint(four_by_four().empty({0, 0}, 4, 4).empty({3, 2}, 1, 1)) ==
        "corrupt at 60: blocks (0, 0) and (3, 2) both hold cell (3, 2) (R3)");
}

TEST_CASE("format: R4 compares every length with the bytes that are left, before memory is taken") {
  const auto dense = [](std::uint32_t rows, std::uint32_t cols) {
    return complaint(Image::matrix(~0ULL, ~0ULL, ValueType::f64)
                         .block_header({0, 0}, rows, cols, BlockKind::dense)
                         .value_type(ValueType::f64)
                         .zeros(80));
  };
  CHECK(dense(2, 6) == "corrupt at 35: block (0, 0) ends 16 bytes after the file does (R4)");
  CHECK(dense(~0U, ~0U) == "corrupt at 35: block (0, 0) has more than 2^64 bytes (R4)");
  const auto csr = [](std::uint64_t stored) {
    return complaint(four_by_four()
                         .block_header({0, 0}, 4, 4, BlockKind::csr)
                         .value_type(ValueType::u8)
                         .number(stored)
                         .zeros(16));
  };
  CHECK(csr(0) == "");
  CHECK(csr(1) == "corrupt at 35: block (0, 0) ends 5 bytes after the file does (R4)");
  CHECK(csr(~0ULL) == "corrupt at 35: block (0, 0) has more than 2^64 bytes (R4)");
  CHECK(csr(~0ULL / 5 - 2).starts_with("corrupt at 35: block (0, 0) "));
  const auto coo = complaint(four_by_four()
                                 .block_header({0, 0}, 4, 4, BlockKind::coo)
                                 .value_type(ValueType::u8)
                                 .number(~std::uint32_t{0}));
  CHECK(coo == "corrupt at 35: block (0, 0) ends 38654705655 bytes after the file does (R4)");
  CHECK(complaint(four_by_four().zeros(20)) ==
        "corrupt at 19: the file ends inside the header of a block (R4)");
}

TEST_CASE("format: R4 holds for the header of a frame") {
  const auto frame = [](std::uint64_t cols) {
    Image image;
    return complaint(image.number(std::uint8_t{1})
                         .number(std::uint8_t{3})
                         .number(std::uint64_t{1})
                         .number(cols)
                         .zeros(9));
  };
  CHECK(frame(4) ==
        "corrupt at 18: the file is too short for the types and labels of 4 columns (R4)");
  CHECK(frame(~0ULL) ==
        "corrupt at 18: the file is too short for the types and labels of 18446744073709551615 "
        "columns (R4)");
}

TEST_CASE("format: R5 names the entry that leaves its block, and counts that do not add up") {
  const auto csr = [](const std::vector<std::vector<std::pair<std::uint32_t, std::int16_t>>>& rows,
                      std::uint64_t stored) {
    return complaint(four_by_four().csr<std::int16_t>({0, 0}, 4, rows).patch(kBody + 26, stored));
  };
  CHECK(csr({{{3, 1}, {0, 2}}, {}, {{1, 1}}, {}}, 3) == "");
  CHECK(csr({{{4, 1}}, {}, {}, {}}, 1) ==
        "corrupt at 57: column 4 is outside a block of 4 columns (R5)");
  CHECK(csr({{{2, 1}, {1, 1}, {2, 3}}, {}, {}, {}}, 3) ==
        "corrupt at 57: block (0, 0) stores its cell (0, 2) twice (R5)");
  Image counts = four_by_four().csr<std::int16_t>({0, 0}, 4, {{{0, 1}}, {}, {}, {{1, 2}}});
  CHECK(complaint(Image(counts).patch(53, std::uint32_t{3})) ==
        "corrupt at 53: row 0 counts 3 entries where only 2 of the block's 2 are left (R5)");
  Image fewer = four_by_four().csr<std::int16_t>({0, 0}, 4, {{}, {}, {}, {}});
  fewer.patch(kBody + 26, std::uint64_t{1}).zeros(6);
  CHECK(complaint(fewer) ==
        "corrupt at 45: the row counts add up to 0, not to the block's 1 entries (R5)");

  const auto coo = [](const std::vector<Triplet<std::int16_t>>& entries) {
    return complaint(four_by_four().coo<std::int16_t>({0, 0}, 4, 4, entries));
  };
  CHECK(coo({{3, 3, 1}, {0, 0, 1}}) == "");
  CHECK(coo({{4, 0, 1}}) == "corrupt at 49: row 4 is outside a block of 4 rows (R5)");
  CHECK(coo({{0, 7, 1}}) == "corrupt at 53: column 7 is outside a block of 4 columns (R5)");
  CHECK(coo({{1, 2, 1}, {0, 0, 1}, {1, 2, 1}}) ==
        "corrupt at 49: block (0, 0) stores its cell (1, 2) twice (R5)");
  // Only cells that are read.
  fuzz::MemoryFile file;
  file.set(
      four_by_four().coo<std::int16_t>({0, 0}, 4, 4, {{1, 2, 1}, {0, 0, 3}, {1, 2, 1}}).bytes());
  const Matrix m = Matrix::open(file.path());
  CHECK(m.read<double>({{0, 1}, {0, 4}}) == std::vector<double>{3, 0, 0, 0});
  CHECK(test::error_of([&] { m.read<double>({{1, 2}, {2, 3}}); }));
}

TEST_CASE("format: R6 names the value that is none of its column's type") {
  CHECK(complaint(Image::matrix(1, 2, ValueType::u8).dense<double>({0, 0}, 1, 2, {255, 0})) == "");
  const auto u8 = [](double value) {
    return complaint(Image::matrix(1, 2, ValueType::u8).dense<double>({0, 0}, 1, 2, {1, value}));
  };
  for (const double value : {256.0, -1.0, 0.5, -0.0, 1e300}) {
    CHECK(u8(value).ends_with(" in cell (0, 1) does not fit u8 (R6)"));
  }
  CHECK(u8(256) == "corrupt at 53: 256 in cell (0, 1) does not fit u8 (R6)");
  CHECK(complaint(Image::matrix(2, 2, ValueType::f32)
                      .coo<std::int32_t>({0, 0}, 2, 2, {{1, 0, 16777217}})) ==
        "corrupt at 57: 16777217 in cell (1, 0) does not fit f32 (R6)");
}

TEST_CASE("format: R7 names the first cell that no block covers, unless zeros are asked for") {
  const Image image = four_by_four().empty({0, 0}, 4, 2).empty({0, 2}, 2, 2);
  CHECK(complaint(image) == "absent: no block covers cell (2, 2) (R7)");
  fuzz::MemoryFile file;
  file.set(image.bytes());
  const Matrix m = Matrix::open(file.path());
  CHECK(m.read<int>({{1, 3}, {1, 4}}, {.absent = Absent::zero}) == std::vector<int>(6));
}

TEST_CASE("format: R8 reads each column of a frame as its declared type") {
  const auto frame = [](const std::vector<std::uint16_t>& values) {
    Image image = Image::frame(1, {{"a", ValueType::u16}, {"b", ValueType::u8}});
    return complaint(image.dense<std::uint16_t>({0, 0}, 1, 2, values));
  };
  CHECK(frame({300, 200}) == "");
  CHECK(frame({300, 300}).ends_with("300 in cell (0, 1) does not fit u8 (R6)"));
}

TEST_CASE("format: damaged files of others are refused, or read as the reference reads them") {
  for (const auto& file : test::golden_files("dbdf/damaged", ".dbdf")) {
    CAPTURE(file);
    std::string wrong;
    try {
      wrong = test::difference(file);
    } catch (const reference::Refused&) {
      wrong = test::error_of([&] { open(file); }) ? "" : "accepted";
    }
    CHECK(wrong == "");
  }
}

TEST_CASE("format: an empty file, and one byte, are no object") {
  fuzz::MemoryFile file;
  CHECK(test::error_of([&] { open(file.path()); })->code() == Errc::not_recognised);
  CHECK(complaint(Image()) ==
        "corrupt at 0: 1 byte of a format version is needed here, but nothing is left");
  CHECK(complaint(Image().number(std::uint8_t{1})) ==
        "corrupt at 1: 1 byte of a data type is needed here, but nothing is left");
}
