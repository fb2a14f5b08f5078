#include "tests/check.h"
#include "tests/reference.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;

namespace {

// What the reference says of these bytes: canonical text, or the rule that refuses them.
std::string outcome(const Image& image) {
  try {
    const reference::Object object = reference::read(image.bytes());
    return object.faults.empty() ? reference::text(object) : object.faults.front();
  } catch (const reference::Refused& refused) {
    return refused.what();
  }
}

}  // namespace

TEST_CASE("reference: files of other programs hold the cells that were written") {
  const auto files = test::golden_files("dbdf/valid", ".dbdf");
  for (const auto& file : files) {
    CAPTURE(file);
    const reference::Object object = reference::read(test::read_bytes(file));
    CHECK(object.faults.empty());
    CHECK(reference::text(object) == test::read_text(file.string() + ".cells.txt"));
  }
}

TEST_CASE("reference: damaged files are refused for the damage they have") {
  const auto files = test::golden_files("dbdf/damaged", ".dbdf");
  for (const auto& file : files) {
    CAPTURE(file);
    const std::string kinds = test::read_text(file.string() + ".kinds.txt");
    std::string found;
    try {
      const reference::Object object = reference::read(test::read_bytes(file));
      REQUIRE(!object.faults.empty());
      if (object.faults.front().find("an index leaves its block") != std::string::npos) {
        found = "index_range";
      }
    } catch (const reference::Refused& refused) {
      if (refused.rule() == 4) found = "truncated";
    }
    CHECK(kinds.find(found + "\n") != std::string::npos);
    CHECK(!found.empty());
  }
}

TEST_CASE("reference: every kind of block gives its cells") {
  Image image = Image::matrix(4, 3, ValueType::i32);
  image.dense<std::int8_t>({0, 0}, 2, 2, {1, -2, 3, 4});
  image.csr<std::uint16_t>({0, 2}, 1, {{{0, 500}}, {}});
  image.coo<std::int32_t>({2, 0}, 2, 2, {{1, 1, -7}, {0, 1, 0}});
  image.coo<std::uint8_t>({2, 2}, 1, 1, {{0, 0, 9}});
  image.empty({3, 2}, 1, 1);
  CHECK(outcome(image) ==
        "dbdf v1 DenseMatrix rows 4 cols 3 vt i32\nuncovered 0\n"
        "c 0 0 1\nc 0 1 -2\nc 0 2 500\nc 1 0 3\nc 1 1 4\nc 2 2 9\nc 3 1 -7\n");
}

TEST_CASE("reference: auxiliary and zero-area blocks hold no cells") {
  Image image = Image::matrix(1, 2, ValueType::u8);
  image.zeros(50);
  image.auxiliary(std::as_bytes(std::span("padding")));
  image.csr<double>({77, 99}, 0, {{}, {}});
  image.dense<std::uint8_t>({0, 0}, 1, 1, {5});
  CHECK(outcome(image) == "dbdf v1 DenseMatrix rows 1 cols 2 vt u8\nuncovered 1\nc 0 0 5\n");
}

TEST_CASE("reference: a frame reads each column as its own type") {
  Image image = Image::frame(2, {{"a", ValueType::u8}, {"", ValueType::f64}});
  image.dense<std::uint8_t>({0, 0}, 2, 2, {1, 2, 3, 4});
  CHECK(outcome(image) ==
        "dbdf v1 Frame rows 2 cols 2\ncol 0 vt u8 label 61\ncol 1 vt f64 label -\nuncovered 0\n"
        "c 0 0 1\nc 0 1 4000000000000000\nc 1 0 3\nc 1 1 4010000000000000\n");
}

TEST_CASE("reference: each rule refuses what breaks it") {
  const Image header = Image::matrix(2, 2, ValueType::u8);
  const auto with = [&](auto&& change) {
    Image image = header;
    change(image);
    return outcome(image);
  };
  const auto starts = [](const std::string& s, const char* prefix) {
    return s.starts_with(prefix);
  };

  CHECK(starts(with([](Image& i) { i.patch(0, std::uint8_t{2}); }), "R1 at byte 0"));
  CHECK(starts(with([](Image& i) { i.patch(1, std::uint8_t{4}); }), "R1 at byte 1"));
  CHECK(starts(with([](Image& i) { i.patch(18, std::uint8_t{11}); }), "R1 at byte 18"));
  CHECK(starts(with([](Image& i) { i.patch(18, std::uint8_t{0}); }), "R1 at byte 18"));
  CHECK(starts(with([](Image& i) {
                 i.empty({0, 0}, 1, 1).patch(43, std::uint8_t{4});
               }),
               "R1 at byte 43"));
  CHECK(starts(with([](Image& i) { i.empty({1, 0}, 2, 1); }), "R2 at byte 35"));
  CHECK(starts(with([](Image& i) { i.empty({~std::uint64_t{0}, 0}, 1, 1); }), "R2 at byte 35"));
  CHECK(starts(with([](Image& i) { i.empty({0, 0}, 2, 1).empty({1, 0}, 1, 2); }), "R3 at byte 60"));
  CHECK(starts(with([](Image& i) { i.zeros(24); }), "R4 at byte"));
  CHECK(starts(with([](Image& i) {
                 i.block_header({0, 0}, ~0U, ~0U, BlockKind::dense).value_type(ValueType::f64);
               }),
               "R4 at byte"));

  const auto fault = [](const std::string& s, const char* rule) {
    return s.starts_with(std::string("block (0, 0): ") + rule);
  };
  using Row = std::vector<std::pair<std::uint32_t, std::uint8_t>>;
  CHECK(fault(with([](Image& i) {
                i.csr<std::uint8_t>({0, 0}, 2, std::vector<Row>{{{2, 1}}, {}});
              }),
              "R5"));
  CHECK(fault(with([](Image& i) {
                i.csr<std::uint8_t>({0, 0}, 2, std::vector<Row>{{{1, 1}, {1, 2}}, {}});
              }),
              "R5"));
  CHECK(fault(with([](Image& i) {
                i.csr<std::uint8_t>({0, 0}, 2, std::vector<Row>{{{1, 1}}, {}});
                i.patch(53, std::uint32_t{2});
              }),
              "R5"));
  CHECK(fault(with([](Image& i) { i.coo<std::uint8_t>({0, 0}, 2, 2, {{2, 0, 1}}); }), "R5"));
  CHECK(fault(with([](Image& i) {
                i.coo<std::uint8_t>({0, 0}, 2, 2, {{0, 0, 1}, {0, 0, 1}});
              }),
              "R5"));
  CHECK(fault(with([](Image& i) { i.dense<std::int16_t>({0, 0}, 1, 2, {255, 256}); }), "R6"));
}

TEST_CASE("reference: a value changes its type only when it stays the same value") {
  using reference::convert;
  constexpr int u8 = 1, u16 = 2, u64 = 4, i8 = 5, i64 = 8, f32 = 9, f64 = 10;
  CHECK(convert(u8, 255, i8) == std::nullopt);
  CHECK(convert(i8, 0x80, i64) == 0xFFFFFFFFFFFFFF80U);
  CHECK(convert(i8, 0x80, u64) == std::nullopt);
  CHECK(convert(i64, 0xFFFFFFFFFFFFFF80U, i8) == 0x80U);
  CHECK(convert(u64, 0x8000000000000000U, i64) == std::nullopt);
  CHECK(convert(i64, 0x8000000000000000U, f64) == 0xC3E0000000000000U);
  CHECK(convert(u64, (std::uint64_t{1} << 53) + 1, f64) == std::nullopt);
  CHECK(convert(u64, (std::uint64_t{1} << 53) + 2, f64) == 0x4340000000000001U);
  CHECK(convert(f64, 0x8000000000000000U, u8) == std::nullopt);  // -0.0
  CHECK(convert(f64, 0x8000000000000000U, f32) == 0x80000000U);
  CHECK(convert(f64, 0x406FE00000000000U, u8) == 255U);           // 255.0
  CHECK(convert(f64, 0x3FF8000000000000U, u16) == std::nullopt);  // 1.5
  CHECK(convert(f64, 0x43F0000000000000U, u64) == std::nullopt);  // 2^64
  CHECK(convert(f32, 0x7F800001U, f64) == 0x7FF0000020000000U);   // a signalling NaN
  CHECK(convert(f64, 0x7FF0000020000000U, f32) == 0x7F800001U);
  CHECK(convert(f64, 0x7FF0000000000001U, f32) == std::nullopt);
  CHECK(convert(f64, 0x47F0000000000000U, f32) == std::nullopt);  // 2^128
  CHECK(convert(f64, 0x7FF0000000000000U, f32) == 0x7F800000U);   // infinity
  CHECK(convert(f64, 0x36A0000000000000U, f32) == 1U);            // the smallest of f32
}
