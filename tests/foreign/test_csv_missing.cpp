// Missing values of delimited text: in columns of large integers, and those that the caller names.

#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// The text that a frame is written as.
std::string rewritten(const TempDir& dir, const std::variant<Matrix, Frame>& frame) {
  ConvertOptions again;
  again.write.overwrite = true;
  convert(frame, {}, dir / "out.dbdf", again);
  convert(open(dir / "out.dbdf"), {}, dir / "out.csv", again);
  return read_text(dir / "out.csv");
}

std::optional<std::uint64_t> mark(const std::variant<Matrix, Frame>& frame) {
  return std::get<Frame>(frame).column_info(0).meaning.missing;
}

}  // namespace

TEST_CASE("csv: integers that f64 would round are kept beside missing cells") {
  CsvText csv;
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  const struct {
    std::string fields, type;
    std::uint64_t mark;
  } columns[] = {
      {"9007199254740993\nNA\n-7\n", "frame i64", kHalf},
      {"9007199254740993\nNA\n-9223372036854775808\n", "frame i64", kHalf - 1},
      {"9007199254740993\nNA\n9223372036854775807\n", "frame i64", kHalf},
      {"9223372036854775809\nNA\n5\n", "frame u64", ~std::uint64_t{0}},
      {"18446744073709551615\nNA\n0\n", "frame u64", kHalf},
      {"9007199254740992\nNA\n5\n", "frame f64", kMissingF64},
      {"9007199254740993\nNA\n0.5\n", "frame f64", kMissingF64},
  };
  for (const auto& [fields_, type, missing] : columns) {
    const auto& fields = fields_;  // clang 14 captures no bindings
    CAPTURE(fields);
    const auto frame = csv.open("id\n" + fields);
    CHECK(types_of(frame) == type);
    CHECK(mark(frame) == missing);
    if (type != "frame f64") CHECK(rewritten(csv.dir(), frame) == "id\n" + fields);
  }
  const auto frame = csv.open("id,n\n\" 9007199254740993\",1\n\"\",2\n +5 ,3\n");
  CHECK(types_of(frame) == "frame i64 i64");
  CHECK(rewritten(csv.dir(), frame) == "id,n\n9007199254740993,1\n,2\n5,3\n");
}

TEST_CASE("csv: missing cells stay missing where integers become floats after the first megabyte") {
  CsvText csv;
  std::string text = "n,word\n9007199254740993,a\n";  // integers that f64 rounds, and missing ones
  for (int row = 0; row < 1200; ++row) text += "," + std::string(1000, 'w') + "\n";
  for (const char* const last : {"0.5", "-0"}) {
    const auto object = csv.open(text + last + ",b\n,c\n");
    CHECK(types_of(object).starts_with("frame f64 "));
    CHECK(mark(object) == kMissingF64);
    const Frame& frame = std::get<Frame>(object);
    std::vector<std::uint8_t> wanted(1203, 0);
    wanted[0] = wanted[1201] = 1;
    CHECK(frame.read_valid(0, {0, 1203}) == wanted);
    CHECK(frame.read_column<double>(0, {0, 1}) == std::vector<double>{9007199254740992});
  }
  for (const char* const last : {"1e400", "18446744073709551616"}) {
    const auto error = error_of([&] { csv.open(text + last + ",b\n"); });
    CHECK(required_error(error).code() == Errc::type_mismatch);
  }
}

TEST_CASE("csv: columns that are given a type of integers take missing cells") {
  CsvText csv;
  const struct {
    ValueType type;
    std::string least, greatest;
    std::uint64_t mark;
  } types[] = {
      {ValueType::i8, "-127", "127", 0x80},
      {ValueType::u8, "0", "254", 0xff},
      {ValueType::i16, "-32767", "32767", 0x8000},
      {ValueType::u16, "0", "65534", 0xffff},
      {ValueType::i32, "-2147483647", "2147483647", 0x80000000},
      {ValueType::u32, "0", "4294967294", 0xffffffff},
      {ValueType::i64, "-9223372036854775807", "9223372036854775807", std::uint64_t{1} << 63},
      {ValueType::u64, "0", "18446744073709551614", ~std::uint64_t{0}},
  };
  for (const auto& [type_, least, greatest, missing] : types) {
    const auto& type = type_;  // clang 14 captures no bindings
    CAPTURE(name(type));
    const FormatOptions options{{"csv.type", "id=" + std::string(name(type))}};
    const std::string rest = ",1\nNA,2\n\"\",3\n";
    const auto frame = csv.open("id,n\n" + least + rest + greatest + ",4\n", options);
    CHECK(types_of(frame) == "frame " + std::string(name(type)) + " i64");
    CHECK(mark(frame) == missing);
    CHECK(rewritten(csv.dir(), frame) == "id,n\n" + least + ",1\n,2\n,3\n" + greatest + ",4\n");
    CHECK_FALSE(mark(csv.open("id\n" + least + "\n", options)));
  }
}

TEST_CASE("csv: columns that are given a type of floats take missing cells as inferred ones do") {
  CsvText csv;
  const std::string text = "x,y\n0.5,1\nNA,2\n\"\",3\nnan,4\n";
  const auto bits_of = [](const std::variant<Matrix, Frame>& frame, auto zero) {
    std::vector<std::uint64_t> bits;
    for (const auto x : std::get<Frame>(frame).read_column<decltype(zero)>(0, {0, 4})) {
      bits.push_back(std::bit_cast<detail::BitsOf<decltype(zero)>>(x));
    }
    return bits;
  };
  const auto inferred = csv.open(text);
  CHECK(mark(inferred) == kMissingF64);
  for (const std::string key : {"x", "*"}) {
    CAPTURE(key);
    const auto f64 = csv.open(text, {{"csv.type", key + "=f64"}});
    CHECK(mark(f64) == kMissingF64);
    CHECK(bits_of(f64, 0.0) == bits_of(inferred, 0.0));
    const auto f32 = csv.open(text, {{"csv.type", key + "=f32"}});
    CHECK(mark(f32) == kMissingF32);
    CHECK(bits_of(f32, 0.0F) ==
          std::vector<std::uint64_t>{0x3f000000, kMissingF32, kMissingF32, 0x7fc00000});
    CHECK(rewritten(csv.dir(), f32) == "x,y\n0.5,1\n,2\n,3\nnan,4\n");
  }
  CHECK_FALSE(mark(csv.open("x\nnan\n", {{"csv.type", "x=f64"}})));
  const FormatOptions numbers{{"csv.missing_word", "-999"}, {"csv.type", "x=f32"}};
  CHECK(rewritten(csv.dir(), csv.open("x,y\n-999,1\n-1,2\n", numbers)) == "x,y\n,1\n-1,2\n");
  const FormatOptions plain{{"csv.missing_as_nan", "true"}, {"csv.type", "x=f32"}};
  CHECK_FALSE(mark(csv.open(text, plain)));
  CHECK(bits_of(csv.open(text, plain), 0.0F)[1] == 0x7fc00000);
  const auto matrix = error_of([&] { csv.open("1,2\n,3\n", {{"csv.type", "0=f64"}}); });
  CHECK(required_error(matrix).code() == Errc::unsupported);
}

TEST_CASE("csv: rows with missing floats are appended to others of the same type") {
  CsvText csv;
  const auto all = csv.dir() / "all.dbdf";
  for (const ValueType type : {ValueType::f32, ValueType::f64}) {
    const FormatOptions options{{"csv.type", "x=" + std::string(name(type))}};
    ConvertOptions again;
    again.write.overwrite = true;
    convert(csv.open("x,y\n0.5,1\n,2\n", options), {}, all, again);
    append(all, csv.open("x,y\nNA,3\n4,4\n", options), {});
    append(all, csv.open("x,y\n5,5\n", options), {});
    CHECK(std::get<Frame>(open(all)).column_info(0).value_type == type);
    CHECK(rewritten(csv.dir(), open(all)) == "x,y\n0.5,1\n,2\n,3\n4,4\n5,5\n");
  }
}

TEST_CASE(
    "csv: a column that is given a type of integers does not hold the mark of its missing cells") {
  CsvText csv;
  const auto detail = [&](const std::string& field, ValueType type) {
    const Error error = required_error(error_of([&] {
      csv.open("id,n\n,1\n" + field + ",2\n", {{"csv.type", "id=" + std::string(name(type))}});
    }));
    CHECK(error.code() == Errc::type_mismatch);
    return error.detail();
  };
  CHECK(detail("-9223372036854775808", ValueType::i64) ==
        "line 3, column 1 ('id'): '-9223372036854775808' is what marks a missing cell in a column "
        "of i64");
  CHECK(detail("255", ValueType::u8) ==
        "line 3, column 1 ('id'): '255' is what marks a missing cell in a column of u8");
  CHECK(detail("256", ValueType::u8) == "line 3, column 1 ('id'): '256' does not fit u8");
  const auto whole = csv.open("id,n\n255,1\n", {{"csv.type", "id=u8"}});
  CHECK(cells_of(whole)[0] == 255);
  const auto matrix = error_of([&] { csv.open("1,2\n,3\n", {{"csv.type", "0=i64"}}); });
  CHECK(required_error(matrix).code() == Errc::unsupported);
}

TEST_CASE("csv: rows with missing integers are appended to others of the same type") {
  CsvText csv;
  convert(csv.open("id,n\n9007199254740993,1\n,2\n"), {}, csv.dir() / "all.dbdf");
  append(csv.dir() / "all.dbdf", csv.open("id,n\n1,3\n,4\n", {{"csv.type", "id=i64"}}), {});
  convert(open(csv.dir() / "all.dbdf"), {}, csv.dir() / "all.csv");
  CHECK(read_text(csv.dir() / "all.csv") == "id,n\n9007199254740993,1\n,2\n1,3\n,4\n");
}

TEST_CASE("csv: a note names the first integer that is rounded, and why") {
  CsvText csv;
  const auto note = [&](const std::string& text, const FormatOptions& options = {}) {
    const auto object = csv.open(text, options);
    return std::visit([](const auto& o) { return o.note(); }, object);
  };
  const std::string why =
      "'9007199254740993' is rounded to f64, because the column has numbers that are no integers, "
      "such as 0.5 or -0; as text it keeps its digits";
  CHECK(note("a,b\n-0,1\n9007199254740993,2\n") == "line 3, column 1 ('a'): " + why);
  CHECK(note("a,b\n1,9007199254740993\n9007199254740993,0.5\n1.5,2\n") ==
        "line 3, column 1 ('a'): " + why + " (so are integers of 1 more column)");
  CHECK(note("1,0.5\n2,9007199254740993\n") == "line 2, column 2: " + why);
  const FormatOptions as_nan{{"csv.missing_as_nan", "true"}};
  CHECK(note("a,b\n,1\n9007199254740993,2\n", as_nan) ==
        "line 3, column 1 ('a'): '9007199254740993' is rounded to f64, because the column has "
        "missing values that are read as NaN; as text it keeps its digits");
  CHECK(note("a,b\n,1\n9007199254740993,2\n0.5,3\n", as_nan) == "line 3, column 1 ('a'): " + why);
  CHECK(note("a\n0.5\n9007199254740992\n").empty());
  CHECK(note("a\n9007199254740993\n5\n").empty());
  CHECK(note("a,w\n0.5,x\n1,9007199254740993\n").empty());
  CHECK(note("a\n0.5\n9007199254740993\n", {{"csv.type", "a=f64"}}).empty());
}

TEST_CASE("csv: integers that f64 would round are refused where nothing can mark missing cells") {
  CsvText csv;
  for (const std::string rest :
       {"-9223372036854775808\n9223372036854775807\n", "18446744073709551615\n-1\n",
        "18446744073709551616\n", "18446744073709551615\n9223372036854775808\n"}) {
    CAPTURE(rest);
    const auto error = error_of([&] { csv.open("id\n9007199254740993\nNA\n" + rest); });
    CHECK(required_error(error).code() == Errc::type_mismatch);
  }
}

TEST_CASE("csv: words that the caller calls missing are missing in every column") {
  CsvText csv;
  const FormatOptions options{{"csv.missing_word", " NULL"},
                              {"csv.missing_word", "-999"},
                              {"csv.missing_word", "not known"}};
  const std::string text =
      "n,who,when,big,x\n1,Ann,2024-01-01,9007199254740993,0.5\nNULL, not known,NULL,-999, -999\n"
      "-999,\"NULL\",2024-01-02,NULL,-999.0\n";
  const auto frame = csv.open(text, options);
  CHECK(types_of(frame) == "frame f64 u8 i64 i64 f64");
  CHECK(rewritten(csv.dir(), frame) ==
        "n,who,when,big,x\n1,Ann,2024-01-01,9007199254740993,0.5\n,,,,\n"
        ",NULL,2024-01-02,,-999\n");
  CHECK(types_of(csv.open("n\n\"-999\"\n4\n", options)) == "frame f64");
}

TEST_CASE("csv: what the caller calls missing is told from numbers and labels") {
  CsvText csv;
  FormatOptions options{{"csv.missing_word", "NULL"}, {"csv.missing_word", "-999"}};
  const auto error = error_of([&] { csv.open("1,2\n-999,3\n", options); });
  CHECK(required_error(error).detail() == "line 2, column 1: '-999' is no value");
  options.emplace("csv.missing_as_nan", "true");
  const auto matrix = csv.open("NULL,2\n-999,3\n", options);
  CHECK(types_of(matrix) == "matrix f64 f64");
  CHECK(std::isnan(cells_of(matrix)[2]));
  CHECK(cells_of(matrix)[3] == 3);
}

TEST_CASE("csv: a sidecar remembers what was called missing") {
  CsvText csv;
  OpenOptions options;
  options.format_options = {{"csv.missing_word", "NULL"}};
  csv.open("n,id\n1,9007199254740993\nNULL,NA\n", options.format_options);
  write_sidecar(csv.dir() / "t.csv", options);
  const auto origin = [&](const FormatOptions& given) {
    OpenOptions now;
    now.format_options = given;
    return std::visit([](const auto& o) { return o.index_origin(); },
                      open(csv.dir() / "t.csv", now));
  };
  CHECK(origin(options.format_options) == IndexOrigin::sidecar);
  CHECK(origin({}) == IndexOrigin::scanned);
  CHECK(origin({{"csv.missing_word", "NUL"}}) == IndexOrigin::scanned);
  CHECK(origin({{"csv.missing_word", "NULL"}, {"csv.skip", "0"}}) == IndexOrigin::sidecar);
  CHECK(origin({{"csv.missing_word", "NULL"},
                {"csv.missing_as_nan", "true"},
                {"csv.missing_as_nan", "false"}}) == IndexOrigin::sidecar);
  const auto saved = open(csv.dir() / "t.csv", options);
  CHECK(types_of(saved) == "frame f64 i64");
  CHECK(rewritten(csv.dir(), saved) == "n,id\n1,9007199254740993\n,\n");
}
