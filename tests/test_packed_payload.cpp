// The loops that unpack, one for each set of instructions; and packed payloads from strangers,
// which decode or throw.

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dapple/error.h"
#include "lib/codec/packed/packed_block.h"
#include "tests/check.h"
#include "tests/packed_samples.h"
#include "tests/support.h"

namespace dapple::test::packing {

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

TEST_CASE("packed: an entry beside its block is corrupt") {
  test::Rng rng(9);
  const Sample sample = coo(ValueType::u8, 90, 7, 150, patterns()[1], rng);  // the last row, too
  const Bytes packed = packed::encode(sample.shape, sample.plain, Effort::small);
  REQUIRE(!packed.empty());
  CHECK(decoded(sample.shape, packed) == sample.plain);
  for (const bool rows : {true, false}) {
    Shape smaller = sample.shape;
    --(rows ? smaller.rows : smaller.cols);
    const auto error = error_of([&] { static_cast<void>(decoded(smaller, packed)); });
    REQUIRE(error);
    CHECK(error->detail() == "an entry of a packed block is outside of it (R5)");
  }
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
      for (std::size_t n = 0; n < packed.size(); n += test::one_of(7)) {
        CHECK(!decodes(sample, {packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(n)}));
      }
      Bytes longer = packed;
      longer.push_back(std::byte{0});
      CHECK(!decodes(sample, longer));
      for (std::size_t at = 0; at < packed.size(); at += test::one_of(5)) {
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

}  // namespace dapple::test::packing
