// Damaged files of the DAPHNE runtime: each wrong field gives one error that names its byte, and
// no change of any byte gives anything but an answer or an Error.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/foreign/cells_text.h"
#include "tests/foreign/daphne_image.h"
#include "tests/foreign/daphne_objects.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

TEST_CASE("daphne: every field is checked, and the byte is named") {
  const TempDir dir;
  const Image dense = runtime_dense<std::int32_t>(2, 3, {1, 2, 3, 4, 5, 6});
  const Image csr = runtime_csr<std::int64_t>(3, {{{0, 1}, {2, 2}}, {{1, 3}}});
  Image frame = runtime_frame(2, {ValueType::u8, ValueType::f64}, 3);
  frame.zeros(18);
  struct Damage {
    Image image;
    std::uint64_t offset;
    std::string detail;
  };
  const auto with = [](Image image, std::size_t at, auto value) { return image.patch(at, value); };
  const auto longer = [](Image image, std::size_t n) { return image.zeros(n); };
  const std::uint64_t huge = std::uint64_t{1} << 63;
  const std::vector<Damage> damages = {
      {with(dense, 0, std::uint8_t{2}), 0, "expected a version of 1, got 2"},
      {with(dense, 1, std::uint8_t{5}), 1, "expected a data type of 1 to 4, got 5"},
      {with(dense, 18, std::uint8_t{8}), 18, "expected a value type of 0 to 7, got 8"},
      {with(dense, 19, huge), 19, "expected a block row of 0, got 9223372036854775808"},
      {with(dense, 27, std::uint64_t{1}), 27, "expected a block column of 0, got 1"},
      {with(dense, 35, std::uint32_t{3}), 35, "expected a number of block rows of 2, got 3"},
      {with(dense, 39, std::uint32_t{2}), 39, "expected a number of block columns of 3, got 2"},
      {with(dense, 43, std::uint8_t{0}), 43, "expected a block type of 1, got 0"},
      {with(dense, 44, std::uint8_t{2}), 44, "expected a block value type of 1, got 2"},
      {longer(dense, 1), 45,
       "expected 2 x 3 values of i32 up to the end of the file, got 25 bytes"},
      {with(with(dense, 2, huge + 2), 10, huge + 3), 45,
       "expected 9223372036854775810 x 9223372036854775811 values of i32 up to the end of the "
       "file, got 24 bytes"},
      {with(csr, 43, std::uint8_t{1}), 43, "expected a block type of 2, got 1"},
      {with(csr, 45, std::uint64_t{4}), 77,
       "expected 4 column indices and values of i64 up to the end of the file, got 48 bytes"},
      {with(csr, 45, huge), 77,
       "expected 9223372036854775808 column indices and values of i64 up to the end of the file, "
       "got 48 bytes"},
      {longer(csr, 15), 77,
       "expected 3 column indices and values of i64 up to the end of the file, got 63 bytes"},
      {with(with(csr, 2, huge), 35, std::uint32_t{0}), 53,
       "expected the row offsets of 9223372036854775808 rows, got 72 bytes"},
      {with(csr, 53, std::uint64_t{1}), 53, "expected a first row offset of 0, got 1"},
      {with(csr, 69, std::uint64_t{2}), 69, "expected a last row offset of 3, got 2"},
      {with(csr, 61, std::uint64_t{4}), 61, "expected a row offset of 0 to 3, got 4"},
      {with(csr, 77, std::uint64_t{3}), 77, "expected a column below 3, got column 3"},
      {with(csr, 77, std::uint64_t{2}), 85, "expected each column once in a row, got column 2"},
      {with(with(csr, 10, std::uint64_t{0}), 39, std::uint32_t{0}), 45,
       "expected no values in a matrix without columns, got 3"},
      {with(frame, 10, std::uint64_t{24}), 10,
       "expected at most 15 columns in a file of this size, got 24"},
      {with(frame, 19, std::uint8_t{9}), 19, "expected a value type of 0 to 7, got 9"},
      {with(frame, 30, std::uint64_t{1}), 30, "expected a block row of 0, got 1"},
      {with(frame, 38, std::uint64_t{1}), 38, "expected a block column of 0, got 1"},
      {with(frame, 2, std::uint64_t{3}), 46,
       "expected 3 rows of 9 bytes up to the end of the file, got 18 bytes"},
      {with(frame, 2, huge), 46,
       "expected 9223372036854775808 rows of 9 bytes up to the end of the file, got 18 bytes"},
  };
  for (const Damage& damage : damages) {
    const Error error = refusal(dir, damage.image.bytes());
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.offset() == damage.offset);
    CHECK(error.detail() == damage.detail);
  }
}

TEST_CASE("daphne: cut at any byte, a file of the runtime is refused") {
  const TempDir dir;
  Image frame = runtime_frame(2, {ValueType::u8, ValueType::f64}, 3);
  frame.zeros(18);
  Image scalar = runtime_header(4, 0x1234, 77);
  scalar.number(std::uint8_t{7}).number(-1.25);
  CHECK(cell_lines(open_runtime(dir, scalar.bytes())) == "c 0 0 bff4000000000000\n");
  CHECK(base(open(dir / "t.dbdf")).note() == "a scalar, read as a matrix of one cell");
  for (const Image& image :
       {runtime_dense<std::int32_t>(2, 3, {1, 2, 3, 4, 5, 6}),
        runtime_csr<std::int64_t>(3, {{{0, 1}, {2, 2}}, {{1, 3}}}), frame, scalar}) {
    for (std::size_t n = 0; n < image.size(); ++n) {
      CAPTURE(n);
      Bytes cut = image.bytes();
      cut.resize(n);
      CHECK(refusal(dir, cut).code() == Errc::corrupt);
    }
    CHECK(base(open_runtime(dir, image.bytes())).format() == "daphne");
  }
}

TEST_CASE("daphne: any change of one byte gives an answer or an error") {
  const TempDir dir;
  Image frame = runtime_frame(2, {ValueType::u8, ValueType::f64}, 3);
  frame.zeros(18);
  std::size_t errors = 0, answers = 0;
  for (const Image& image : {runtime_dense<std::int32_t>(2, 3, {1, 2, 3, 4, 5, 6}),
                             runtime_csr<std::int64_t>(3, {{{0, 1}, {2, 2}}, {{1, 3}}}), frame}) {
    for (std::size_t at = 0; at < image.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x04U, 0x80U, 0xFFU}) {
        Bytes changed = image.bytes();
        changed[at] ^= static_cast<std::byte>(flip);
        for (const std::string format : {"", "daphne"}) {
          const auto path = dir.write("t.dbdf", changed);
          const auto error = error_of([&] {
            const Object object = open_as(path, format);
            if (base(object).rows() * base(object).cols() < 1000) cell_lines(object);
          });
          ++(error ? errors : answers);
        }
      }
    }
  }
  CHECK(errors > 500);
  CHECK(answers > 300);
}
