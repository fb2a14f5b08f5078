// Which files are taken for the published format, which for the DAPHNE runtime's, and which for
// neither until one is named.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/cells_text.h"
#include "tests/foreign/daphne_image.h"
#include "tests/foreign/daphne_objects.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// The format that a file of these bytes is taken for, or the error's message.
std::string taken_for(const TempDir& dir, const Bytes& bytes) {
  try {
    return std::string(base(open(dir.write("t.dbdf", bytes))).format());
  } catch (const Error& error) {
    return error.detail();
  }
}

}  // namespace

TEST_CASE("daphne: no sound file of the published format is taken for one of the runtime") {
  for (const auto& path : golden_files("dbdf/valid", ".dbdf")) {
    CAPTURE(path);
    CHECK(base(open(path)).format() == "dbdf");
  }
  const TempDir dir;
  for (const auto& path : golden_files("dbdf/damaged", ".dbdf")) {
    CAPTURE(path);
    const std::string found = taken_for(dir, read_bytes(path));
    CHECK(found != "daphne");
    CHECK(found != kEither);
  }
}

TEST_CASE("daphne: published files of one block are told by their length, whatever their cells") {
  const TempDir dir;
  Rng rng(1);
  for (const ValueType type : kValueTypes) {
    visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      for (int i = 0; i < 60; ++i) {
        CAPTURE(name(type));
        const auto rows = static_cast<std::uint32_t>(rng.between(1, 30));
        const auto cols = static_cast<std::uint32_t>(rng.between(1, 12));
        std::vector<T> values =
            rng.chance(30) ? std::vector<T>(rows * cols) : some_values<T>(rng, rows * cols);
        Image dense = Image::matrix(rows, cols, type);
        dense.dense<T>({0, 0}, rows, cols, values);
        CHECK(taken_for(dir, dense.bytes()) == "dbdf");

        std::vector<std::vector<std::pair<std::uint32_t, T>>> entries(rows);
        for (std::uint32_t r = 0; r < rows; ++r) {
          for (std::uint32_t c = 0; c < cols && i % 4 != 0; ++c) {
            if (rng.chance(20)) entries[r].push_back({c, values[r * cols + c]});
          }
        }
        Image csr = Image::matrix(rows, cols, type, 2);
        csr.csr<T>({0, 0}, cols, entries);
        CHECK(taken_for(dir, csr.bytes()) == "dbdf");

        Image frame = Image::frame(
            rows, std::vector<std::pair<std::string, ValueType>>(
                      cols, {std::string(static_cast<std::size_t>(i % 5), 'x'), type}));
        frame.dense<T>({0, 0}, rows, cols, values);
        CHECK(taken_for(dir, frame.bytes()) == "dbdf");
      }
    });
  }
}

TEST_CASE("daphne: files that dapple wrote are its own, whatever their length") {
  const TempDir dir;
  // The index after the only block makes a published u8 file as long as one of i32.
  for (std::uint32_t cells = 1; cells < 120; ++cells) {
    const std::size_t extra = 3 * std::size_t{cells};
    constexpr std::size_t auxiliary_header = 26;
    if (extra <= auxiliary_header) continue;
    Image image = Image::matrix(cells, 1, ValueType::u8);
    image.dense<std::uint8_t>({0, 0}, cells, 1, std::vector<std::uint8_t>(cells, 9));
    image.auxiliary(Bytes(extra - auxiliary_header));
    REQUIRE(image.size() == 45 + 4 * std::size_t{cells});
    CHECK(taken_for(dir, image.bytes()) == "dbdf");
  }
  // The same with CSR, where it looks like capacity after the last value.
  Image image = Image::matrix(2, 3, ValueType::u64, 2);
  image.csr<std::uint64_t>({0, 0}, 3, {{}, {}});
  image.auxiliary(Bytes(2 * 12 + 24 + 53 - image.size() - 26));
  CHECK(taken_for(dir, image.bytes()) == "dbdf");
}

TEST_CASE("daphne: runtime files of every type are recognised, whatever their cells") {
  const TempDir dir;
  Rng rng(2);
  for (const ValueType type : kRuntimeTypes) {
    visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      for (int i = 0; i < 40; ++i) {
        CAPTURE(name(type));
        const std::uint64_t rows = rng.between(1, 30), cols = rng.between(1, 12);
        const std::vector<T> values =
            rng.chance(30) ? std::vector<T>(rows * cols) : some_values<T>(rng, rows * cols);
        const Bytes dense = runtime_dense<T>(rows, cols, values).bytes();
        CHECK(taken_for(dir, dense) == "daphne");
        CHECK(std::get<Matrix>(open(dir / "t.dbdf")).value_type() == type);

        std::vector<std::vector<std::pair<std::uint64_t, T>>> entries(rows);
        for (std::uint64_t r = 0; r < rows; ++r) {
          for (std::uint64_t c = 0; c < cols && i % 4 != 0; ++c) {
            if (rng.chance(20)) entries[r].push_back({c, values[r * cols + c]});
          }
        }
        CHECK(taken_for(dir, runtime_csr<T>(cols, entries).bytes()) == "daphne");

        Image frame = runtime_frame(rows, std::vector<ValueType>(cols, type),
                                    static_cast<std::uint16_t>(i % 3));
        for (const T value : values) frame.number(value);
        CHECK(taken_for(dir, frame.bytes()) == "daphne");
      }
    });
  }
}

TEST_CASE("daphne: a matrix without cells could be either, and is refused until named") {
  const TempDir dir;
  const Bytes bytes = runtime_dense<float>(0, 5, {}).bytes();
  const auto path = dir.write("t.dbdf", bytes);
  const auto error = error_of([&] { open(path); });
  REQUIRE(error);
  CHECK(error->code() == Errc::not_recognised);
  CHECK(error->detail() == kEither);
  CHECK(std::get<Matrix>(open_as(path, "daphne")).value_type() == ValueType::f32);
  CHECK(std::get<Matrix>(open_as(path, "dbdf")).value_type() == ValueType::i16);
  // Codes that only one of the two has.
  CHECK(taken_for(dir, runtime_dense<std::int8_t>(0, 5, {}).bytes()) == "daphne");
  CHECK(
      taken_for(dir, Image::matrix(0, 5, ValueType::f64).dense<double>({0, 0}, 0, 5, {}).bytes()) ==
      "dbdf");
}

TEST_CASE("daphne: zeros that would pass for blocks without cells are values") {
  const TempDir dir;
  // 25 zero bytes are an empty block of no cells at (0, 0).
  CHECK(taken_for(dir, runtime_dense<std::int32_t>(5, 5, std::vector<std::int32_t>(25)).bytes()) ==
        "daphne");
  CHECK(taken_for(dir, runtime_csr<std::uint8_t>(
                           2, std::vector<std::vector<std::pair<std::uint64_t, std::uint8_t>>>(23))
                           .bytes()) == "daphne");
  Image frame = runtime_frame(1, {ValueType::u8, ValueType::i64});
  CHECK(taken_for(dir, frame.zeros(9).bytes()) == "daphne");
}

TEST_CASE("daphne: a frame whose rows read as blocks with cells is a published one") {
  const TempDir dir;
  // After the position: 1 x 1, dense, u8, one value; or a row of u32 u32 u8 u8 u8.
  Image image = Image::frame(1, {{"", ValueType::u32}, {"", ValueType::u32}});
  image.dense<std::uint8_t>({0, 0}, 1, 2, {4, 5});
  CHECK(taken_for(dir, image.bytes()) == "dbdf");
  const Bytes bytes =
      Image::frame(
          1,
          {{"", ValueType::u64}, {"", ValueType::u64}, {"", ValueType::u32}, {"", ValueType::u8}})
          .dense<std::uint8_t>({0, 0}, 1, 3, {4, 5, 6})
          .bytes();
  REQUIRE(bytes.size() == 18 + 4 + 8 + 16 + 4 + 4 + 1 + 4);  // the runtime's length, too
  CHECK(taken_for(dir, bytes) == "dbdf");
  CHECK(base(open_as(dir / "t.dbdf", "daphne")).format() == "daphne");
}

TEST_CASE("daphne: capacity after the values of a CSR matrix is noted and ignored") {
  const TempDir dir;
  Image image = runtime_csr<float>(3, {{{1, 2.5F}}, {}, {{0, -1}, {2, 4}}});
  image.zeros(5 * 12);
  CHECK(taken_for(dir, image.bytes()) == "daphne");
  const Object object = open(dir / "t.dbdf");
  CHECK(base(object).note() == "60 bytes of unused capacity after the last value");
  CHECK(cell_lines(object) == "c 0 1 40200000\nc 2 0 bf800000\nc 2 2 40800000\n");
  // Without a value, the zeros after it could be blocks of the published format just as well.
  Image empty = runtime_csr<std::uint64_t>(
      2, std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>>(4));
  empty.zeros(80);
  for (std::size_t extra = 0; extra < 400; extra += 16) {
    Image longer = empty;
    const std::string found = taken_for(dir, longer.zeros(extra).bytes());
    const bool published = (80 + 40 + extra - 16) % 25 == 0;
    CHECK(found == (published ? kEither : "daphne"));
  }
}
