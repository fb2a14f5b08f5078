// The values of delimited text: which type they get, and that none is changed unasked.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;

namespace {

using Cells = std::vector<double>;

}  // namespace

TEST_CASE("csv: integers become i64, u64 where only that holds them, else f64") {
  test::CsvText csv;
  CHECK(test::types_of(csv.open("a\n9223372036854775807\n-9223372036854775808\n")) == "frame i64");
  CHECK(test::types_of(csv.open("a\n9223372036854775808\n1\n")) == "frame u64");
  CHECK(test::types_of(csv.open("a\n18446744073709551615\n")) == "frame u64");
  CHECK(test::types_of(csv.open("a\n18446744073709551616\n")) == "frame f64");
  CHECK(test::types_of(csv.open("a\n9223372036854775808\n-1\n")) == "frame f64");
  CHECK(test::types_of(csv.open("a\n-9223372036854777856\n")) == "frame f64");
  CHECK(test::types_of(csv.open("1\n000000000000000000000000012\n")) == "matrix i64");
  CHECK(test::types_of(csv.open("a,b\n18446744073709551615,1.5\n")) == "frame u64 f64");
  CHECK(test::types_of(csv.open("18446744073709551615,1\n")) == "matrix u64 u64");
  CHECK(test::types_of(csv.open("18446744073709551616,1\n")) == "matrix f64 f64");
  const auto big = csv.open("18446744073709551615\n");
  CHECK(std::get<Matrix>(big).read<std::uint64_t>({{0, 1}, {0, 1}})[0] == ~std::uint64_t{0});
}

TEST_CASE(
    "csv: a matrix may have columns that only u64 holds beside others that are not negative") {
  test::CsvText csv;
  const auto object =
      csv.open("1,18446744073709551615,0\n9223372036854775807,2,18446744073709551614\n");
  CHECK(test::types_of(object) == "matrix u64 u64 u64");
  const auto& matrix = std::get<Matrix>(object);
  CHECK(matrix.read<std::uint64_t>({{0, 2}, {0, 3}}) ==
        std::vector<std::uint64_t>{1, 18446744073709551615U, 0, 9223372036854775807U, 2,
                                   18446744073709551614U});
}

TEST_CASE("csv: minus zero, nan and infinities are floats") {
  test::CsvText csv;
  const auto frame = csv.open("a,b,c,d\n-0,nan,inf,-Infinity\n1,2,3,4\n");
  CHECK(test::types_of(frame) == "frame f64 f64 f64 f64");
  const Cells all = test::cells_of(frame);
  CHECK(std::signbit(all[0]));
  CHECK(std::isnan(all[1]));
  CHECK(all[2] == std::numeric_limits<double>::infinity());
  CHECK(all[3] == -std::numeric_limits<double>::infinity());
}

TEST_CASE("csv: an integer that f64 cannot hold is not rounded for its neighbours' sake") {
  test::CsvText csv;
  CHECK(test::types_of(csv.open("9007199254740992,0.5\n")) == "matrix f64 f64");
  CHECK(test::types_of(csv.open("18014398509481984,0.5\n")) == "matrix f64 f64");
  const auto error = error_of([&] { csv.open("9007199254740993,0.5\n"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::type_mismatch);
  CHECK(error->offset() == 0);
  CHECK(
      error->detail() ==
      "line 1, column 1: '9007199254740993' is not exact as f64, the type of the other columns; a "
      "header line makes it a frame, the type '0=f64' rounds it");
  CHECK(error_of([&] { csv.open("-1,18446744073709551615\n"); })->code() == Errc::type_mismatch);
  // Of those beyond 2^53 f64 holds some, and writers of f64 print them so.
  CHECK(test::types_of(csv.open("1152921504606846976,0.5\n")) == "matrix f64 f64");
  CHECK(test::types_of(csv.open("9223372036854775808,1\n-9223372036854775808,2\n")) ==
        "matrix f64 f64");
  CHECK(test::types_of(csv.open("9007199254740993,0.5\n", {{"csv.type", "0=f64"}})) ==
        "matrix f64 f64");
  CHECK(test::types_of(csv.open("a,b\n9007199254740993,0.5\n")) == "frame i64 f64");
}

TEST_CASE("csv: integers of more than 64 bits are not rounded unasked") {
  test::CsvText csv;
  // 10^22 is the largest power of ten that f64 holds.
  CHECK(test::cells_of(csv.open("a,b\n1,10000000000000000000000\n")) == Cells{1, 1e22});
  CHECK(test::types_of(csv.open("a\n-9223372036854775809\n0.5\n")) == "frame f64");
  const auto error = error_of([&] { csv.open("a,b\n1,2\n3, 100000000000000000000000 \n"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::type_mismatch);
  CHECK(error->offset() == 11);
  CHECK(
      error->detail() ==
      "line 3, column 2 ('b'): '100000000000000000000000' is not exact as f64, and neither i64 nor "
      "u64 holds all of the column; the type 'b=f64' rounds it");
  const FormatOptions rounded{{"csv.type", "b=f64"}};
  CHECK(test::cells_of(csv.open("b\n100000000000000000000000\n", rounded)) == Cells{1e23});
  // The hint says what can be typed: a number for other labels, nothing where that is a label.
  const auto hint = [&](const std::string& labels) {
    const auto found = error_of([&] { csv.open(labels + "\n1,100000000000000000000000\n"); });
    REQUIRE(found);
    const std::string detail = found->detail();
    const std::size_t at = detail.find("; the type");
    return at == std::string::npos ? "" : detail.substr(at + 2);
  };
  CHECK(hint("a,gr\xc3\xb6\xc3\x9f") == "the type '1=f64' rounds it");
  CHECK(hint("a,a") == "the type '1=f64' rounds it");
  CHECK(hint("a," + std::string(33, 'b')) == "the type '1=f64' rounds it");
  CHECK(hint("\"1\",") == "");
  CHECK(error_of([&] { csv.open("a\n1" + std::string(400, '0') + "1\n"); })
            ->detail()
            .find("rounds") == std::string::npos);
  CHECK(error_of([&] { csv.open("a\n-1\n18446744073709551615\n"); })->offset() == 5);
  CHECK(error_of([&] { csv.open("a\n-9223372036854775809\n"); })->offset() == 2);
}

TEST_CASE("csv: types can be given by label and by number") {
  test::CsvText csv;
  const auto frame = csv.open("a,b,c\n1,2,3\n", {{"csv.type", "a=u8"}, {"csv.type", "1=f32"}});
  CHECK(test::types_of(frame) == "frame u8 f32 i64");
  CHECK(test::cells_of(frame) == Cells{1, 2, 3});
  // A label is looked for first.
  CHECK(test::types_of(csv.open("1,x\n5,6\n", {{"csv.type", "1=i8"}})) == "frame i8 i64");
  const FormatOptions all{{"csv.type", "0=i16"}, {"csv.type", "1=i16"}};
  CHECK(test::types_of(csv.open("1,2\n", all)) == "matrix i16 i16");
  CHECK(test::types_of(csv.open("1,2\n", {{"csv.type", "0=i16"}})) == "matrix i64 i64");
  CHECK(test::types_of(csv.open("0.5,2\n", {{"csv.type", "0=f32"}})) == "matrix f64 f64");
  // What a given type does not hold is an error, and what it rounds is rounded, though all columns
  // together have a wider one.
  const auto rounded = csv.open("0.1,2.5\n", {{"csv.type", "0=f32"}});
  CHECK(test::types_of(rounded) == "matrix f64 f64");
  CHECK(test::cells_of(rounded) == Cells{static_cast<double>(0.1F), 2.5});
  const auto narrow = csv.open("255,1\n30,-2\n", {{"csv.type", "0=u8"}});
  CHECK(test::types_of(narrow) == "matrix i64 i64");
  CHECK(std::get<Matrix>(narrow).read<std::int64_t>({{0, 2}, {1, 2}}) ==
        std::vector<std::int64_t>{1, -2});
  const auto beyond = error_of([&] { csv.open("255,1\n300,-2\n", {{"csv.type", "0=u8"}}); });
  REQUIRE(beyond);
  CHECK(beyond->code() == Errc::type_mismatch);
  CHECK(beyond->detail() == "line 2, column 1: '300' does not fit u8");
  const auto error = error_of([&] { csv.open("a\n1\n", {{"csv.type", "b=i8"}}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  CHECK(error->detail() ==
        "there is no column 'b' to give a type to: use a label or a number below 1");
}

TEST_CASE("csv: f32 is read from the text, not by way of f64") {
  test::CsvText csv;
  // Just above the middle between two floats, by less than a double shows.
  const std::string text = "1.00000005960464477540";
  const auto frame = csv.open("a\n" + text + "\n", {{"csv.type", "a=f32"}});
  CHECK(std::get<Frame>(frame).read_column<float>(0, {0, 1})[0] ==
        std::strtof(text.c_str(), nullptr));
}

TEST_CASE("csv: missing values are NaN where that is asked for") {
  test::CsvText csv;
  const auto frame = csv.open("a,b,c\n1,NA,\n,N/A,?\n\"\",2, \n", {{"csv.missing_as_nan", "true"}});
  CHECK(test::types_of(frame) == "frame f64 f64 f64");
  const Cells all = test::cells_of(frame);
  const std::vector<bool> missing = {false, true, true, true, true, true, true, false, true};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(std::isnan(all[i]) == missing[i]);
    if (missing[i]) CHECK(std::bit_cast<std::uint64_t>(all[i]) == 0x7ff8000000000000u);
  }
  const auto narrow = csv.open("a\nNA\n", {{"csv.missing_as_nan", "true"}, {"csv.type", "a=f32"}});
  CHECK(test::types_of(narrow) == "frame f32");
  CHECK(std::isnan(test::cells_of(narrow)[0]));
}

TEST_CASE("csv: integers and floats of any number of digits are what the C library reads") {
  test::Rng rng(42);
  const auto digits = [&](std::uint64_t n) {
    std::string text;
    for (; n > 0; --n) text += static_cast<char>('1' + rng.below(9));
    return text;
  };
  std::string text = "i,f\n";
  std::vector<std::int64_t> integers;
  std::vector<double> floats;
  for (int row = 0; row < 5000; ++row) {
    const std::string sign = rng.chance(30) ? "-" : "";
    const std::string integer = sign + digits(1 + rng.below(18));
    const std::string real = sign + digits(rng.below(10)) + "." + digits(1 + rng.below(20)) +
                             (rng.chance(5) ? "e-" + digits(2) : "");
    text += integer + "," + real + "\n";
    integers.push_back(std::stoll(integer));
    floats.push_back(std::strtod(real.c_str(), nullptr));
  }
  test::CsvText csv;
  const Frame frame = std::get<Frame>(csv.open(text));
  CHECK(frame.read_column<std::int64_t>(0, {0, 5000}) == integers);
  CHECK(frame.read_column<double>(1, {0, 5000}) == floats);
}
