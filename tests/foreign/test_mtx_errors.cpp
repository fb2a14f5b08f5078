// Every fault of Matrix Market text, with its exact line; and any bytes at all.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
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
  CHECK(mtx_error("") ==
        "corrupt at byte 0: the file ends where the banner '%%MatrixMarket' should be");
  CHECK(mtx_error("1 2\n") ==
        "corrupt at byte 0: line 1 has '1' where the banner '%%MatrixMarket' should be");
  CHECK(mtx_error("%%MatrixMarketmatrix") ==
        "corrupt at byte 14: line 1 has 'matrix' where a blank should be");
  CHECK(mtx_error("%%MatrixMarket vector array real general\n") ==
        "unsupported at byte 15: line 1 has 'vector' where the word 'matrix' should be");
  CHECK(mtx_error("%%MatrixMarket matrix sparse real general\n") ==
        "corrupt at byte 22: line 1 has 'sparse' where 'array' or 'coordinate' should be");
  CHECK(mtx_error("%%MatrixMarket matrix array complex general\n") ==
        "unsupported at byte 28: line 1: complex values are not supported; write their real and "
        "imaginary parts as two matrices");
  CHECK(mtx_error("%%MatrixMarket matrix array quaternion general\n") ==
        "corrupt at byte 28: line 1 has 'quaternion' where 'real', 'integer', 'unsigned-integer' "
        "or 'pattern' should be");
  CHECK(mtx_error("%%MatrixMarket matrix array pattern general\n") ==
        "corrupt at byte 28: line 1: an array has values, so it is no pattern");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate complex hermitian\n") ==
        "unsupported at byte 33: line 1: complex values are not supported; write their real and "
        "imaginary parts as two matrices");
  CHECK(mtx_error("\xef\xbb\xbf%%MatrixMarket matrix sparse real general\n") ==
        "corrupt at byte 25: line 1 has 'sparse' where 'array' or 'coordinate' should be");
  CHECK(
      mtx_error("%%MatrixMarket matrix coordinate real\n") ==
      "corrupt at byte 37: line 1 ends where 'general', 'symmetric' or 'skew-symmetric' should be");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate pattern skew-symmetric\n") ==
        "corrupt at byte 41: line 1: values without a sign cannot be those of a skew-symmetric "
        "matrix");
  CHECK(mtx_error("%%MatrixMarket matrix array real general extra\n") ==
        "corrupt at byte 41: line 1 has 'extra' where the end of the line should be");
}

TEST_CASE("mtx errors: the sizes") {
  CHECK(mtx_error(kReal) == "corrupt at byte 46: the file ends where the number of rows should be");
  CHECK(mtx_error(kReal + "% x\n\n3 x 1\n") ==
        "corrupt at byte 53: line 4 has 'x' where the number of columns should be");
  CHECK(mtx_error(kReal + "3 3\n") ==
        "corrupt at byte 49: line 2 ends where the number of entries should be");
  CHECK(mtx_error(kReal + "3 -3 1\n") ==
        "corrupt at byte 48: line 2 has '-3' where the number of columns should be");
  CHECK(mtx_error(kReal + "3 3 1.5\n") ==
        "corrupt at byte 50: line 2 has '1.5' where the number of entries should be");
  CHECK(mtx_error(kReal + "18446744073709551616 1 0\n") ==
        "corrupt at byte 46: line 2 has '18446744073709551616' where the number of rows should be");
  CHECK(mtx_error(kArray + "3 3 3\n") ==
        "corrupt at byte 45: line 2 has '3' where the end of the line should be");
  CHECK(mtx_error("%%MatrixMarket matrix array real symmetric\n2 3\n") ==
        "corrupt at byte 43: line 2: a symmetric matrix is square, this one is 2 x 3");
  CHECK(
      mtx_error(kReal + "4294967296 1 0\n") ==
      "unsupported: a matrix of 4294967296 x 1 is too large: at most 4294967295 rows and columns");
  CHECK(mtx_error(kArray + "4294967296 4294967296\n1\n") ==
        "corrupt at byte 63: no file holds the 4294967296 x 4294967296 values that the header "
        "announces");
  CHECK(mtx_error(kArray + "1000000000 1000000000\n1\n") ==
        "corrupt at byte 65: the file ends after at most 1 of 1000000000000000000 values");
}

TEST_CASE("mtx errors: indices outside the matrix") {
  CHECK(mtx_error(kReal + "2 3 1\n0 1 5\n") ==
        "corrupt at byte 52: line 3 has '0' where a row of 1 to 2 should be");
  CHECK(mtx_error(kReal + "2 3 1\n3 1 5\n") ==
        "corrupt at byte 52: line 3 has '3' where a row of 1 to 2 should be");
  CHECK(mtx_error(kReal + "2 3 1\n1 4 5\n") ==
        "corrupt at byte 54: line 3 has '4' where a column of 1 to 3 should be");
  CHECK(mtx_error(kReal + "2 3 1\n-1 1 5\n") ==
        "corrupt at byte 52: line 3 has '-1' where a row of 1 to 2 should be");
  CHECK(mtx_error(kReal + "2 3 1\n1.0 1 5\n") ==
        "corrupt at byte 52: line 3 has '1.0' where a row of 1 to 2 should be");
  CHECK(mtx_error(kReal + "2 3 1\n1 18446744073709551617 5\n") ==
        "corrupt at byte 54: line 3 has '18446744073709551617' where a column of 1 to 3 should be");
  CHECK(mtx_error(kReal + "2 3 1\n1\n") ==
        "corrupt at byte 53: line 3 ends where a column of 1 to 3 should be");
}

TEST_CASE("mtx errors: too few and too many entries") {
  CHECK(mtx_error(kReal + "2 3 2\n1 1 5\n") ==
        "corrupt at byte 58: the file ends after 1 of 2 entries");
  CHECK(mtx_error(kReal + "2 3 1\n1 1 5\n% x\n2 2 6\n") ==
        "corrupt at byte 62: line 5: the file goes on after the 1 entries that its header counts");
  CHECK(mtx_error(kArray + "2 2\n1\n2\n3\n") ==
        "corrupt at byte 51: the file ends after at most 3 of 4 values");
  CHECK(mtx_error(kArray + "2 2\n1\n2\n3    \n") ==
        "corrupt at byte 55: the file ends after 3 of 4 values");
  CHECK(mtx_error(kArray + "2 2\n% x y z\n1\n2\n3\n") ==
        "corrupt at byte 59: the file ends after 3 of 4 values");
  CHECK(
      mtx_error(kArray + "1 2\n1\n2\n3\n") ==
      "corrupt at byte 49: line 5: the file goes on after the 2 values that its header announces");
  CHECK(
      mtx_error(kArray + "1 2\n1\n2\n% x\n3\n") ==
      "corrupt at byte 53: line 6: the file goes on after the 2 values that its header announces");
}

TEST_CASE("mtx errors: values") {
  CHECK(mtx_error(kReal + "2 3 1\n1 1 x\n") ==
        "corrupt at byte 56: line 3 has 'x' where a number should be");
  CHECK(mtx_error(kReal + "2 3 1\n1 1\n") ==
        "corrupt at byte 55: line 3 ends where a value should be");
  CHECK(mtx_error(kReal + "2 3 1\n1 1 5 6\n") ==
        "corrupt at byte 58: line 3 has '6' where the end of the line should be");
  CHECK(mtx_error(kReal + "2 3 1\n1 1 1e999\n") ==
        "type_mismatch at byte 56: line 3: '1e999' is out of range for f64");
  CHECK(mtx_error(kInteger + "2 3 1\n1 1 1.5\n") ==
        "corrupt at byte 59: line 3 has '1.5' where an integer should be");
  CHECK(mtx_error(kInteger + "2 3 1\n1 1 9223372036854775808\n") ==
        "type_mismatch at byte 59: line 3: '9223372036854775808' is out of range for i64");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n") ==
        "corrupt at byte 59: line 3 has '5' where the end of the line should be");
  CHECK(mtx_error(kArray + "2 1\n1\n2x\n") ==
        "corrupt at byte 47: line 4 has '2x' where a number should be");
  CHECK(mtx_error(kArray + "2 1\n1\n1e999\n") ==
        "type_mismatch at byte 47: line 4: '1e999' is out of range for f64");
  CHECK(mtx_error(
            "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n-9223372036854775808\n") ==
        "type_mismatch at byte 55: line 3: '-9223372036854775808' is out of range for i64");
}

TEST_CASE("mtx errors: a value that a type rounds says so") {
  const test::TempDir dir;
  const auto error = [&](const std::string& text, ValueType type) {
    test::write_text(dir / "x.mtx", text);
    ConvertOptions options;
    options.value_type = type;
    options.write.overwrite = true;
    return test::required_error(
        test::error_of([&] { convert(open(dir / "x.mtx"), {}, dir / "x.dbdf", options); }));
  };
  for (const std::string& text : {kReal + "2 3 1\n2 3 0.1\n", kArray + "1 1\n0.1\n"}) {
    const Error rounds = error(text, ValueType::f32);
    CHECK(rounds.code() == Errc::type_mismatch);
    CHECK(rounds.detail().find("0.1") != std::string::npos);
    CHECK(rounds.detail().find("is not exact as f32") != std::string::npos);
    CHECK(rounds.option() == "allow_loss");
  }
  CHECK(error(kReal + "2 3 1\n2 3 1e300\n", ValueType::f32).option() == "");
}

TEST_CASE("mtx errors: a wrong value is told when the file is opened") {
  const test::TempDir dir;
  test::write_text(dir / "x.mtx", kReal + "2 3 2\n1 1 x\n2 3 4\n");
  const auto error = test::error_of([&] { Matrix::open(dir / "x.mtx"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
  CHECK(error->offset() == 56);
}

TEST_CASE("mtx errors: cells that are there twice") {
  CHECK(mtx_error(kReal + "2 3 3\n2 1 5\n1 1 4\n2 1 5\n") ==
        "unsupported at byte 64: line 5: the cell in row 2, column 1 is there twice; add such "
        "lines up first, as SciPy's sum_duplicates() does");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n3 1\n2 2\n3 1\n") ==
        "unsupported at byte 65: line 5: the cell in row 3, column 1 is there twice; add such "
        "lines up first, as SciPy's sum_duplicates() does");
}

TEST_CASE("mtx errors: what a symmetric matrix may not hold") {
  CHECK(mtx_error("%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 5\n") ==
        "corrupt at byte 54: line 3: the entry in row 1, column 2 is above the diagonal, where a "
        "symmetric matrix has none");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 5\n") ==
        "corrupt at byte 63: line 3 has '5' where the zero of a skew-symmetric matrix's diagonal "
        "should be");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 0\n") ==
        "no error");
  CHECK(mtx_error("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 "
                  "-9223372036854775808\n") ==
        "type_mismatch at byte 66: line 3: '-9223372036854775808' is out of range for i64");
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

TEST_CASE("mtx errors: entries are judged alike wherever in the text they are") {
  // Far from its end, lines of the usual form are read by other code than close to it.
  const std::string far = std::string(200, '%') + "\n";
  const std::vector<std::string> lines = {
      "1 1 5",      "01 1 5",      "1\t1 5",   "1  1 5",    " 1 1 5",   "1 1  5",      "1 1 5 ",
      "1 1 5\r",    "1 1 ",        "1 1",      "1",         "0 1 5",    "1 0 5",       "9 1 5",
      "1 9 5",      "-1 1 5",      "+1 1 5",   "1.0 1 5",   "1 1 -5.5", "1 1 .5",      "1 1 5.",
      "1 1 1e3",    "1 1 1e",      "1 1 5x",   "1 1 5 6",   "1 1 nan",  "1 1 -inf",    "1 1 1e999",
      "2 1 5",      "1 2 5",       "3 3 0",    "1 1 +5",    "1 1 --5",  "1 1 5.5.5",   "1,1,5",
      "12345678 1", "123456789 1", "1 1 \n 5", "\n\n1 1 5", "% 1\n1 1", "1 1 0.1 % x", "1 1\t7"};
  const std::vector<std::string> values = {"12345678",
                                           "123456789.123456789",
                                           "0.80736168279775022",
                                           "-4503599627370497.5",
                                           "00000000000000000000000001.5",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "9223372036854775808",
                                           "1234567890123456"};
  for (const std::string field : {"real", "integer", "unsigned-integer", "pattern"}) {
    for (const std::string symmetry : {"general", "symmetric", "skew-symmetric"}) {
      if (symmetry[1] == 'k' && (field[0] == 'u' || field[0] == 'p')) continue;
      const std::string head =
          "%%MatrixMarket matrix coordinate " + field + " " + symmetry + "\n3 3 1\n";
      const auto check = [&](const std::string& line) {
        CAPTURE(head);
        CAPTURE(line);
        std::string close = mtx_error(head + line + "\n"),
                    away = mtx_error(head + line + "\n" + far);
        if (close.find("the file ends") == close.npos) CHECK(close == away);
        if (close != "no error") return;
        const auto cells = [&](const std::string& text) {
          fuzz::MemoryFile file;
          file.set(std::as_bytes(std::span(text)));
          const Matrix matrix = Matrix::open(file.path(), {.format = "mtx"});
          const ReadOptions one;
          std::vector<std::byte> out(9 * 8);
          visit_type(matrix.value_type(), [&](auto tag) {
            const auto values_read = matrix.read<decltype(tag)>({{0, 3}, {0, 3}}, one);
            std::memcpy(out.data(), values_read.data(), values_read.size() * sizeof tag);
          });
          return out;
        };
        CHECK(cells(head + line + "\n") == cells(head + line + "\n" + far));
      };
      for (const std::string& line : lines) check(line);
      for (const std::string& value : values) check("2 1 " + value);
    }
  }
}
