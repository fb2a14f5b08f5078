// Futhark text as compiled programs read it. The oracle for numbers is what they use: scanf.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
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

/// What a compiled program makes of one token.
template <class T>
std::optional<T> scanned(std::string token, const std::string& type) {
  token = token.substr(0, 99);
  std::erase(token, '_');
  int used = 0;
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    if (token == type + ".nan") return std::numeric_limits<T>::quiet_NaN();
    if (token == type + ".inf") return std::numeric_limits<T>::infinity();
    if (token == "-" + type + ".inf") return -std::numeric_limits<T>::infinity();
    const char* format = sizeof(T) == 4 ? "%f%n" : "%lf%n";
    if (std::sscanf(token.c_str(), format, &value, &used) != 1) return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (std::sscanf(token.c_str(), "%" SCNu64 "%n", &value, &used) != 1) return std::nullopt;
  } else {
    std::int64_t wide = 0;
    if (std::sscanf(token.c_str(), "%" SCNi64 "%n", &wide, &used) != 1) return std::nullopt;
    value = static_cast<T>(wide);
  }
  const std::string rest = token.substr(static_cast<std::size_t>(used));
  if (!rest.empty() && rest != type) return std::nullopt;
  return value;
}

/// Tokens are made of these.
constexpr std::string_view kParts =
    "0 1 7 9 12 255 65535 2147483648 9223372036854775807 08 0x 0X a F _ - + i8 u64 b i32 00 "
    "99999999999999999999";
constexpr std::string_view kRealParts =
    "0 1 9 12.5 . .5 e E e5 e-7 e+12 _ - + 0x 0x1.8 p3 p- nan inf INFINITY f32 f64 f32.nan "
    "-f64.inf 123456789 1e400 1e-400 3.4028236e38 7.038531e-26";

std::vector<std::string> words_of(std::string_view list) {
  std::istringstream in{std::string(list)};
  return {std::istream_iterator<std::string>(in), {}};
}

std::string random_token(Rng& random, const std::vector<std::string>& parts) {
  std::string token;
  for (std::uint64_t n = random.between(1, 4); n > 0; --n) {
    token += parts[random.below(parts.size())];
  }
  if (random.chance(3)) token.insert(0, random.between(80, 110), '0');
  return token;
}

/// Random tokens, each compared with what scanf makes of it, as elements of one vector.
template <Value T>
void compare_with_scanf(const std::string& type, std::uint64_t seed) {
  const TempDir dir;
  Rng random(seed);
  const auto parts = words_of(std::is_floating_point_v<T> ? kRealParts : kParts);
  std::string text = "[";
  std::vector<T> wanted;
  int refused = 0;
  while (wanted.size() < 1500) {
    const std::string token = random_token(random, parts);
    if (token.starts_with("--") || token.starts_with("b")) continue;  // a comment, a binary value
    const auto value = scanned<T>(token, type);
    if (value && token.size() <= 100) {
      text += token + ", ";
      wanted.push_back(*value);
    } else if (!value && ++refused < 200) {
      CAPTURE(token);
      CHECK(complaint(dir, token, typed(type)).find("where a number of type") != std::string::npos);
    }
  }
  const auto cells = cells_of<T>(dir, text + "]", typed("[]" + type));
  REQUIRE(cells.size() == wanted.size());
  for (std::size_t i = 0; i < cells.size(); ++i) CHECK(bits_of(cells[i]) == bits_of(wanted[i]));
}

}  // namespace
TEST_CASE("futhark typed: numbers are what scanf makes of them") {
  compare_with_scanf<std::int8_t>("i8", 1);
  compare_with_scanf<std::int16_t>("i16", 2);
  compare_with_scanf<std::int32_t>("i32", 3);
  compare_with_scanf<std::int64_t>("i64", 4);
  compare_with_scanf<std::uint8_t>("u8", 5);
  compare_with_scanf<std::uint16_t>("u16", 6);
  compare_with_scanf<std::uint32_t>("u32", 7);
  compare_with_scanf<std::uint64_t>("u64", 8);
  compare_with_scanf<float>("f32", 9);
  compare_with_scanf<double>("f64", 10);
}

TEST_CASE("futhark typed: the oddities, one by one") {
  const TempDir dir;
  const auto i32 = [&](std::string_view text) {
    return value_of<std::int32_t>(dir, text, typed("i32"));
  };
  CHECK(i32("010") == 8);
  CHECK(i32("0x10") == 16);
  CHECK(i32("0x") == 0);
  CHECK(i32("0xi32") == 0);
  CHECK(i32("1_0__0_") == 100);
  CHECK(i32("+5") == 5);
  CHECK(i32("4294967295") == -1);
  CHECK(i32("99999999999999999999") == -1);  // 2^63 - 1, cut
  CHECK(complaint(dir, "08", typed("i32")) ==
        "corrupt at byte 0: '08' where a number of type i32 should be, in line 1");
  CHECK(value_of<std::int8_t>(dir, "300i8", typed("i8")) == 44);
  CHECK(value_of<std::uint8_t>(dir, "-1u8", typed("u8")) == 255);
  CHECK(value_of<std::uint64_t>(dir, "010", typed("u64")) == 10);
  CHECK(value_of<std::uint64_t>(dir, "-1", typed("u64")) == ~0ULL);
  CHECK_FALSE(complaint(dir, "0x10", typed("u64")).empty());
  const auto f32 = [&](std::string_view text) { return value_of<float>(dir, text, typed("f32")); };
  CHECK(f32("1e") == 1);
  CHECK(f32("1e+f32") == 1);
  CHECK(f32("5.") == 5);
  CHECK(f32("0x1.8p3") == 12);
  CHECK(f32("0x1.8f32") == static_cast<float>(0x1.8f32p0));
  CHECK(f32("0x.") == 0);
  CHECK(f32("0x11p9223372036854775807") == kInfF);
  CHECK(f32("0x.01p-9223372036854775808") == 0);
  CHECK(f32("1e39") == kInfF);
  CHECK(bits_of(f32("-nan")) == 0xFFC00000);
  CHECK(bits_of(f32("f32.nan")) == 0x7FC00000);
  CHECK(f32("7.038531e-26") == 7.038531e-26F);
  CHECK_FALSE(complaint(dir, "f64.nan", typed("f32")).empty());
  CHECK_FALSE(complaint(dir, "+f32.inf", typed("f32")).empty());
  CHECK(value_of<std::uint8_t>(dir, "true", typed("bool")) == 1);
  CHECK_FALSE(complaint(dir, "tr_ue", typed("bool")).empty());
}

TEST_CASE("futhark typed: halves are cut toward zero") {
  const TempDir dir;
  const auto half = [&](std::string_view text) { return value_of<float>(dir, text, typed("f16")); };
  CHECK(half("65535.9") == 65504);
  CHECK(half("-65536f16") == -kInfF);
  CHECK(half("1.0009765") == 1);  // just below 1 + 2^-10
  CHECK(half("5.9e-8") == 0);     // just below 2^-24
  CHECK(bits_of(half("-5.9e-8")) == 0x80000000);
  CHECK(half("5.9604645e-8") == 0x1p-24F);
  CHECK(half("1.1920929e-7") == 0x1p-23F);
  CHECK(half("6.0975551e-05") == 0x1.FF8p-15F);
}

TEST_CASE("futhark typed: a token counts with 99 characters, and the hundredth is dropped") {
  const TempDir dir;
  const std::string zeros(98, '0');
  CHECK(value_of<std::uint64_t>(dir, zeros + "7", typed("u64")) == 7);
  CHECK(value_of<std::uint64_t>(dir, zeros + "78", typed("u64")) == 7);
  CHECK_FALSE(complaint(dir, zeros + "789", typed("u64")).empty());  // the 9 is another token
  CHECK(value_of<double>(dir, zeros.substr(3) + "7f64", typed("f64")) == 7);
  CHECK(complaint(dir, zeros + "7f64", typed("f64")) ==  // the f is dropped
        "corrupt at byte 100: '64' where the end of the input after 1 value should be, in line 1");
}

TEST_CASE("futhark typed: the shape of a text") {
  const TempDir dir;
  const auto shape = [&](std::string_view text, const std::string& type) {
    const Matrix m = matrix_of(dir, text, typed(type));
    return m.contents()[0];
  };
  CHECK(shape("[]", "[]i32") == "[0]i32");
  CHECK(shape("[[],[]]", "[][]i32") == "[2][0]i32");
  CHECK(shape("[1,2,]", "[]i32") == "[2]i32");
  CHECK(shape("[[1,],]", "[][]i32") == "[1][1]i32");
  CHECK(shape("empty ( [ 0 ] -- none\n [3] i32 )", "[][]i32") == "[0][3]i32");
  CHECK(shape("empty([7z][0]i32)", "[][]i32") == "[7][0]i32");
  CHECK(shape("[1] -- behind it\n", "[]i32") == "[1]i32");
  CHECK(shape(std::string("1 \0 anything", 12), "i32") == "i32");
  const auto refused = [&](std::string_view text, const std::string& type) {
    return complaint(dir, text, typed(type));
  };
  CHECK(refused("[1]", "[][]i32") ==
        "corrupt at byte 1: '1' where the '[' of a [][]i32 should be, in line 1");
  CHECK(refused("[[1],\n[2, 3]]", "[][]i32") ==
        "corrupt at byte 11: this row has 2 elements, the array's first 1, in line 2");
  CHECK(refused("[1,,2]", "[]i32") ==
        "corrupt at byte 3: ',' where a number of type i32 should be, in line 1");
  CHECK(refused("[1 2]", "[]i32") ==
        "corrupt at byte 3: '2' where ',' or ']' should be, in line 1");
  CHECK(refused("[1, 2", "[]i32") ==
        "corrupt at byte 5: the file ends where ',' or ']' should be, in line 1");
  CHECK(refused("1--2", "i32").find("corrupt at byte 0") == 0);
  CHECK(
      refused("empty([1]i32)", "[]i32") ==
      "corrupt at byte 0: 'empty' where an empty array with a dimension of 0 should be, in line 1");
  CHECK(refused("empty([0]i64)", "[]i32") ==
        "type_mismatch at byte 9: the element type is 'i64', not the i32 that was asked for, in "
        "line 1");
  CHECK(refused("empty([-1][0]i32)", "[][]i32") ==
        "corrupt at byte 7: '-1' where a dimension from 0 to 2^63 - 1 should be, in line 1");
  CHECK(refused("1 2", "i32") ==
        "corrupt at byte 2: '2' where the end of the input after 1 value should be, in line 1");
  CHECK(refused("1", "i32, i32") ==
        "corrupt at byte 1: the file ends where a number of type i32 should be, in line 1");
}

TEST_CASE("futhark typed: binary values have the type that is asked for, and no comment before") {
  const TempDir dir;
  const std::string vector = binary_value<std::uint8_t>("  u8", {2}, {1, 2});
  CHECK(complaint(dir, vector, typed("[]u8")).empty());
  CHECK(complaint(dir, vector, typed("[]i8")) ==
        "type_mismatch at byte 0: the value is a []u8, not the []i8 that was asked for");
  CHECK(complaint(dir, vector, typed("[][]u8")) ==
        "type_mismatch at byte 0: the value is a []u8, not the [][]u8 that was asked for");
  CHECK_FALSE(complaint(dir, "-- it\n" + vector, typed("[]u8")).empty());
  CHECK(complaint(dir, "-- it\n" + vector).empty());
  CHECK(complaint(dir, "1", typed("i33")) ==
        "invalid_argument: 'i33' is no Futhark type; f64, []i32 and [][]f32 are");
  CHECK_FALSE(complaint(dir, "1", typed("[3]i32")).empty());
}
