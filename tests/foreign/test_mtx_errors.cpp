// Every fault of Matrix Market text, with its exact line; and any bytes at all.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

using namespace dapple;

namespace {

void read_mtx(const std::filesystem::path& path) {
  const Matrix matrix = Matrix::open(path, {.format = "mtx"});
  if (matrix.rows() > 1000 || matrix.cols() > 1000) return;
  const Region all{{0, matrix.rows()}, {0, matrix.cols()}};
  if (matrix.value_type() == ValueType::u64) {
    matrix.read<std::uint64_t>(all);
  } else if (matrix.value_type() == ValueType::i64) {
    matrix.read<std::int64_t>(all);
  } else {
    matrix.read<double>(all);
  }
}

std::string mtx_error(std::string_view text) {
  fuzz::MemoryFile file;
  file.set(std::as_bytes(std::span(text)));
  const auto error = test::error_of([&] { read_mtx(file.path()); });
  return error ? test::told(*error) : "no error";
}

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";        // 46 bytes
const std::string kInteger = "%%MatrixMarket matrix coordinate integer general\n";  // 49 bytes
const std::string kArray = "%%MatrixMarket matrix array real general\n";            // 41 bytes

}  // namespace

TEST_CASE("mtx errors: the banner") {
  CHECK(
      mtx_error("") ==
      "corrupt at byte 0: expected the banner '%%MatrixMarket' in line 1, got the end of the file");
  CHECK(mtx_error("1 2\n") ==
        "corrupt at byte 0: expected the banner '%%MatrixMarket' in line 1, got '1'");
  CHECK(mtx_error("%%MatrixMarketmatrix") ==
        "corrupt at byte 14: expected a blank in line 1, got 'matrix'");
  CHECK(mtx_error("%%MatrixMarket vector array real general\n") ==
        "unsupported at byte 15: expected a matrix in line 1, got 'vector'");
  CHECK(mtx_error("%%MatrixMarket matrix sparse real general\n") ==
        "corrupt at byte 22: expected array or coordinate in line 1, got 'sparse'");
  CHECK(mtx_error("%%MatrixMarket matrix array complex general\n") ==
        "unsupported at byte 28: expected real, integer, unsigned-integer or pattern values in "
        "line 1, got 'complex'");
  CHECK(mtx_error("%%MatrixMarket matrix array quaternion general\n") ==
        "corrupt at byte 28: expected real, integer, unsigned-integer or pattern values in line 1, "
        "got 'quaternion'");
  CHECK(mtx_error("%%MatrixMarket matrix array pattern general\n") ==
        "corrupt at byte 28: expected real, integer or unsigned-integer values of an array in line "
        "1, got 'pattern'");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate real hermitian\n") ==
        "unsupported at byte 38: expected general, symmetric or skew-symmetric in line 1, got "
        "'hermitian'");
  CHECK(
      mtx_error("%%MatrixMarket matrix coordinate real\n") ==
      "corrupt at byte 37: expected general, symmetric or skew-symmetric in line 1, got the end of "
      "the line");
  CHECK(
      mtx_error("%%MatrixMarket matrix coordinate pattern skew-symmetric\n") ==
      "corrupt at byte 41: expected general or symmetric for values without a sign in line 1, got "
      "'skew-symmetric'");
  CHECK(mtx_error("%%MatrixMarket matrix array real general extra\n") ==
        "corrupt at byte 41: expected the end of the line in line 1, got 'extra'");
}

TEST_CASE("mtx errors: the sizes") {
  CHECK(mtx_error(kReal) ==
        "corrupt at byte 46: expected a number of rows in line 2, got the end of the file");
  CHECK(mtx_error(kReal + "% x\n\n3 x 1\n") ==
        "corrupt at byte 53: expected a number of columns in line 4, got 'x'");
  CHECK(mtx_error(kReal + "3 3\n") ==
        "corrupt at byte 49: expected a number of entries in line 2, got the end of the line");
  CHECK(mtx_error(kReal + "3 -3 1\n") ==
        "corrupt at byte 48: expected a number of columns in line 2, got '-3'");
  CHECK(mtx_error(kReal + "3 3 1.5\n") ==
        "corrupt at byte 50: expected a number of entries in line 2, got '1.5'");
  CHECK(mtx_error(kReal + "18446744073709551616 1 0\n") ==
        "corrupt at byte 46: expected a number of rows in line 2, got '18446744073709551616'");
  CHECK(mtx_error(kArray + "3 3 3\n") ==
        "corrupt at byte 45: expected the end of the line in line 2, got '3'");
  CHECK(mtx_error("%%MatrixMarket matrix array real symmetric\n2 3\n") ==
        "corrupt at byte 43: expected as many rows as columns of a symmetric matrix in line 2, got "
        "2 x 3");
  CHECK(mtx_error(kReal + "4294967296 1 0\n") ==
        "unsupported: expected at most 4294967295 rows and columns, got 4294967296 x 1");
  CHECK(mtx_error(kArray + "4294967296 4294967296\n1\n") ==
        "corrupt at byte 63: expected a matrix that fits in a file in line 3, got 4294967296 x "
        "4294967296 values");
  CHECK(mtx_error(kArray + "1000000000 1000000000\n1\n") ==
        "corrupt at byte 65: expected 1000000000000000000 values before the end in line 4, got at "
        "most 1");
}

TEST_CASE("mtx errors: indices outside the matrix") {
  CHECK(mtx_error(kReal + "2 3 1\n0 1 5\n") ==
        "corrupt at byte 52: expected a row of 1 to 2 in line 3, got '0'");
  CHECK(mtx_error(kReal + "2 3 1\n3 1 5\n") ==
        "corrupt at byte 52: expected a row of 1 to 2 in line 3, got '3'");
  CHECK(mtx_error(kReal + "2 3 1\n1 4 5\n") ==
        "corrupt at byte 54: expected a column of 1 to 3 in line 3, got '4'");
  CHECK(mtx_error(kReal + "2 3 1\n-1 1 5\n") ==
        "corrupt at byte 52: expected a row of 1 to 2 in line 3, got '-1'");
  CHECK(mtx_error(kReal + "2 3 1\n1.0 1 5\n") ==
        "corrupt at byte 52: expected a row of 1 to 2 in line 3, got '1.0'");
  CHECK(mtx_error(kReal + "2 3 1\n1 18446744073709551617 5\n") ==
        "corrupt at byte 54: expected a column of 1 to 3 in line 3, got '18446744073709551617'");
  CHECK(mtx_error(kReal + "2 3 1\n1\n") ==
        "corrupt at byte 53: expected a column of 1 to 3 in line 3, got the end of the line");
}

TEST_CASE("mtx errors: too few and too many entries") {
  CHECK(mtx_error(kReal + "2 3 2\n1 1 5\n") ==
        "corrupt at byte 58: expected 2 entries before the end in line 4, got 1");
  CHECK(mtx_error(kReal + "2 3 1\n1 1 5\n% x\n2 2 6\n") ==
        "corrupt at byte 62: expected the end of the file behind 1 entries in line 5, got '2'");
  CHECK(mtx_error(kArray + "2 2\n1\n2\n3\n") ==
        "corrupt at byte 51: expected 4 values before the end in line 6, got at most 3");
  CHECK(mtx_error(kArray + "2 2\n1\n2\n3    \n") ==
        "corrupt at byte 55: expected 4 values before the end in line 6, got 3");
  CHECK(mtx_error(kArray + "2 2\n% x y z\n1\n2\n3\n") ==
        "corrupt at byte 59: expected 4 values before the end in line 7, got 3");
  CHECK(mtx_error(kArray + "1 2\n1\n2\n3\n") ==
        "corrupt at byte 49: expected the end of the file in line 5, got '3'");
  CHECK(mtx_error(kArray + "1 2\n1\n2\n% x\n3\n") ==
        "corrupt at byte 53: expected the end of the file in line 6, got '3'");
}

TEST_CASE("mtx errors: values") {
  CHECK(mtx_error(kReal + "2 3 1\n1 1 x\n") ==
        "corrupt at byte 56: expected a number in line 3, got 'x'");
  CHECK(mtx_error(kReal + "2 3 1\n1 1\n") ==
        "corrupt at byte 55: expected a value in line 3, got the end of the line");
  CHECK(mtx_error(kReal + "2 3 1\n1 1 5 6\n") ==
        "corrupt at byte 58: expected the end of the line in line 3, got '6'");
  CHECK(mtx_error(kReal + "2 3 1\n1 1 1e999\n") ==
        "type_mismatch at byte 56: expected a value in the range of f64 in line 3, got '1e999'");
  CHECK(mtx_error(kInteger + "2 3 1\n1 1 1.5\n") ==
        "corrupt at byte 59: expected an integer in line 3, got '1.5'");
  CHECK(mtx_error(kInteger + "2 3 1\n1 1 9223372036854775808\n") ==
        "type_mismatch at byte 59: expected a value in the range of i64 in line 3, got "
        "'9223372036854775808'");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n") ==
        "corrupt at byte 59: expected the end of the line in line 3, got '5'");
  CHECK(mtx_error(kArray + "2 1\n1\n2x\n") ==
        "corrupt at byte 47: expected a number in line 4, got '2x'");
  CHECK(mtx_error(kArray + "2 1\n1\n1e999\n") ==
        "type_mismatch at byte 47: expected a value of type f64 in line 4, got '1e999'");
  CHECK(mtx_error("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n"
                  "-9223372036854775808\n") ==
        "type_mismatch at byte 55: expected a value of type i64 in line 3, got "
        "'-9223372036854775808'");
}

TEST_CASE("mtx errors: cells that stand there twice") {
  CHECK(mtx_error(kReal + "2 3 3\n2 1 5\n1 1 4\n2 1 5\n") ==
        "corrupt at byte 64: expected every cell once (R5) in line 5, got row 2, column 1 again");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n3 1\n2 2\n3 1\n") ==
        "corrupt at byte 65: expected every cell once (R5) in line 5, got row 3, column 1 again");
}

TEST_CASE("mtx errors: what a symmetric matrix may not hold") {
  CHECK(mtx_error("%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 5\n") ==
        "corrupt at byte 54: expected an entry on or below the diagonal in line 3, got row 1, "
        "column 2");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 5\n") ==
        "corrupt at byte 63: expected zero on the diagonal of a skew-symmetric matrix in line 3, "
        "got '5'");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 0\n") ==
        "no error");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 "
                  "-9223372036854775808\n") ==
        "type_mismatch at byte 66: expected a value in the range of i64 in line 3, got "
        "'-9223372036854775808'");
}

TEST_CASE("mtx errors: a cut or changed file gives an answer or an Error") {
  fuzz::MemoryFile file;
  const auto try_it = [&](const std::string& text) {
    file.set(std::as_bytes(std::span(text)));
    test::error_of([&] { read_mtx(file.path()); });
  };
  for (const std::string& whole :
       {kReal + "% c\n3 4 3\n3 4 1.5e1\n1 1 -2\n2 3 nan\n",
        std::string(
            "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 7\r\n3 2 9"),
        std::string("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n\n3 3\n"),
        kArray + "2 3\n1\n2.5\n% c\n3\n4\n5\n-6\n",
        std::string("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")}) {
    try_it(whole);
    for (std::size_t n = 0; n < whole.size(); ++n) try_it(whole.substr(0, n));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const char c : {'\0', '%', '\n', '\r', ' ', '-', '.', '0', '1', '9', 'e', '\xff'}) {
        std::string changed = whole;
        changed[i] = c;
        try_it(changed);
        changed.insert(i, 1, c);
        try_it(changed);
      }
    }
  }
}
