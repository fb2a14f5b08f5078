#include <zstd.h>

#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/codec/packed_words.h"
#include "lib/object/dictionary.h"
#include "lib/object/lazy_words.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::TempDir;

namespace {

using Cells = std::vector<std::optional<std::string_view>>;

/// Cities as words, ages with a mark, ids that are never missing.
Frame cities(const TempDir& dir) {
  DictionaryBuilder builder;
  std::vector<std::uint8_t> codes;
  for (const auto word : {"Oslo", "", "Bergen", "Oslo"}) {
    codes.push_back(static_cast<std::uint8_t>(builder.add(word)));
  }
  codes.push_back(kMissingCode);
  CHECK(builder.size() == 3);
  CHECK(builder.code_type() == ValueType::u8);
  Column city{"city", builder.code_type(), {.kind = MeaningKind::category}};
  city.meaning.words = builder.finish();
  CHECK(builder.size() == 0);
  Column age{"age", ValueType::i16, {.missing = usual_mark(ValueType::i16)}};
  auto w = FrameWriter::create(dir / "f.dbdf", 5, {city, age, {"id", ValueType::f64}});
  const std::vector<std::int16_t> ages = {3, std::numeric_limits<std::int16_t>::min(), 0, -1, 7};
  const std::vector<double> ids = {1, 2, 3, 4, 5};
  w.put_region<std::uint8_t>({0, 0}, {codes.data(), 5, 1});
  w.put_region<std::int16_t>({0, 1}, {ages.data(), 5, 1});
  w.put_region<double>({0, 2}, {ids.data(), 5, 1});
  w.finish();
  return Frame::open(dir / "f.dbdf");
}

}  // namespace

TEST_CASE("words: a column is written and read as words, and missing cells are told") {
  const TempDir dir;
  const Frame f = cities(dir);
  CHECK(f.read_words(0, {0, 5}) == Cells{"Oslo", "", "Bergen", "Oslo", std::nullopt});
  CHECK(f.read_words(0, {2, 3}) == Cells{"Bergen"});
  CHECK(f.read_words(0, {5, 5}).empty());
  using Valid = std::vector<std::uint8_t>;
  CHECK(f.read_valid(0, {0, 5}) == Valid{1, 1, 1, 1, 0});
  CHECK(f.read_valid(1, {0, 5}) == Valid{1, 0, 1, 1, 1});
  CHECK(f.read_valid(2, {1, 4}) == Valid{1, 1, 1});
}

TEST_CASE("words: of a column that has none, or outside, there are none") {
  const TempDir dir;
  const Frame f = cities(dir);
  const auto told = [](const auto& g) {
    return test::told(test::required_error(test::error_of(g)));
  };
  CHECK(told([&] {
          f.read_words(1, {0, 1});
        }) == "type_mismatch: column 'age' holds no words: it is a number column");
  CHECK(told([&] { f.read_words(0, {0, 6}); }).starts_with("out_of_range: "));
  CHECK(told([&] { f.read_valid(3, {0, 1}); }).starts_with("out_of_range: "));
}

namespace {

/// Two words, of which one gets `more` characters at each look after the first `looks`.
class Growing final : public Dictionary {
 public:
  Growing(int looks, int more) : looks_(looks), more_(more) {}
  std::uint64_t size() const noexcept override { return 2; }
  std::string_view operator[](std::uint64_t i) const override {
    if (i == 1 && looks_-- <= 0) length_ += more_;
    return std::string_view(kText).substr(0, static_cast<std::size_t>(i == 0 ? 3 : length_));
  }

 private:
  static constexpr const char* kText = "words that are not what they were before";
  mutable int looks_, length_ = 20;
  int more_;
};

}  // namespace

TEST_CASE("words: that change while they are written are an error") {
  const TempDir dir;
  int refused = 0;
  for (const int looks : {0, 1, 2, 3, 4, 5}) {
    for (const int more : {-3, 3}) {
      Column city{"city", ValueType::u8, {.kind = MeaningKind::category}};
      city.meaning.words = std::make_shared<Growing>(looks, more);
      const auto error = test::error_of([&] {
        const std::uint8_t codes[] = {1, 2};
        auto w = FrameWriter::create(dir / "g.dbdf", 2, {city}, {.overwrite = true});
        w.put_region<std::uint8_t>({0, 0}, {codes, 2, 1});
        w.finish();
      });
      refused += error ? 1 : 0;
      if (error) {
        CHECK(test::told(*error) ==
              "io: the words of a dictionary changed while they were written");
      } else {
        const Frame f = Frame::open(dir / "g.dbdf");
        CHECK(f.read_words(0, {0, 1}) == Cells{"wor"});
      }
    }
  }
  CHECK(refused >= 2);
}

namespace {

/// Gets another word each time that somebody reads the first one.
class Longer final : public Dictionary {
 public:
  std::uint64_t size() const noexcept override { return size_; }
  std::string_view operator[](std::uint64_t i) const override {
    if (i == 0) ++size_;
    return std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZ").substr(i, 1);
  }

 private:
  mutable std::uint64_t size_ = 2;
};

}  // namespace

TEST_CASE("words: that come while the others are written are left for later") {
  const TempDir dir;
  Column letter{"letter", ValueType::u8, {.kind = MeaningKind::category}};
  letter.meaning.words = std::make_shared<Longer>();
  const std::uint8_t codes[] = {1, 2};
  auto w = FrameWriter::create(dir / "g.dbdf", 2, {letter});
  w.put_region<std::uint8_t>({0, 0}, {codes, 2, 1});
  w.finish();
  const Frame f = Frame::open(dir / "g.dbdf");
  CHECK(f.read_words(0, {0, 2}) == Cells{"A", "B"});
  const Dictionary& words = *f.column_info(0).meaning.words;
  CHECK(words[words.size() - 1].size() == 1);
}

namespace {

/// Claims words that it does not have, as a damaged file may.
class Damaged final : public Dictionary {
 public:
  std::uint64_t size() const noexcept override { return std::uint64_t{1} << 40; }
  std::string_view operator[](std::uint64_t) const override {
    throw Error(Errc::corrupt, "there are no words");
  }
};

}  // namespace

TEST_CASE("words: of a damaged dictionary are an error before memory is taken for them") {
  detail::WordTable table;
  CHECK(test::told(test::required_error(test::error_of([&] { table.add(Damaged()); }))) ==
        "corrupt: there are no words");
}

namespace {

/// Words of a file that cannot be read at first, or is damaged.
class Unread final : public detail::LazyWords {
 public:
  explicit Unread(Errc code) : code_(code) {}
  int reads() const { return reads_; }

 private:
  void read_all(detail::WordTable& words, std::vector<std::uint32_t>& codes) const override {
    codes.push_back(words.add("a"));
    if (++reads_ <= 2) throw Error(code_, "read " + std::to_string(reads_));
    codes.push_back(words.add("b"));
  }
  Errc code_;
  mutable int reads_ = 0;
};

}  // namespace

TEST_CASE("words: that cannot be read are an error each time, and read again unless damaged") {
  const auto told_size = [](const Dictionary& words) {
    return test::told(test::required_error(test::error_of([&] { words.size(); })));
  };
  const Unread away(Errc::io), damaged(Errc::corrupt);
  for (const std::string read : {"1", "2"}) {
    CHECK(told_size(away) == "io: read " + read);
    CHECK(told_size(damaged) == "corrupt: read 1");
  }
  CHECK(away.size() == 2);
  CHECK(away.codes().size() == 2);
  CHECK(away[1] == "b");
  CHECK(away.reads() == 3);
  CHECK(test::error_of([&] { damaged.codes(); }).has_value());
  CHECK(damaged.reads() == 1);
}

TEST_CASE("words: a frame of fewer bytes than the words have is damaged") {
  // The lengths of two words, and the words.
  const char content[] = {2, 0, 0, 0, 1, 0, 0, 0, 'a', 'b', 'c'};
  std::vector<std::byte> offsets(24), words(3);
  const auto unpacks = [&](std::size_t n) {
    std::vector<std::byte> frame(ZSTD_compressBound(n));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), content, n, 1));
    return detail::unpack_words(frame, offsets, words);
  };
  CHECK(unpacks(sizeof content));
  CHECK(detail::load_le<std::uint64_t>(offsets.data() + 16) == 3);
  CHECK(words[2] == std::byte{'c'});
  CHECK_FALSE(unpacks(sizeof content - 1));
}
