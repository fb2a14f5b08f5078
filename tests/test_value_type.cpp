#include <string>
#include <vector>

#include "dapple/value_type.h"
#include "tests/check.h"
#include "tests/reference.h"
#include "tests/support.h"

using namespace dapple;

TEST_CASE("value_type: codes, names and sizes are those of the format") {
  const char* const names[] = {"u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"};
  std::uint8_t code = 0;
  for (ValueType type : kValueTypes) {
    ++code;
    CAPTURE(code);
    CHECK(static_cast<std::uint8_t>(type) == code);
    CHECK(name(type) == names[code - 1]);
    CHECK(find_value_type(names[code - 1]) == type);
    CHECK(value_type_of_code(code) == type);
    CHECK(size_of(type) == reference::size_of(code));
    CHECK(is_float(type) == (name(type)[0] == 'f'));
    CHECK(is_signed(type) == (name(type)[0] != 'u'));
  }
  CHECK(code == 10);
}

TEST_CASE("value_type: other codes and names are of no type") {
  for (unsigned code : {0U, 11U, 12U, 127U, 128U, 255U}) {
    CHECK(!value_type_of_code(static_cast<std::uint8_t>(code)));
  }
  for (const char* text : {"", "u", "u8 ", "U8", "f16", "f128", "double"}) {
    CHECK(!find_value_type(text));
  }
}

TEST_CASE("value_type: a C++ type and its code name each other") {
  for (ValueType type : kValueTypes) {
    visit_type(type, [&](auto tag) {
      CHECK(value_type_of<decltype(tag)>() == type);
      CHECK(sizeof tag == size_of(type));
      CHECK(tag == 0);
    });
  }
}

TEST_CASE("value_type: a type holds all of another exactly when each of its values converts") {
  test::Rng rng(1);
  for (ValueType narrow : kValueTypes) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size_of(narrow));
    std::vector<std::uint64_t> values = {0, 1, mask, mask >> 1, (mask >> 1) + 1, (mask >> 1) - 1};
    for (int i = 0; i < 200; ++i) values.push_back((rng.bits() >> rng.below(64)) & mask);
    for (ValueType wide : kValueTypes) {
      bool all = true;
      for (std::uint64_t bits : values) {
        all = all && reference::convert(static_cast<int>(narrow), bits, static_cast<int>(wide));
      }
      CAPTURE(std::string(name(narrow)));
      CAPTURE(std::string(name(wide)));
      CHECK(holds_all(wide, narrow) == all);
    }
  }
}
