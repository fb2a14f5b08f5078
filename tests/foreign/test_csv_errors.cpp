// Every fault of delimited text, with its exact line; and any bytes at all.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// Opens the text and reads all of it, as a frame or a matrix.
void read_csv(const std::filesystem::path& path, const FormatOptions& csv) {
  const auto object = open(path, {.format = "csv", .format_options = csv});
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
std::string csv_error(std::string_view text, const FormatOptions& csv = {}) {
  fuzz::MemoryFile file;
  file.set(std::as_bytes(std::span(text)));
  const auto error = test::error_of([&] { read_csv(file.path(), csv); });
  return error ? test::told(*error) : "no error";
}

}  // namespace

TEST_CASE("csv errors: a value that a type rounds says so") {
  const test::TempDir dir;
  test::write_text(dir / "x.csv", "a,b,c,d\n0.1,300,3.4028235e38,255.4\n");
  const auto error = [&](std::uint64_t col, ValueType type) {
    ConvertOptions options;
    options.value_type = type;
    return test::required_error(test::error_of([&] {
      convert(open(dir / "x.csv"), {{}, std::vector{col}}, dir / "x.dbdf", options);
    }));
  };
  CHECK(error(0, ValueType::f32).detail() == "0.1 in cell (0, 0) is not exact as f32");
  CHECK(error(0, ValueType::f32).option() == "allow_loss");
  CHECK(error(0, ValueType::u8).option() == "allow_loss");
  CHECK(error(1, ValueType::u8).detail() == "300 in cell (0, 1) does not fit u8");
  CHECK(error(1, ValueType::u8).option() == "");
  // Beyond the largest value, to which they are rounded.
  CHECK(error(2, ValueType::f32).option() == "allow_loss");
  CHECK(error(3, ValueType::u8).option() == "allow_loss");
}

TEST_CASE("csv errors: lines are those of the file, also after quoted fields of several") {
  CHECK(csv_error("a,b\n\"x\ny\",1\nz\n") ==
        "corrupt at byte 13: line 4 has 1 field where the others have 2");
  CHECK(csv_error("a,b\n\"x\r\n\r\ny\",1\n\"z\",\"\n") ==
        "corrupt at byte 19: line 5, column 2 ('b'): no quote closes the field '\"\\x0a'");
  CHECK(csv_error("\"a\nb\",c\n1,2\n3,x\n", {{"csv.type", "c=u8"}}) ==
        "type_mismatch at byte 14: line 4, column 2 ('c'): 'x' is not a number");
  CHECK(csv_error("a,b\n\"x\ny\",1\n\"x\",\xff\n") ==
        "unsupported at byte 16: line 4, column 2 ('b'): '\\xff' is not UTF-8; convert the text to "
        "UTF-8 first");
  CHECK(csv_error("a,b\n\"x\ny\",1\nz,9007199254740993\nz,-1\nz,18446744073709551615\n")
            .starts_with("type_mismatch at byte 14: line 4, column 2 ('b'): '9007199254740993'"));
}

TEST_CASE("csv errors: rows of another length name the line and both lengths") {
  CHECK(csv_error("a,b,c\n1,2,3\n4,5\n") ==
        "corrupt at byte 15: line 3 has 2 fields where the others have 3");
  CHECK(csv_error("1,2\n1,2,3,4\n") == "corrupt at byte 7: line 2 has 4 fields where line 1 has 2");
  CHECK(csv_error("a\n1,2,3\n") == "corrupt at byte 3: line 2 has 3 fields where line 1 has 1");
  CHECK(csv_error("a\n1,2\n3\n") ==
        "corrupt at byte 7: line 3 has 1 field where the others have 2");
  std::string trailing = "a,b\n";
  for (int row = 0; row < 20; ++row) trailing += "1,2,\n";
  CHECK(csv_error(trailing + "3,4\n") == "no error");
  CHECK(csv_error(trailing + "3,4,5\n") ==
        "corrupt at byte 107: line 22 has 3 fields where the others have 2");
  CHECK(csv_error("a,b\r\n1,2\r\n3") ==
        "corrupt at byte 11: line 3 has 1 field where the others have 2");
  CHECK(csv_error("\"two\nlines\",b\n1\n") ==
        "corrupt at byte 15: line 3 has 1 field where the others have 2");
}

TEST_CASE("csv errors: more columns than memory is taken for") {
  std::string line = "1";
  for (std::uint32_t col = 1; col <= (std::uint32_t{1} << 21); ++col) line += ",1";
  CHECK(csv_error("# counts\n" + line + "\n", {{"csv.comment", "#"}}) ==
        "unsupported at byte 9: line 2 has 2097153 fields; a table of more than 2097152 columns is "
        "not read");
}

TEST_CASE("csv errors: blank lines between rows") {
  CHECK(csv_error("1,2\n\n3,4\n") == "corrupt at byte 4: line 2 is blank where line 1 has 2");
  CHECK(csv_error("1\n2\n\r\n\n3\n") ==
        "corrupt at byte 4: line 3 is blank where the others have 1; a missing value of the only "
        "column is NA or \"\"");
  CHECK(csv_error("1,2\n3,4\n \n5,6\n") ==
        "corrupt at byte 9: line 3 has 1 field where the others have 2");
  CHECK(csv_error("\n1,2\n3,4\n") ==
        "corrupt at byte 0: line 1 is blank: it has neither labels nor values");
  CHECK(csv_error("\n1\n", {{"csv.header", "true"}}) ==
        "corrupt at byte 0: line 1 is blank: it has neither labels nor values");
}

TEST_CASE("csv errors: delimiters that may be part of values are refused") {
  for (const char delimiter : std::string("\"\n\r+-./?059aezAEZ")) {
    CAPTURE(delimiter);
    const std::string line = csv_error("1\n", {{"csv.delimiter", std::string(1, delimiter)}});
    CHECK(
        line.find(" cannot be a delimiter: values are made of letters, digits and \" + - . / ?") !=
        line.npos);
  }
  for (const char delimiter : std::string("\t ,;:|!#@[`{~\x80\xff")) {
    CAPTURE(delimiter);
    CHECK(csv_error(std::string("1") + delimiter + "2\n",
                    {{"csv.delimiter", std::string(1, delimiter)}}) == "no error");
  }
}

TEST_CASE("csv errors: an empty file") {
  const std::string expected =
      "corrupt at byte 0: the file is empty: there is neither a label nor a value";
  CHECK(csv_error("") == expected);
  CHECK(csv_error("\xef\xbb\xbf") == expected);
  CHECK(csv_error("\n\r\n\n") == expected);
}

TEST_CASE("csv errors: text that is no number, in a column that is to hold numbers") {
  const auto number_error = [](std::string_view text) {
    return csv_error(text, {{"csv.type", "0=f64"}, {"csv.type", "1=f64"}});
  };
  CHECK(number_error("a,pH\n1,2\n3,x1\n") ==
        "type_mismatch at byte 11: line 3, column 2 ('pH'): 'x1' is not a number");
  CHECK(number_error("1,2\n3,2020-01-31\n") ==
        "type_mismatch at byte 6: line 2, column 2: '2020-01-31' is not a number");
  CHECK(number_error("1,2\n1.2.3,4\n") ==
        "type_mismatch at byte 4: line 2, column 1: '1.2.3' is not a number");
  CHECK(number_error("1;2\n3;4,5\n") ==
        "type_mismatch at byte 6: line 2, column 2: '4,5' is not a number");
  CHECK(number_error("1,2\n3,\"4,5\"\n") ==
        "type_mismatch at byte 6: line 2, column 2: '4,5' is not a number");
  CHECK(number_error("1,2\n3,\"4\n\"\n") ==
        "type_mismatch at byte 6: line 2, column 2: '4\\x0a' is not a number");
  CHECK(number_error("1,2\n3,0x10\n") ==
        "type_mismatch at byte 6: line 2, column 2: '0x10' is not a number");
  CHECK(number_error("1,2\n3,-\n") ==
        "type_mismatch at byte 6: line 2, column 2: '-' is not a number");
  CHECK(number_error("1,2\n3,1e\n") ==
        "type_mismatch at byte 6: line 2, column 2: '1e' is not a number");
  CHECK(csv_error("1,2\n3,4\r5\n") ==
        "corrupt at byte 9: line 3 has 1 field where the others have 2");
  CHECK(csv_error("a\n" + std::string(100, 'z') + "\n", {{"csv.type", "a=f64"}}) ==
        "type_mismatch at byte 2: line 2, column 1 ('a'): '" + std::string(40, 'z') +
            "...' is not a number");
}

TEST_CASE("csv errors: missing values, and how to read them") {
  const auto option = [](std::string_view text) {
    fuzz::MemoryFile file;
    file.set(std::as_bytes(std::span(text)));
    return test::required_error(test::error_of([&] { read_csv(file.path(), {}); })).option();
  };
  CHECK(option("1,2\n1,\n") == "csv.missing_as_nan");
  CHECK(csv_error("1,2\n1,\n") == "unsupported at byte 6: line 2, column 2: the field is empty");
  CHECK(csv_error("1,2\n,3\n") == "unsupported at byte 4: line 2, column 1: the field is empty");
  for (const char* missing : {"NA", "N/A", "?"}) {
    CAPTURE(missing);
    CHECK(csv_error("1,2\n1," + std::string(missing) + "\n") ==
          "unsupported at byte 6: line 2, column 2: '" + std::string(missing) + "' is no value");
    CHECK(csv_error("a,b\n1," + std::string(missing) + "\n") == "no error");  // a frame marks them
  }
  CHECK(csv_error("a,b\n1, \"\"\n", {{"csv.type", "b=f64"}}) ==
        "type_mismatch at byte 6: line 2, column 2 ('b'): ' \"\"' is not a number");
  // An integer has no NaN.
  CHECK(csv_error("a\n?\n", {{"csv.missing_as_nan", "true"}, {"csv.type", "a=i32"}}) ==
        "unsupported at byte 2: line 2, column 1 ('a'): '?' is no value, and i32 has no NaN");
}

TEST_CASE("csv errors: numbers that a type does not hold") {
  const auto given = [](ValueType type) {
    return FormatOptions{{"csv.type", "0=" + std::string(name(type))}};
  };
  CHECK(csv_error("1\n300\n", given(ValueType::u8)) ==
        "type_mismatch at byte 2: line 2, column 1: '300' does not fit u8");
  CHECK(csv_error("1\n-1\n", given(ValueType::u64)) ==
        "type_mismatch at byte 2: line 2, column 1: '-1' does not fit u64");
  CHECK(csv_error("1\n1.0\n", given(ValueType::i64)) ==
        "type_mismatch at byte 2: line 2, column 1: '1.0' does not fit i64");
  CHECK(csv_error("1\n9223372036854775808\n", given(ValueType::i64)) ==
        "type_mismatch at byte 2: line 2, column 1: '9223372036854775808' does not fit i64");
  CHECK(csv_error("a,b\n1,2\n3,1e400\n") ==
        "type_mismatch at byte 10: line 3, column 2 ('b'): '1e400' is out of range for f64");
  CHECK(csv_error("1\n1e40\n", given(ValueType::f32)) ==
        "type_mismatch at byte 2: line 2, column 1: '1e40' is out of range for f32");
}

TEST_CASE("csv errors: quotes that do not close") {
  CHECK(csv_error("1,2\n3,\"4\n") ==
        "corrupt at byte 6: line 2, column 2: no quote closes the field '\"4\\x0a'");
  CHECK(
      csv_error("\"a\"b,c\n1,2\n") ==
      "corrupt at byte 0: line 1, column 1: the delimiter ',' or a line end must follow the quote "
      "that closes a field, not 'b,c\\x0a1,2\\x0a'");
  CHECK(csv_error("a,\"b\n1,2\n") ==
        "corrupt at byte 2: line 1, column 2: no quote closes the field '\"b\\x0a1,2\\x0a'");
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
  CHECK(rows.detail() == "there are 2 rows, but the .meta file says 3");
  const auto cols =
      error(R"({"numRows":2,"numCols":1152921504606846976,"valueType":"f64"})", "1,2\n3,4\n");
  CHECK(cols.detail() == "line 1 has 2 fields, but the .meta file says 1152921504606846976");
  CHECK(error(R"({"numRows":2,"numCols":2,"valueType":"f64"})", "").detail() ==
        "there are 0 rows, but the .meta file says 2");
  const auto header = error(R"({"numRows":1,"numCols":2,"valueType":"f64"})", "a,b\n1,2\n");
  CHECK(header.detail() == "line 1, column 1: 'a' is not a number");
  const auto broken = error("{\"numRows\"", "1,2\n");
  CHECK(broken.file() == path.string() + ".meta");
  CHECK(broken.code() == Errc::corrupt);
}

TEST_CASE("csv errors: a cut or changed file gives an answer or an Error") {
  const std::string whole =
      "\xef\xbb\xbf\"a\"\"x\",b,\"c\nd\"\r\n1,-2.5e3,nan\r\n\"4\", 5 "
      ",-0\r\n18446744073709551615,6.,NA\r\n";
  fuzz::MemoryFile file;
  const auto try_it = [&](const std::string& text) {
    file.set(std::as_bytes(std::span(text)));
    for (const bool missing : {false, true}) {
      test::error_of([&] {
        read_csv(file.path(), {{"csv.missing_as_nan", missing ? "true" : "false"}});
      });
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

TEST_CASE("csv errors: a word that is not UTF-8 is named by line and column") {
  const std::string what = " is not UTF-8; convert the text to UTF-8 first";
  CHECK(csv_error("a,b\n1,caf\xe9\n2,x\n") ==
        "unsupported at byte 6: line 2, column 2 ('b'): '"
        "caf\\xe9'" +
            what);
  CHECK(csv_error("a,b\n1,caf\xc3\xa9\n2,x\n") == "no error");
  // Half a character at the end of a word, and the other half at the start of the next.
  CHECK(csv_error("b\nx\nq\xc3\n\xa9q\n") ==
        "unsupported at byte 4: line 3, column 1 ('b'): 'q\\xc3'" + what);
  CHECK(csv_error("x\n\"a,\"\"\xff\"\n")
            .starts_with("unsupported at byte 2: line 2, column 1 ('x')"));
  // Beyond the first megabyte, where a column of numbers turns into one of words.
  std::string large = "b\n";
  while (large.size() < (2U << 20)) large += "123456\n";
  CHECK(csv_error(large + "\xe9\n").ends_with(what));
}

TEST_CASE("csv errors: text with the byte order mark of another encoding is called that") {
  using namespace std::string_literals;
  const std::string how = "; convert it to UTF-8 first: 'iconv -f ";
  const std::string utf16 =
      "unsupported at byte 0: the text is UTF-16" + how + "UTF-16 -t UTF-8' does that";
  const std::string utf32 =
      "unsupported at byte 0: the text is UTF-32" + how + "UTF-32 -t UTF-8' does that";
  CHECK(csv_error("\xff\xfe"
                  "a\0,\0b\0\n\0"s) == utf16);
  CHECK(csv_error("\xfe\xff\0a\0,\0b\0\n"s) == utf16);
  CHECK(csv_error("\xff\xfe"s) == utf16);
  CHECK(csv_error("\xff\xfe\0\0a\0\0\0"s) == utf32);
  CHECK(csv_error("\0\0\xfe\xff\0\0\0a"s) == utf32);
  CHECK(csv_error("\xef\xbb\xbf"
                  "a,b\n1,2\n") == "no error");
  // Also where the name says little.
  const test::TempDir dir;
  test::write_text(dir / "t.txt",
                   "\xff\xfe"
                   "a\0\t\0b\0\r\0\n\0"s);
  CHECK(test::told(test::required_error(test::error_of([&] { open(dir / "t.txt"); }))) == utf16);
}

TEST_CASE("csv errors: the first of several faults in the text, whatever their columns") {
  const FormatOptions csv{{"csv.type", "a=u8"}, {"csv.type", "c=boolean"}};
  const std::string good = "7,x,true\n";
  CHECK(csv_error("a,b,c\n" + good + "1,x,2\none,x,true\n", csv) ==
        "type_mismatch at byte 19: line 3, column 3 ('c'): '2' is not a boolean");
  CHECK(csv_error("a,b,c\n" + good + "one,x,2\n1,x,true\n", csv) ==
        "type_mismatch at byte 15: line 3, column 1 ('a'): 'one' is not a number");
  // A row of another length, and a quote, before and after what is no value.
  CHECK(csv_error("a,b,c\n" + good + "1,x\none,x,true\n", csv) ==
        "corrupt at byte 18: line 3 has 2 fields where the others have 3");
  CHECK(csv_error("a,b,c\n" + good + "one,x\n", csv) ==
        "type_mismatch at byte 15: line 3, column 1 ('a'): 'one' is not a number");
  CHECK(csv_error("a,b,c\n" + good + "one,\"x\n", csv) ==
        "type_mismatch at byte 15: line 3, column 1 ('a'): 'one' is not a number");
  CHECK(csv_error("a,b,c\n" + good + "1,\"x\"y,2\n", csv) ==
        "corrupt at byte 17: line 3, column 2 ('b'): the delimiter ',' or a line end must follow "
        "the quote that closes a field, not 'y,2\\x0a'");
}

TEST_CASE("csv errors: many rows and comments before a fault are counted") {
  const FormatOptions csv{{"csv.type", "b=i64"}, {"csv.comment", "#"}};
  std::string text = "a,b\n";
  for (int row = 0; row < 20'000; ++row) {
    text += "word,\"1\"\n";
    if (row % 1000 == 0) text += "# 1,2,3\n";
  }
  CHECK(csv_error(text, csv) == "no error");
  CHECK(csv_error(text + "word,1.5\nword\n", csv) ==
        "type_mismatch at byte 180169: line 20022, column 2 ('b'): '1.5' does not fit i64");
  CHECK(csv_error(text + "word,1\nword\nword,1.5\n", csv) ==
        "corrupt at byte 180175: line 20023 has 1 field where the others have 2");
}
