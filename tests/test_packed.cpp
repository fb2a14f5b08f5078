// Packed payloads: what is encoded comes back bit for bit, in whole and in any part, from two
// readers that share no code.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "lib/cells/convert_cells.h"
#include "lib/codec/packed/packed_block.h"
#include "tests/check.h"
#include "tests/packed_reader.h"
#include "tests/packed_samples.h"
#include "tests/support.h"

namespace dapple::test::packing {

namespace {

/// Cells of any region are those of the plain payload.
void check_cells(const Sample& sample, const Bytes& packed, test::Rng& rng) {
  const Shape& shape = sample.shape;
  const std::size_t size = size_of(shape.value_type);
  for (int k = 0; k < 8; ++k) {
    const Range rows = rng.range(shape.rows), cols = rng.range(shape.cols);
    const std::size_t stride = cols.size() * size + rng.below(3);
    Bytes out(rows.size() * stride + 1), expected = out;
    reader_of(shape, packed).cells(rows, cols, out.data(), stride);
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const std::size_t first = ((rows.begin + row) * shape.cols + cols.begin) * size;
      std::copy_n(sample.plain.begin() + static_cast<std::ptrdiff_t>(first), cols.size() * size,
                  expected.begin() + static_cast<std::ptrdiff_t>(row * stride));
    }
    CHECK(out == expected);
  }
}

/// Rows of any range are those of the plain payload.
void check_rows(const Sample& sample, const Bytes& packed, test::Rng& rng) {
  const Shape& shape = sample.shape;
  const std::size_t size = size_of(shape.value_type);
  for (int k = 0; k < 8; ++k) {
    const Range rows = rng.range(shape.rows);
    const BlockReader reader = reader_of(shape, packed);
    BlockReader::Kept kept;
    std::vector<std::uint32_t> starts(rows.size() + 1);
    reader.row_starts(static_cast<std::uint32_t>(rows.begin), static_cast<std::uint32_t>(rows.end),
                      starts.data(), kept);
    const std::uint32_t n = starts.back() - starts.front();
    std::vector<std::uint32_t> cols(n);
    Bytes values(n * size);
    for (const auto bytes : reader.bytes_of(starts.front(), starts.back())) {
      CHECK((bytes.empty() || (bytes.data() >= packed.data() &&
                               bytes.data() + bytes.size() <= packed.data() + packed.size())));
    }
    reader.columns(starts, cols.data(), kept);
    reader.values(starts.front(), starts.back(), values.data(), kept);
    Bytes rebuilt;
    for (std::size_t row = 0; row + 1 < starts.size(); ++row) {
      put(rebuilt, starts[row + 1] - starts[row], 4);
      for (std::uint32_t i = starts[row] - starts[0]; i < starts[row + 1] - starts[0]; ++i) {
        put(rebuilt, cols[i], 4);
        rebuilt.insert(rebuilt.end(), values.begin() + static_cast<std::ptrdiff_t>(i * size),
                       values.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
      }
    }
    const std::size_t first = rows.begin * 4 + starts[0] * (4 + size);
    const auto from = sample.plain.begin() + static_cast<std::ptrdiff_t>(first);
    REQUIRE(first + rebuilt.size() <= sample.plain.size());
    CHECK(std::equal(rebuilt.begin(), rebuilt.end(), from));
    // As f64 where that holds all of them, as convert_cells gives them.
    if (!holds_all(ValueType::f64, shape.value_type)) continue;
    std::vector<double> wide(n), expected(n);
    auto* const target = reinterpret_cast<std::byte*>(wide.data());
    CHECK(reader.values_as(starts.front(), starts.back(), ValueType::f64, target, kept) == n);
    convert_cells(shape.value_type, values.data(), size, ValueType::f64,
                  reinterpret_cast<std::byte*>(expected.data()), 8, n);
    CHECK(test::list(std::as_bytes(std::span(wide))) ==
          test::list(std::as_bytes(std::span(expected))));
  }
}

/// Both readers give back what was encoded. True if it was packed.
bool check(const Sample& sample, Effort effort, std::uint64_t seed) {
  const Shape& shape = sample.shape;
  const Bytes packed = packed::encode(shape, sample.plain, effort);
  if (packed.empty()) return false;
  CHECK(packed.size() <= sample.plain.size() / 20 * 19);
  CHECK(decoded(shape, packed) == sample.plain);
  CHECK(test::read_packed(shape.kind, shape.value_type, shape.rows, shape.cols, shape.stored,
                          packed) == sample.plain);
  test::Rng rng(seed);
  if (shape.kind == BlockKind::dense) check_cells(sample, packed, rng);
  if (shape.kind == BlockKind::csr) check_rows(sample, packed, rng);
  return true;
}

/// The encoding of the stream, and of its integers whether they are compressed.
std::uint8_t encoding_of(const Bytes& packed, std::size_t streams, std::size_t stream) {
  const std::size_t end = stream == 0 ? 0 : load_le<std::uint32_t>(packed.data() + stream * 4);
  return std::to_integer<std::uint8_t>(packed[4 + 4 * streams + end]);
}

}  // namespace

TEST_CASE("packed: dense blocks of every type and pattern come back") {
  std::size_t packed = 0, all = 0;
  for (const ValueType type : kValueTypes) {
    for (const Pattern& pattern : patterns()) {
      CAPTURE(name(type));
      CAPTURE(pattern.name);
      test::Rng rng(size_of(type));
      for (const auto& [rows, cols] : {std::pair{1U, 1U}, {1U, 300U}, {40U, 129U}, {700U, 3U}}) {
        const Sample sample = dense(type, rows, cols, pattern, rng);
        for (const Effort effort : {Effort::fast, Effort::small}) {
          packed += check(sample, effort, rows) ? 1U : 0U;
          ++all;
        }
      }
    }
  }
  CHECK(packed > all / 2);
}

TEST_CASE("packed: blocks with more values than a sample come back") {
  for (const ValueType type : {ValueType::u8, ValueType::i32, ValueType::f32, ValueType::f64}) {
    for (const Pattern& pattern : patterns()) {
      CAPTURE(name(type));
      CAPTURE(pattern.name);
      test::Rng rng(5);
      const Sample sample = dense(type, 90, 137, pattern, rng);
      check(sample, Effort::fast, 1);
      check(sample, Effort::small, 2);
    }
  }
}

TEST_CASE("packed: CSR blocks of every type and pattern come back") {
  for (const ValueType type : kValueTypes) {
    for (const Pattern& pattern : patterns()) {
      CAPTURE(name(type));
      CAPTURE(pattern.name);
      test::Rng rng(size_of(type) + 20);
      for (const bool backwards : {false, true}) {
        const Sample narrow = csr(type, 300, 9, 3, backwards, pattern, rng);
        const Sample wide = csr(type, 7, 3000, 2, backwards, pattern, rng);
        for (const Effort effort : {Effort::fast, Effort::small}) {
          CHECK(check(narrow, effort, 3));
          CHECK(check(wide, effort, 4));
        }
      }
    }
  }
}

TEST_CASE("packed: COO blocks of every type and pattern come back") {
  for (const ValueType type : kValueTypes) {
    for (const Pattern& pattern : patterns()) {
      CAPTURE(name(type));
      CAPTURE(pattern.name);
      test::Rng rng(size_of(type) + 40);
      for (const Effort effort : {Effort::fast, Effort::small}) {
        CHECK(check(coo(type, 5000, 800, 600, pattern, rng), effort, 3));
        CHECK(check(coo(type, 5000, 1, 600, pattern, rng), effort, 4));
      }
    }
  }
}

TEST_CASE("packed: each encoding is taken where it is smallest") {
  const auto encoding = [](ValueType type, const char* wanted, Effort effort) {
    test::Rng rng(3);
    for (const Pattern& pattern : patterns()) {
      if (std::string(pattern.name) != wanted) continue;
      const Sample sample = dense(type, 100, 100, pattern, rng);
      const Bytes packed = packed::encode(sample.shape, sample.plain, effort);
      return packed.empty() ? -1 : int{encoding_of(packed, 1, 0)};
    }
    return -2;
  };
  CHECK(encoding(ValueType::f64, "constant", Effort::fast) == 1);
  CHECK(encoding(ValueType::u8, "small", Effort::fast) == 2);
  CHECK(encoding(ValueType::i64, "few", Effort::fast) == 3);
  CHECK(encoding(ValueType::f32, "decimals", Effort::fast) == 4);
  CHECK(encoding(ValueType::f64, "decimals", Effort::fast) == 4);
  CHECK(encoding(ValueType::f64, "decimals", Effort::small) == 4);
  CHECK(encoding(ValueType::f32, "missing decimals", Effort::fast) == 6);
  CHECK(encoding(ValueType::f64, "missing decimals", Effort::small) == 6);
  CHECK(encoding(ValueType::f32, "one to two", Effort::fast) == 5);
  CHECK(encoding(ValueType::f32, "bell", Effort::small) == 5);
  CHECK(encoding(ValueType::f64, "bell", Effort::fast) == -1);
  CHECK(encoding(ValueType::u8, "random", Effort::fast) == -1);
  CHECK(encoding(ValueType::f64, "random", Effort::small) == -1);
}

TEST_CASE("packed: pixels of several colours are relative to the one of their own colour") {
  for (const unsigned colours : {1U, 2U, 3U, 4U}) {
    CAPTURE(colours);
    test::Rng rng(colours);
    const Pattern pattern{"", [&](auto& random, auto i, auto type) {
                            const double wave = 15 * std::sin(double(i) / 90);
                            const double level = double(i % colours * 37 % 101) + 60;
                            return bits_of(type,
                                           std::floor(level + wave) + double(random.below(2)));
                          }};
    const Sample sample = dense(ValueType::u8, 100, 120, pattern, rng);
    const Bytes packed = packed::encode(sample.shape, sample.plain, Effort::fast);
    REQUIRE(!packed.empty());
    const auto flags = std::to_integer<unsigned>(packed[9]);
    CHECK((flags >> 3) + 1 == colours);
    if (colours > 1) CHECK((flags & 3) == 2);
    CHECK(packed.size() < sample.plain.size() * 2 / 5);
    CHECK(check(sample, Effort::fast, 1));
    CHECK(check(sample, Effort::small, 1));
  }
}

TEST_CASE("packed: columns of far from equally frequent numbers are compressed") {
  test::Rng rng(4);
  const Pattern skewed{"", [](auto& random, auto, auto type) {
                         const double x = (double(random.below(1 << 20)) + 1) / (1 << 20);
                         return bits_of(type, std::floor(std::min(1 / (x * x), 199.0)));
                       }};
  const Sample sample = dense(ValueType::i32, 20000, 1, skewed, rng);
  const Bytes packed = packed::encode(sample.shape, sample.plain, Effort::fast);
  REQUIRE(!packed.empty());
  CHECK((std::to_integer<unsigned>(packed[9]) & 4) == (encoding_of(packed, 1, 0) == 2 ? 4U : 0U));
  CHECK(check(sample, Effort::fast, 1));
}

TEST_CASE("packed: a stream that does not shrink is raw") {
  test::Rng rng(1);
  const Sample sample = csr(ValueType::f64, 40, 100, 2, false, patterns().back(), rng);
  const Bytes packed = packed::encode(sample.shape, sample.plain, Effort::small);
  REQUIRE(!packed.empty());
  CHECK(encoding_of(packed, 3, 2) == 0);
}

TEST_CASE("packed: a table of unlike columns is packed by column") {
  Sample sample{{BlockKind::dense, ValueType::f64, 600, 3, 1800}, {}};
  test::Rng rng(1);
  for (std::size_t row = 0; row < 600; ++row) {
    put(sample.plain, bits_of(ValueType::f64, 1.5), 8);
    put(sample.plain, bits_of(ValueType::f64, double(row) / 100), 8);
    put(sample.plain, rng.bits(), 8);
  }
  const Bytes packed = packed::encode(sample.shape, sample.plain, Effort::fast);
  REQUIRE(!packed.empty());
  CHECK(packed[1] == std::byte{1});
  CHECK(packed.size() < 600 * 8 + 600 * 2);
  CHECK(check(sample, Effort::fast, 1));
  CHECK(check(sample, Effort::small, 1));
}

TEST_CASE("packed: the bytes of a small block are those of the page") {
  // Integers of one bit, and an exception.
  Sample sample{{BlockKind::dense, ValueType::u16, 1, 24, 24}, {}};
  for (std::size_t i = 0; i < 24; ++i) put(sample.plain, i == 5 ? 363 : 200 + i % 2, 2);
  const Bytes packed = packed::encode(sample.shape, sample.plain, Effort::fast);
  const std::vector<int> expected = {
      1,    0,    0,    0,     // version, layout, reserved
      17,   0,    0,    0,     // the stream's end
      2,                       // integers
      0,    0,    200,  0,     // offsets without bases, reference 200
      8,    0,    0,    0,     // the piece's end
      1,    1,    7,           // 1 bit, 1 exception with 7 bits
      0xAA, 0xAA, 0xAA, 5, 81  // its lowest bit is 1: 1 + (81 << 1) = 163
  };
  REQUIRE(packed.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::to_integer<int>(packed[i]) == expected[i]);
  }
}

}  // namespace dapple::test::packing
