// Damaged files of the DAPHNE runtime: each wrong field gives one error that names its byte, and
// no change of any byte gives anything but an answer or an Error.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
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
      {with(dense, 0, std::uint8_t{2}), 0, "the version should be 1, not 2"},
      {with(dense, 1, std::uint8_t{5}), 1, "there is no data type 5, only 1 to 4"},
      {with(dense, 18, std::uint8_t{8}), 18, "there is no value type 8, only 0 to 7"},
      {with(dense, 19, huge), 19, "the block's row should be 0, not 9223372036854775808"},
      {with(dense, 27, std::uint64_t{1}), 27, "the block's column should be 0, not 1"},
      {with(dense, 35, std::uint32_t{3}), 35, "the block's number of rows should be 2, not 3"},
      {with(dense, 39, std::uint32_t{2}), 39, "the block's number of columns should be 3, not 2"},
      {with(dense, 43, std::uint8_t{0}), 43, "the block type should be 1, not 0"},
      {with(dense, 44, std::uint8_t{2}), 44, "the block's value type should be 1, not 2"},
      {longer(dense, 1), 45,
       "2 x 3 values of i32 do not fit the 25 bytes up to the end of the file"},
      {with(with(dense, 2, huge + 2), 10, huge + 3), 45,
       "9223372036854775810 x 9223372036854775811 values of i32 do not fit the 24 bytes up to the "
       "end of the file"},
      {with(csr, 43, std::uint8_t{1}), 43, "the block type should be 2, not 1"},
      {with(csr, 45, std::uint64_t{4}), 77,
       "4 column indices and values of i64 do not fit the 48 bytes up to the end of the file"},
      {with(csr, 45, huge), 77,
       "9223372036854775808 column indices and values of i64 do not fit the 48 bytes up to the end "
       "of the file"},
      {longer(csr, 15), 77,
       "3 column indices and values of i64 do not fit the 63 bytes up to the end of the file"},
      {with(with(csr, 2, huge), 35, std::uint32_t{0}), 53,
       "the offsets of 9223372036854775808 rows do not fit the 72 bytes up to the end of the file"},
      {with(csr, 53, std::uint64_t{1}), 53, "the first pointer should be 0, not 1"},
      {with(csr, 69, std::uint64_t{2}), 69, "the last row offset should be 3, not 2"},
      {with(csr, 61, std::uint64_t{4}), 61, "a row ends at value 4 of 3"},
      {with(csr, 77, std::uint64_t{3}), 77, "column 3 is outside a matrix of 3 columns"},
      {with(csr, 77, std::uint64_t{2}), 85,
       "column 2 is twice in a row; add such entries up first, as SciPy's sum_duplicates() does"},
      {with(with(csr, 10, std::uint64_t{0}), 39, std::uint32_t{0}), 77,
       "a matrix without cells cannot have 3 values"},
      {with(frame, 10, std::uint64_t{24}), 10, "24 columns do not fit a file of 64 bytes"},
      {with(frame, 19, std::uint8_t{9}), 19, "there is no value type 9, only 0 to 7"},
      {with(frame, 30, std::uint64_t{1}), 30, "the block's row should be 0, not 1"},
      {with(frame, 38, std::uint64_t{1}), 38, "the block's column should be 0, not 1"},
      {with(frame, 2, std::uint64_t{3}), 46,
       "3 rows of 9 bytes do not fit the 18 bytes up to the end of the file"},
      {with(frame, 2, huge), 46,
       "9223372036854775808 rows of 9 bytes do not fit the 18 bytes up to the end of the file"},
  };
  for (const Damage& damage : damages) {
    const Error error = refusal(dir, damage.image.bytes());
    const bool means_sum = error.detail().find("sum_duplicates") != std::string::npos;
    CHECK(error.code() == (means_sum ? Errc::unsupported : Errc::corrupt));
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
