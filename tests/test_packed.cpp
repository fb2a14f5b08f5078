// Packed payloads: what is encoded comes back bit for bit, in whole and in any part, from two
// readers that share no code; and payloads from strangers decode or throw.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include "dapple/error.h"
#include "lib/cells/convert_cells.h"
#include "lib/codec/packed/packed_block.h"
#include "tests/packed_reader.h"
#include "tests/support.h"

namespace {

using namespace dapple;
using namespace dapple::detail;
using packed::BlockReader;
using packed::Effort;
using packed::Shape;
using Bytes = std::vector<std::byte>;
using Bits = std::vector<std::uint64_t>;

const std::string kFile = "packed.dbdf";

/// The bits of a number as a value of that type; of integers, modulo their size.
std::uint64_t bits_of(ValueType type, double number) {
  if (type == ValueType::f64) return std::bit_cast<std::uint64_t>(number);
  if (type == ValueType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number)) &
         ~std::uint64_t{0} >> (64 - 8 * size_of(type));
}

/// A name, and the value at a place.
struct Pattern {
  const char* name;
  std::function<std::uint64_t(test::Rng&, std::size_t, ValueType)> value;
};

double bell(test::Rng& rng) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng.below(1 << 20)) / (1 << 20);
  return sum - 6;
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {
      {"constant", [](auto&, auto, auto type) { return bits_of(type, 7); }},
      {"small", [](auto& rng, auto, auto type) { return bits_of(type, double(rng.below(4))); }},
      {"outliers",
       [](auto& rng, auto, auto type) {
         return rng.chance(5) ? rng.bits() >> 8 * (8 - size_of(type)) : bits_of(type, 3);
       }},
      {"signed",
       [](auto& rng, auto, auto type) { return bits_of(type, double(rng.below(60)) - 30); }},
      {"ascending",
       [](auto& rng, auto i, auto type) { return bits_of(type, double(i * 3 + rng.below(3))); }},
      {"runs", [](auto&, auto i, auto type) { return bits_of(type, double(i / 50 % 9 * 13)); }},
      {"a walk",
       [](auto&, auto i, auto type) {
         return bits_of(type, std::floor(100 * std::sin(double(i) / 40)));
       }},
      {"few",
       [](auto& rng, auto, auto type) {
         return bits_of(type, std::floor(std::exp(double(rng.below(6)) * 1.7) * 1e3));
       }},
      {"decimals",
       [](auto& rng, auto, auto type) {
         return bits_of(type, (double(rng.below(30000)) - 5000) / 100);
       }},
      {"odd floats",
       [](auto& rng, auto i, auto type) {
         constexpr double nan = std::numeric_limits<double>::quiet_NaN();
         if (!is_float(type) || i % 7 > 0) return bits_of(type, double(rng.below(90)) / 8);
         return bits_of(type, rng.chance(50) ? -0.0 : nan) + rng.below(2);
       }},
      {"missing decimals",
       [](auto& rng, auto, auto type) {
         if (rng.chance(20)) return bits_of(type, is_float(type) ? std::nan("5") : 0);
         return bits_of(type, double(rng.below(9000)) / 100);
       }},
      {"pixels",
       [](auto& rng, auto i, auto type) {
         const double wave = 20 * std::sin(double(i) / 60);
         return bits_of(type, std::floor(double(i % 3) * 40 + 20 + wave) + double(rng.below(3)));
       }},
      {"one to two",
       [](auto& rng, auto, auto type) {
         return bits_of(type, 1 + double(rng.below(1 << 23)) / (1 << 23));
       }},
      {"bell", [](auto& rng, auto, auto type) { return bits_of(type, 20 * bell(rng)); }},
      {"random", [](auto& rng, auto, auto type) { return rng.bits() >> 8 * (8 - size_of(type)); }},
  };
  return all;
}

void put(Bytes& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::byte>(value >> 8 * i));
}

struct Sample {
  Shape shape;
  Bytes plain;
};

Sample dense(ValueType type, std::uint32_t rows, std::uint32_t cols, const Pattern& pattern,
             test::Rng& rng) {
  Sample sample{{BlockKind::dense, type, rows, cols, std::uint64_t{rows} * cols}, {}};
  for (std::size_t i = 0; i < sample.shape.stored; ++i) {
    put(sample.plain, pattern.value(rng, i, type), size_of(type));
  }
  return sample;
}

/// About one cell in `every` is stored; rows have entries from right to left where `backwards`.
Sample csr(ValueType type, std::uint32_t rows, std::uint32_t cols, unsigned every, bool backwards,
           const Pattern& pattern, test::Rng& rng) {
  Sample sample{{BlockKind::csr, type, rows, cols, 0}, {}};
  for (std::uint32_t row = 0; row < rows; ++row) {
    Bits columns;
    for (std::uint32_t col = 0; col < cols && row % 5 < 4; ++col) {
      if (rng.below(every) == 0) columns.push_back(col);
    }
    if (backwards) columns = {columns.rbegin(), columns.rend()};
    put(sample.plain, columns.size(), 4);
    for (const std::uint64_t col : columns) {
      put(sample.plain, col, 4);
      put(sample.plain, pattern.value(rng, sample.shape.stored++, type), size_of(type));
    }
  }
  return sample;
}

Sample coo(ValueType type, std::uint32_t rows, std::uint32_t cols, std::size_t n,
           const Pattern& pattern, test::Rng& rng) {
  Sample sample{{BlockKind::coo, type, rows, cols, n}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    put(sample.plain, i * rows / n, 4);
    if (cols != 1) put(sample.plain, rng.below(cols), 4);
    put(sample.plain, pattern.value(rng, i, type), size_of(type));
  }
  return sample;
}

BlockReader reader_of(const Shape& shape, const Bytes& packed) {
  return {shape, {packed, 1000, &kFile}};
}

Bytes decoded(const Shape& shape, const Bytes& packed) {
  Bytes out(packed::plain_bytes(shape).value());
  reader_of(shape, packed).decode(out.data());
  return out;
}

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

namespace {

/// What this processor has: the loop for each must do the same.
std::vector<packed::Instructions> every_instructions() {
  using packed::Instructions;
  std::vector<Instructions> all{Instructions::plain, Instructions::avx2, Instructions::avx512};
  std::erase_if(all, [](Instructions one) { return one > packed::best_instructions(); });
  return all;
}

}  // namespace

TEST_CASE("packed: integers of every width are packed and unpacked, by all instructions") {
  test::Rng rng(2);
  const auto each = [&](auto tag) {
    using W = decltype(tag);
    for (unsigned width = 0; width <= sizeof(W) * 8; ++width) {
      for (const std::size_t n : {1U, 7U, 8U, 9U, 127U, 128U}) {
        std::vector<W> words(n), back(n + 8);
        for (W& word : words) word = static_cast<W>(rng.bits());
        Bytes bytes(packed::packed_bytes(n, width) + packed::kSlack, std::byte{0xFF});
        packed::pack(words.data(), n, width, bytes.data());
        std::vector<std::uint8_t> small(n + 64);
        for (const packed::Instructions by : every_instructions()) {
          packed::unpack(bytes.data(), n, width, W{5}, back.data(), by);
          if (sizeof(W) == 4) packed::unpack(bytes.data(), n, width, 5, small.data(), by);
          bool same = true;
          for (std::size_t i = 0; i < n; ++i) {
            const auto wanted = static_cast<W>((words[i] & packed::low_bits(width)) + 5);
            same &= back[i] == wanted;
            same &= sizeof(W) != 4 || small[i] == static_cast<std::uint8_t>(wanted);
          }
          CAPTURE(width);
          CAPTURE(static_cast<int>(by));
          CHECK(same);
        }
      }
    }
  };
  each(std::uint32_t{});
  each(std::uint64_t{});
}

TEST_CASE("packed: gaps that lead out of the block, or around and back into it, are refused") {
  const std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> gaps;
  for (const packed::Instructions by : every_instructions()) {
    CAPTURE(static_cast<int>(by));
    const auto fit = [&](std::size_t at, std::uint32_t gap, std::uint32_t width) {
      gaps.assign(20, 1);
      gaps[at] = gap;
      return packed::gaps_to_columns(gaps.data(), 20, none, width, by);
    };
    CHECK(fit(0, 1, 40));
    for (std::uint32_t i = 0; i < 20; ++i) CHECK(gaps[i] == 2 * i + 1);
    for (const std::size_t at : {0U, 3U, 9U, 17U, 19U}) {
      CHECK(fit(at, 2, 41));
      CHECK(!fit(at, 2, 40));
      CHECK(!fit(at, none - 2, 40));
    }
  }
}

TEST_CASE("packed: a payload that is not what its shape says is not packed") {
  test::Rng rng(1);
  Sample sample = csr(ValueType::u8, 30, 40, 2, false, patterns()[1], rng);
  Sample wrong = sample;
  wrong.plain.pop_back();
  CHECK(packed::encode(wrong.shape, wrong.plain, Effort::fast).empty());
  wrong = sample;
  wrong.plain[0] = static_cast<std::byte>(std::to_integer<int>(wrong.plain[0]) + 1);
  CHECK(packed::encode(wrong.shape, wrong.plain, Effort::fast).empty());
  wrong = sample;
  wrong.plain[5] = std::byte{1};
  CHECK(packed::encode(wrong.shape, wrong.plain, Effort::fast).empty());
}

TEST_CASE("packed: truncated and changed payloads decode or throw corrupt inside of them") {
  test::Rng rng(8);
  std::vector<Sample> samples;
  for (const char* wanted : {"small", "few", "decimals", "bell", "one to two", "a walk"}) {
    for (const Pattern& pattern : patterns()) {
      if (std::string(pattern.name) != wanted) continue;
      samples.push_back(dense(ValueType::f64, 3, 70, pattern, rng));
      samples.push_back(csr(ValueType::i16, 12, 60, 3, false, pattern, rng));
      samples.push_back(coo(ValueType::f32, 90, 7, 150, pattern, rng));
    }
  }
  const auto decodes = [](const Sample& sample, const Bytes& packed) {
    try {
      static_cast<void>(decoded(sample.shape, packed));
    } catch (const Error& e) {
      CHECK(e.code() == Errc::corrupt);
      const std::uint64_t offset = e.offset().value_or(0);
      CHECK(offset >= 1000);
      CHECK(offset <= 1000 + packed.size());
      return false;
    }
    return true;
  };
  std::size_t tried = 0;
  for (const Sample& sample : samples) {
    for (const Effort effort : {Effort::fast, Effort::small}) {
      const Bytes packed = packed::encode(sample.shape, sample.plain, effort);
      if (packed.empty()) continue;
      ++tried;
      for (std::size_t n = 0; n < packed.size(); n += test::one_or_watched(7)) {
        CHECK(!decodes(sample, {packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(n)}));
      }
      Bytes longer = packed;
      longer.push_back(std::byte{0});
      CHECK(!decodes(sample, longer));
      for (std::size_t at = 0; at < packed.size(); at += test::one_or_watched(5)) {
        for (const int change : {1, 0x80, 0xFF}) {
          Bytes changed = packed;
          changed[at] ^= static_cast<std::byte>(change);
          static_cast<void>(decodes(sample, changed));
        }
      }
    }
  }
  CHECK(tried > samples.size());
}

TEST_CASE("packed: what a payload declares is compared before it is used") {
  Sample sample{{BlockKind::dense, ValueType::u16, 1, 24, 24}, {}};
  for (std::size_t i = 0; i < 24; ++i) put(sample.plain, i == 5 ? 363 : 200 + i % 2, 2);
  const Bytes packed = packed::encode(sample.shape, sample.plain, Effort::fast);
  const auto refused_at = [&](std::vector<std::pair<std::size_t, int>> changes) -> std::uint64_t {
    Bytes changed = packed;
    for (const auto& [at, value] : changes) changed.at(at) = static_cast<std::byte>(value);
    try {
      static_cast<void>(decoded(sample.shape, changed));
    } catch (const Error& e) {
      return e.offset().value_or(0) - 1000;
    }
    return ~std::uint64_t{0};
  };
  CHECK(refused_at({{0, 2}}) == 0);             // version
  CHECK(refused_at({{1, 2}}) == 1);             // layout
  CHECK(refused_at({{3, 1}}) == 2);             // reserved
  CHECK(refused_at({{4, 19}}) == 4);            // the stream's end
  CHECK(refused_at({{8, 7}}) == 8);             // encoding
  CHECK(refused_at({{9, 3}}) == 9);             // mode
  CHECK(refused_at({{9, 8}}) == 9);             // flags
  CHECK(refused_at({{10, 3}}) == 10);           // bytes of a base
  CHECK(refused_at({{13, 7}}) == 13);           // the piece's end
  CHECK(refused_at({{17, 17}}) == 17);          // bits
  CHECK(refused_at({{18, 25}}) == 17);          // exceptions
  CHECK(refused_at({{18, 0}}) == 17);           // bits of no exceptions
  CHECK(refused_at({{19, 16}}) == 17);          // bits of their rest
  CHECK(refused_at({{23, 24}}) == 17);          // place of an exception
  CHECK(refused_at({{18, 0}, {19, 0}}) == 23);  // a piece that is longer than its groups
}
