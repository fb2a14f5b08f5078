// Every fault of delimited text, with its exact line; and any bytes at all.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// Opens the text and reads all of it, as a frame or a matrix.
void read_csv(const std::filesystem::path& path, const CsvOptions& csv) {
  const auto object = open(path, {.format = "csv", .csv = csv});
  std::visit(
      [](const auto& o) {
        for (std::uint64_t c = 0; c < o.cols(); ++c) {
          visit_type(o.column_type(c), [&](auto tag) {
            std::vector<decltype(tag)> column(o.rows());
            o.template read<decltype(tag)>({{0, o.rows()}, {c, c + 1}}, std::span(column));
          });
        }
      },
      object);
}

/// The error that opening and reading gives, without the file's name.
std::string csv_error(std::string_view text, const CsvOptions& csv = {}) {
  fuzz::MemoryFile file;
  file.set(std::as_bytes(std::span(text)));
  const auto error = test::error_of([&] { read_csv(file.path(), csv); });
  return error ? test::told(*error) : "no error";
}

}  // namespace

TEST_CASE("csv errors: rows of another length name line, expected and got") {
  CHECK(csv_error("a,b,c\n1,2,3\n4,5\n") ==
        "corrupt at byte 15: expected 3 fields in line 3, got 2");
  CHECK(csv_error("1,2\n1,2,3,4\n") == "corrupt at byte 7: expected 2 fields in line 2, got 4");
  CHECK(csv_error("a\n1,2\n") == "corrupt at byte 3: expected 1 field in line 2, got 2");
  CHECK(csv_error("a,b\r\n1,2\r\n3") == "corrupt at byte 11: expected 2 fields in line 3, got 1");
  CHECK(csv_error("\"two\nlines\",b\n1\n") ==
        "corrupt at byte 15: expected 2 fields in line 3, got 1");
}

TEST_CASE("csv errors: a lone carriage return ends no line, and is no part of a bare label") {
  const std::string line =
      "corrupt at byte 3: expected lines that end in \\n or \\r\\n, got a lone \\r";
  CHECK(csv_error("a,b\r1,2\r3,4\r") == line);
  CHECK(csv_error("1,2\r3,4\r5,6\r") == line);
  CHECK(csv_error("\"a\rb\",c\r\n1,2\r\n") == "no error");
}

TEST_CASE("csv errors: blank lines between rows") {
  CHECK(csv_error("1,2\n\n3,4\n") ==
        "corrupt at byte 4: expected 2 fields in line 2, got a blank line");
  CHECK(csv_error("1\n2\n\r\n\n3\n") ==
        "corrupt at byte 4: expected 1 field in line 3, got a blank line");
  CHECK(csv_error("\n1,2\n3,4\n") ==
        "corrupt at byte 0: expected labels or values in line 1, got a blank line");
  CHECK(csv_error("\n1\n", {.header = true}) ==
        "corrupt at byte 0: expected labels or values in line 1, got a blank line");
}

TEST_CASE("csv errors: delimiters that stand in values are refused") {
  for (const char delimiter : std::string("\"\n\r+-./?059aezAEZ")) {
    CAPTURE(delimiter);
    const std::string line = csv_error("1\n", {.delimiter = delimiter});
    CHECK(line.starts_with(
        "invalid_argument: expected a delimiter that stands in no value, neither a letter nor a "
        "digit nor one of \" + - . / ?, got '"));
  }
  for (const char delimiter : std::string("\t ,;:|!#@[`{~\x80\xff")) {
    CAPTURE(delimiter);
    CHECK(csv_error(std::string("1") + delimiter + "2\n", {.delimiter = delimiter}) == "no error");
  }
}

TEST_CASE("csv errors: an empty file") {
  const std::string expected =
      "corrupt at byte 0: expected a line of labels or values, got an empty file";
  CHECK(csv_error("") == expected);
  CHECK(csv_error("\xef\xbb\xbf") == expected);
  CHECK(csv_error("\n\r\n\n") == expected);
}

TEST_CASE("csv errors: text that is no number") {
  CHECK(csv_error("a,pH\n1,2\n3,x1\n") ==
        "unsupported at byte 11: expected a number in line 3, column 2 ('pH'), got 'x1'");
  CHECK(csv_error("1,2\n3,2020-01-31\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '2020-01-31'");
  CHECK(csv_error("1,2\n1.2.3,4\n") ==
        "unsupported at byte 4: expected a number in line 2, column 1, got '1.2.3'");
  CHECK(csv_error("1;2\n3;4,5\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '4,5'");
  CHECK(csv_error("1,2\n3,\"4,5\"\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '4,5'");
  CHECK(csv_error("1,2\n3,\"4\n\"\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '4\\x0a'");
  CHECK(csv_error("1,2\n3,0x10\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '0x10'");
  CHECK(csv_error("1,2\n3,-\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '-'");
  CHECK(csv_error("1,2\n3,1e\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '1e'");
  CHECK(csv_error("1,2\n3,4\r5\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2, got '4\\x0d5'");
  CHECK(csv_error("a\n" + std::string(100, 'z') + "\n") ==
        "unsupported at byte 2: expected a number in line 2, column 1 ('a'), got '" +
            std::string(40, 'z') + "...'");
}

TEST_CASE("csv errors: missing values, and how to read them") {
  const auto remedy = [](std::string_view text) {
    fuzz::MemoryFile file;
    file.set(std::as_bytes(std::span(text)));
    return test::required_error(test::error_of([&] { read_csv(file.path(), {}); })).remedy();
  };
  CHECK(remedy("a,b\n1,\n") == Remedy::missing_as_nan);
  CHECK(remedy("a,b\n1,x1\n") == Remedy::none);
  CHECK(csv_error("a,b\n1,\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2 ('b'), got an empty field");
  CHECK(csv_error("1,2\n,3\n") ==
        "unsupported at byte 4: expected a number in line 2, column 1, got an empty field");
  for (const char* missing : {"NA", "N/A", "?"}) {
    CAPTURE(missing);
    CHECK(csv_error("a,b\n1," + std::string(missing) + "\n") ==
          "unsupported at byte 6: expected a number in line 2, column 2 ('b'), got '" +
              std::string(missing) + "'");
  }
  CHECK(csv_error("a,b\n1, \"\"\n") ==
        "unsupported at byte 6: expected a number in line 2, column 2 ('b'), got ' \"\"'");
  // An integer has no NaN.
  CHECK(csv_error("a\n?\n", {.missing_as_nan = true, .types = {{"a", ValueType::i32}}}) ==
        "unsupported at byte 2: expected a value of type i32 in line 2, column 1 ('a'), got '?'");
}

TEST_CASE("csv errors: numbers that a type does not hold") {
  const auto given = [](ValueType type) { return CsvOptions{.types = {{"0", type}}}; };
  CHECK(csv_error("1\n300\n", given(ValueType::u8)) ==
        "type_mismatch at byte 2: expected a value of type u8 in line 2, column 1, got '300'");
  CHECK(csv_error("1\n-1\n", given(ValueType::u64)) ==
        "type_mismatch at byte 2: expected a value of type u64 in line 2, column 1, got '-1'");
  CHECK(csv_error("1\n1.0\n", given(ValueType::i64)) ==
        "type_mismatch at byte 2: expected a value of type i64 in line 2, column 1, got '1.0'");
  CHECK(csv_error("1\n9223372036854775808\n", given(ValueType::i64)) ==
        "type_mismatch at byte 2: expected a value of type i64 in line 2, column 1, got "
        "'9223372036854775808'");
  CHECK(csv_error("a,b\n1,2\n3,1e400\n") ==
        "type_mismatch at byte 10: expected a value of type f64 in line 3, column 2 ('b'), got "
        "'1e400'");
  CHECK(csv_error("1\n1e40\n", given(ValueType::f32)) ==
        "type_mismatch at byte 2: expected a value of type f32 in line 2, column 1, got '1e40'");
}

TEST_CASE("csv errors: quotes that do not close") {
  CHECK(csv_error("1,2\n3,\"4\n") ==
        "corrupt at byte 6: expected a closing quote at the end of the field in line 2, column 2, "
        "got '\"4\\x0a'");
  CHECK(csv_error("\"a\"b,c\n1,2\n") ==
        "corrupt at byte 0: expected a closing quote at the end of the field in line 1, column 1, "
        "got '\"a\"b,c\\x0a1,2\\x0a'");
  CHECK(csv_error("a,\"b\n1,2\n") ==
        "corrupt at byte 2: expected a closing quote at the end of the field in line 1, column 2, "
        "got '\"b\\x0a1,2\\x0a'");
}

TEST_CASE("csv errors: a .meta file that tells of another table") {
  const test::TempDir dir;
  const auto path = dir / "t.csv";
  const auto error = [&](std::string_view meta, std::string_view text) {
    test::write_text(dir / "t.csv.meta", meta);
    test::write_text(path, text);
    return test::error_of([&] { open(path); }).value();
  };
  const auto rows = error(R"({"numRows":3,"numCols":2,"valueType":"f64"})", "1,2\n3,4\n");
  CHECK(rows.code() == Errc::corrupt);
  CHECK(rows.detail() == "expected 3 rows as the .meta file says, got 2");
  const auto cols =
      error(R"({"numRows":2,"numCols":1152921504606846976,"valueType":"f64"})", "1,2\n3,4\n");
  CHECK(cols.detail() ==
        "expected 1152921504606846976 fields in line 1 as the .meta file says, got 2");
  CHECK(error(R"({"numRows":2,"numCols":2,"valueType":"f64"})", "").detail() ==
        "expected 2 rows as the .meta file says, got 0");
  const auto header = error(R"({"numRows":1,"numCols":2,"valueType":"f64"})", "a,b\n1,2\n");
  CHECK(header.detail() == "expected a number in line 1, column 1, got 'a'");
  const auto broken = error("{", "1,2\n");
  CHECK(broken.file() == path.string() + ".meta");
  CHECK(broken.code() == Errc::corrupt);
}

TEST_CASE("csv errors: a cut or changed file gives an answer or an Error") {
  const std::string whole =
      "\xef\xbb\xbf\"a\"\"x\",b,\"c\nd\"\r\n1,-2.5e3,nan\r\n\"4\", 5 ,-0\r\n18446744073709551615,"
      "6.,NA\r\n";
  fuzz::MemoryFile file;
  const auto try_it = [&](const std::string& text) {
    file.set(std::as_bytes(std::span(text)));
    for (const bool missing : {false, true}) {
      test::error_of([&] { read_csv(file.path(), {.missing_as_nan = missing}); });
    }
  };
  try_it(whole);
  for (std::size_t n = 0; n < whole.size(); ++n) try_it(whole.substr(0, n));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'\0', '"', ',', ';', '\t', '\n', '\r', ' ', '-', '.', 'e', '9', '\xff'}) {
      std::string changed = whole;
      changed[i] = c;
      try_it(changed);
      changed.insert(i, 1, c);
      try_it(changed);
    }
  }
}
