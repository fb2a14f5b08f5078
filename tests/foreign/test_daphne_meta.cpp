#include "lib/foreign/meta/daphne_meta.h"

#include <string>

#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail;

namespace {

const std::string kFile = "x.meta";

DaphneMeta parse(const std::string& text) { return parse_daphne_meta(text, kFile); }

std::string meta_error(const std::string& text) {
  const auto error = test::error_of([&] { parse(text); });
  return error ? error->what() : "no error";
}

}  // namespace

TEST_CASE("daphne meta: a matrix has shape and one value type") {
  const DaphneMeta meta = parse(R"({"numRows": 4, "numCols": 3, "valueType": "si32"})");
  CHECK(meta.kind == ObjectKind::matrix);
  CHECK(meta.rows == 4);
  CHECK(meta.cols == 3);
  CHECK(meta.value_type == ValueType::i32);
  CHECK(!meta.stored);
  CHECK(parse(R"({"numCols":1,"numNonZeros":5,"numRows":9,"valueType":"f32"})").stored == 5u);
  CHECK(!parse(R"({"numCols":1,"numNonZeros":-1,"numRows":9,"valueType":"f32"})").stored);
}

TEST_CASE("daphne meta: a frame has labels and a type for each column") {
  const DaphneMeta meta = parse(R"({
    "numRows": 2, "numCols": 3, "valueType": "ui8",
    "hdfs": {"isHDFS": false, "x": [1, {"y": [[], {}]}, "z", null, true, -1.5e+3]},
    "schema": [{"label": "a \"b\" \u00e9\ud83d\ude00", "valueType": "f64"},
               {"valueType": "ui64", "label": ""},
               {"label": "default", "valueType": null}]
  })");
  CHECK(meta.kind == ObjectKind::frame);
  REQUIRE(meta.columns.size() == 3);
  CHECK(meta.columns[0] == Column{"a \"b\" \xc3\xa9\xf0\x9f\x98\x80", ValueType::f64});
  CHECK(meta.columns[1] == Column{"", ValueType::u64});
  CHECK(meta.columns[2] == Column{"default", ValueType::u8});
}

TEST_CASE("daphne meta: text is written as DAPHNE writes it") {
  Schema matrix;
  matrix.rows = 4;
  matrix.cols = 3;
  matrix.value_type = ValueType::i64;
  CHECK(daphne_meta_text(matrix) == R"({"numCols":3,"numRows":4,"valueType":"si64"})");
  CHECK(daphne_meta_text(matrix, 7) ==
        R"({"numCols":3,"numNonZeros":7,"numRows":4,"valueType":"si64"})");
  Schema frame;
  frame.kind = ObjectKind::frame;
  frame.rows = 1;
  frame.cols = 2;
  frame.columns = {{"a\"\\\n\x01/\xc3\xa9", ValueType::f32}, {"", ValueType::u8}};
  const std::string text = daphne_meta_text(frame);
  CHECK(text ==
        "{\"numCols\":2,\"numRows\":1,\"schema\":[{\"label\":\"a\\\"\\\\\\n\\u0001/\xc3\xa9\","
        "\"valueType\":\"f32\"},{\"label\":\"\",\"valueType\":\"ui8\"}]}");
  CHECK(parse(text).columns == frame.columns);
  frame.cols = 0;
  frame.columns.clear();
  CHECK(daphne_meta_text(frame) == R"({"numCols":0,"numRows":1,"schema":[]})");
  CHECK(parse(daphne_meta_text(frame)).kind == ObjectKind::frame);
}

TEST_CASE("daphne meta: what DAPHNE cannot hold is refused") {
  Schema schema;
  schema.value_type = ValueType::u16;
  const auto type = test::error_of([&] { daphne_meta_text(schema); });
  REQUIRE(type);
  CHECK(type->code() == Errc::unsupported);
  CHECK(type->detail() ==
        "DAPHNE has no value type u16, only f64, f32, i64, i32, i8, u64, u32 and u8");
  schema.kind = ObjectKind::frame;
  schema.columns = {{"\xff", ValueType::f64}};
  const auto label = test::error_of([&] { daphne_meta_text(schema); });
  REQUIRE(label);
  CHECK(label->detail() == "the label '\\xff' is not UTF-8, as labels in a .meta file must be");
}

TEST_CASE("daphne meta: every fault is named with its byte") {
  CHECK(meta_error("") ==
        "x.meta: corrupt at byte 0: not valid JSON: syntax error while parsing value - unexpected "
        "end of input; expected '[', '{', or a literal");
  CHECK(meta_error("4,3,1,f64").starts_with("x.meta: corrupt at byte 1: not valid JSON: "));
  CHECK(meta_error("4") == "x.meta: corrupt at byte 0: not a JSON object");
  CHECK(meta_error("[]") == "x.meta: corrupt at byte 0: not a JSON object");
  CHECK(meta_error(R"({"numCols":1})") ==
        "x.meta: corrupt at byte 0: there is no member 'numRows'");
  CHECK(meta_error(R"({"numRows":1})") ==
        "x.meta: corrupt at byte 0: there is no member 'numCols'");
  CHECK(meta_error(R"({"numRows":1,"numCols":1})") ==
        "x.meta: corrupt at byte 0: there is neither a member 'valueType' nor a 'schema'");
  CHECK(meta_error(R"({"numRows":1.5})") ==
        "x.meta: corrupt at byte 11: the member 'numRows' must be a whole number of 64 bits, not "
        "1.5");
  CHECK(meta_error(R"({"numRows":-5})") ==
        "x.meta: corrupt at byte 11: the member 'numRows' is -5, but a count is never negative");
  CHECK(meta_error(R"({"numRows": 9223372036854775808})") ==
        "x.meta: corrupt at byte 12: the member 'numRows' is 9223372036854775808, which is too "
        "large");
  CHECK(meta_error(R"({"numRows" : "5"})") ==
        "x.meta: corrupt at byte 13: the member 'numRows' must be a whole number, not a string");
  CHECK(meta_error(R"({"numNonZeros":[]})") ==
        "x.meta: corrupt at byte 15: the member 'numNonZeros' must be a whole number, not an "
        "array");
  CHECK(meta_error(R"({"valueType":true})") ==
        "x.meta: corrupt at byte 13: the member 'valueType' must be a string, not a truth value");
  CHECK(meta_error(R"({"schema":{}})") ==
        "x.meta: corrupt at byte 10: the member 'schema' must be an array, not an object");
  CHECK(meta_error(R"({"schema":[ 5]})") ==
        "x.meta: corrupt at byte 12: a column of the schema must be an object");
  CHECK(meta_error(R"({"schema":[{"label":null}]})") ==
        "x.meta: corrupt at byte 20: the member 'label' must be a string, not null");
  CHECK(meta_error(R"({"numRows":01})") ==
        "x.meta: corrupt at byte 12: not valid JSON: syntax error while parsing object - "
        "unexpected number literal; expected '}'");
  CHECK(meta_error(R"({"numRows":1, "numRows":1})") ==
        "x.meta: corrupt at byte 24: the member 'numRows' is there twice");
  CHECK(meta_error(R"({"schema":[{"label":"a","label":"b"}]})") ==
        "x.meta: corrupt at byte 32: the member 'label' is there twice");
  CHECK(
      meta_error(R"({"numRows":1,})")
          .starts_with(
              "x.meta: corrupt at byte 13: not valid JSON: syntax error while parsing object key"));
  CHECK(meta_error(R"({"numRows":1,"numCols":1,"valueType":"str"})") ==
        "x.meta: at byte 37: the value type 'str' is none of f64, f32, si64, si32, si8, "
        "ui64, ui32 and ui8");
  CHECK(meta_error(R"({"numRows":1,"numCols":2,"schema":[{"label":"a","valueType":"f64"}]})") ==
        "x.meta: corrupt at byte 34: 'numCols' is 2, but the schema has 1 column");
  CHECK(meta_error(R"({"numRows":1,"numCols":1,"schema":[{"label":"a"}]})") ==
        "x.meta: corrupt at byte 35: the column has no value type");
  CHECK(meta_error(R"({"a":"\x"})").starts_with("x.meta: corrupt at byte 7: not valid JSON: "));
  CHECK(
      meta_error(R"({"a":"\ud800"})").starts_with("x.meta: corrupt at byte 12: not valid JSON: "));
  CHECK(meta_error("{\"a\":\"\xff\"}").starts_with("x.meta: corrupt at byte 6: not valid JSON: "));
  CHECK(meta_error("{\"a\":\"\n\"}").starts_with("x.meta: corrupt at byte 6: not valid JSON: "));
  CHECK(meta_error("{\"a\":\"").starts_with("x.meta: corrupt at byte 6: not valid JSON: "));
  CHECK(meta_error(R"({"numRows":1,"numCols":1,"valueType":"f64"}x)")
            .starts_with("x.meta: corrupt at byte 43: not valid JSON: "));
  CHECK(meta_error(std::string(R"({"numRows":1,"numCols":1,"valueType":"f64"})") + '\0' + "x") ==
        "x.meta: corrupt at byte 43: not valid JSON: a zero byte");
  CHECK(meta_error(R"({"a":nul})").starts_with("x.meta: corrupt at byte 8: not valid JSON: "));
}

TEST_CASE("daphne meta: a byte order mark is passed over") {
  CHECK(parse("\xef\xbb\xbf {\"numRows\":1,\"numCols\":2,\"valueType\":\"f64\"}\n").cols == 2);
}

TEST_CASE("daphne meta: what nobody wants may be nested, but not without bounds") {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') +
           R"(,"numRows":1,"numCols":1,"valueType":"f64"})";
  };
  CHECK(parse(nested(60)).rows == 1);
  CHECK(meta_error(nested(1'000'000)) ==
        "x.meta: corrupt: more than 64 objects and arrays in each other");
}

TEST_CASE("daphne meta: a cut or changed file is an answer or an Error") {
  const std::string whole =
      R"({"numRows":2,"numCols":1,"schema":[{"label":"a\u00e9","valueType":"f64"}],"x":[1,{}]})";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    CHECK(test::error_of([&] { parse(whole.substr(0, n)); }).has_value());
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'\0', '"', '{', '}', '[', ']', ',', ':', '9', '\\', '\xff'}) {
      std::string changed = whole;
      changed[i] = c;
      test::error_of([&] { parse(changed); });
    }
  }
}
