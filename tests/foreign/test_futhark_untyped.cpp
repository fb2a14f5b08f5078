// Futhark text as `futhark dataset` reads it.

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/futhark_values.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("futhark untyped: the text says the type") {
  const TempDir dir;
  const auto type = [&](std::string_view text) { return matrix_of(dir, text).contents()[0]; };
  CHECK(type("1") == "i32");
  CHECK(type("1.0") == "f64");
  CHECK(type("1e5") == "f64");
  CHECK(type("1f16") == "f16");
  CHECK(type("1u64") == "u64");
  CHECK(type("0b101i8") == "i8");
  CHECK(type("false") == "bool");
  CHECK(type("-f32.inf") == "f32");
  CHECK(type("[1f32, 2]") == "[2]f32");
  CHECK(type("[[1i8, 2], [3i8, 4]]") == "[2][2]i8");
  CHECK(type("[1,]") == "[1]i32");
  CHECK(type("\"text\"") == "[4]u8");
  CHECK(type("[\"ab\", [97u8, 98]]") == "[2][2]u8");
  CHECK(type("[empty([0]f32), empty([0]f32)]") == "[2][0]f32");
  CHECK(type("empty([0x2][0]bool)") == "[2][0]bool");
}

TEST_CASE("futhark untyped: the values of numbers") {
  const TempDir dir;
  const auto i32 = [&](std::string_view text) { return value_of<std::int32_t>(dir, text); };
  CHECK(i32("010") == 10);
  CHECK(i32("-0x1_F") == -31);
  CHECK(i32("+0b1_01") == 5);
  CHECK(i32("1_000_") == 1000);
  CHECK(i32("2147483648") == std::numeric_limits<std::int32_t>::min());
  CHECK(i32("0x1f32") == 0x1f32);
  CHECK(value_of<std::uint8_t>(dir, "-1u8") == 255);
  CHECK(value_of<std::int64_t>(dir, "99999999999999999999999i64") ==
        200376420520689663);  // modulo 2^64
  CHECK(value_of<double>(dir, "1_0.2_5e-0_1") == 1.025);
  CHECK(value_of<double>(dir, "1.5E3") == 1500);
  CHECK(value_of<double>(dir, "1e400") == kInf);
  CHECK(bits_of(value_of<double>(dir, "-0f64")) == bits_of(-0.0));
  CHECK(bits_of(value_of<float>(dir, "f32.nan")) == 0x7FC00000);
  // By way of a double, which is in the middle of two floats.
  CHECK(value_of<float>(dir, "7.038531e-26f32") == std::nextafter(7.038531e-26F, 1.0F));
  CHECK(value_of<float>(dir, "65519.99f16") == 65504);
  CHECK(value_of<float>(dir, "65520f16") == kInfF);
  CHECK(value_of<float>(dir, "2.9802326e-8f16") == 0x1p-24F);
  // As a float it is 2^-25, a tie, and goes to even.
  CHECK(value_of<float>(dir, "2.9802323e-8f16") == 0);
  CHECK(value_of<float>(dir, "1.00048828125f16") == 1);             // a tie, to even
  CHECK(value_of<float>(dir, "1.00146484375f16") == 1.001953125F);  // a tie, to even
  // Above that tie as a double, on it as a float.
  CHECK(value_of<float>(dir, "1.000488281251f16") == 1);
  CHECK(value_of<float>(dir, "1.0004884f16") == 1.0009765625F);
  CHECK(bits_of(value_of<float>(dir, "-0f16")) == 0);
  CHECK(cells_of<std::uint8_t>(dir, R"("a\n\x41\o101\66\SOH\SO\&1\DEL\^A\"\8364\&")") ==
        std::vector<std::uint8_t>{'a', '\n', 'A', 'A', 'B', 1, 14, '1', 127, 1, '"', 0xE2, 0x82,
                                  0xAC});
  // Ten bytes are looked at for a character, so the tenth digit is another.
  CHECK(cells_of<std::uint8_t>(dir, R"("\000000233\0000000233\x00000041\x000000041")") ==
        std::vector<std::uint8_t>{0xC3, 0xA9, 23, '3', 'A', 4, '1'});
  CHECK(cells_of<std::uint8_t>(dir, "\"\xC3\xA9\"") ==
        std::vector<std::uint8_t>{0xC3, 0x83, 0xC2, 0xA9});  // bytes are taken for Latin-1
}

TEST_CASE("futhark untyped: values end where they cannot go on") {
  const TempDir dir;
  const FormatOptions first{{"futhark.first", "true"}};
  const auto types = [&](std::string_view text) { return matrix_of(dir, text, first).contents(); };
  using Types = std::vector<std::string>;
  CHECK(types("12true[1]\"a\"") == Types{"i32", "bool", "[1]i32", "[1]u8"});
  CHECK(types("1-2") == Types{"i32", "i32"});
  CHECK(types("1--2") == Types{"i32"});
  CHECK(types("1i32 2u8") == Types{"i32", "u8"});
  CHECK(types("5" + binary_value<std::int8_t>("  i8", {}, {1}) + "6") == Types{"i32", "i8", "i32"});
}

TEST_CASE("futhark untyped: what is not a value is refused, with its byte and line") {
  const TempDir dir;
  struct Refused {
    std::string_view text, line;
  };
  const Refused cases[] = {
      {"", "corrupt at byte 0: the file ends where a Futhark value should be, in line 1"},
      {"1E5", "corrupt at byte 1: 'E5' where a value should be, in line 1"},
      {"1.", "corrupt at byte 1: '.' where a value should be, in line 1"},
      {".5", "corrupt at byte 0: '.5' where a value should be, in line 1"},
      {"0X10", "corrupt at byte 1: 'X10' where a value should be, in line 1"},
      {"nan", "corrupt at byte 0: 'nan' where a value should be, in line 1"},
      {"0x1.8p3", "corrupt at byte 1: 'x1.8p3' where a value should be, in line 1"},
      {"[]", "corrupt at byte 1: ']' where an element should be, in line 1"},
      {"[1,,2]", "corrupt at byte 3: ',' where an element of type i32 should be, in line 1"},
      {"[1, 2f32]", "corrupt at byte 5: 'f32' where ',' or ']' should be, in line 1"},
      {"[1, 2.0]", "corrupt at byte 5: '.0' where ',' or ']' should be, in line 1"},
      {"[1, true]", "corrupt at byte 4: 'true' where an element of type i32 should be, in line 1"},
      {"[[1], [2f32]]",
       "corrupt at byte 7: the element is a f32, those before it are i32, in line 1"},
      {"[[1],\n [2, 3]]",
       "corrupt at byte 12: this row has 2 elements, the array's first 1, in line 2"},
      {"[[1], 2]",
       "corrupt at byte 6: the element is inside 1 bracket, those before it inside 2, in line 1"},
      {"[1, [2]]", "corrupt at byte 4: '[' where an element of type i32 should be, in line 1"},
      {"[1", "corrupt at byte 2: the file ends where ',' or ']' should be, in line 1"},
      {"[1]]", "corrupt at byte 3: ']' where a value should be, in line 1"},
      {"empty([1]i32)",
       "corrupt at byte 0: 'empty' where an empty array with a dimension of 0 should be, in line "
       "1"},
      {"empty( [0]i32)",
       "corrupt at byte 6: ' ' where '[' or an element type should be, in line 1"},
      {"empty([-1][0]i32)",
       "corrupt at byte 7: '-1' where a dimension from 0 to 2^63 - 1 should be, in line 1"},
      {"[empty([0]i32), [1]]",
       "corrupt at byte 18: this row has 1 element, the array's first 0, in line 1"},
      {"\"abc",
       "corrupt at byte 4: the file ends where a character of a string should be, in line 1"},
      {"\"\\q\"", "corrupt at byte 1: '\\' where a character of a string should be, in line 1"},
      {"\"a\x9F\"",
       "corrupt at byte 2: '\\x9f' where a character of a string should be, in line 1"},
      {"\xC3", "corrupt at byte 0: '\\xc3' where a value should be, in line 1"},
      {"b\x02",
       "corrupt at byte 2: 1 byte of the rank of a binary value is needed here, but nothing is "
       "left"},
  };
  for (const Refused& refused : cases) {
    CAPTURE(refused.text);
    CHECK(complaint(dir, refused.text) == refused.line);
  }
}

TEST_CASE("futhark: white space and comments may stand between all parts") {
  const TempDir dir;
  const std::string text = " -- first [\n\t[ -- x\r\n 1 -- y ]\n,\v2\f]--no line end";
  CHECK(cells_of<std::int32_t>(dir, text) == std::vector<std::int32_t>{1, 2});
  CHECK(cells_of<std::int32_t>(dir, text, typed("[]i32")) == std::vector<std::int32_t>{1, 2});
  CHECK(cells_of<std::int32_t>(dir, "\xA0[1,\xA0 2]") == std::vector<std::int32_t>{1, 2});
}
