// Dictionaries of a part of a frame: only words of the rows that are taken.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::as_csv, test::read_text, test::TempDir, test::write_text;

namespace {

constexpr std::uint32_t kWordRows = 600;

std::vector<std::string> numbered_words(const char* stem) {
  std::vector<std::string> words;
  for (std::uint32_t i = 0; i < kWordRows; ++i) words.push_back(stem + std::to_string(i));
  return words;
}

Column words_column(const char* label, MeaningKind kind, bool ordered,
                    std::shared_ptr<const Dictionary> words) {
  Column column{label, ValueType::u16, {}};
  column.meaning.kind = kind;
  column.meaning.ordered = ordered;
  column.meaning.missing = kMissingCode;
  column.meaning.words = std::move(words);
  return column;
}

/// A text, two categories that share their words, an ordered one, and numbers; one cell is missing.
Frame words_sample(const TempDir& dir) {
  const auto shared = detail::listed_dictionary(numbered_words("c"));
  const std::vector<Column> columns = {
      words_column("t", MeaningKind::text, false, detail::listed_dictionary(numbered_words("t"))),
      words_column("c", MeaningKind::category, false, shared),
      words_column("d", MeaningKind::category, false, shared),
      words_column("o", MeaningKind::category, true,
                   detail::listed_dictionary(numbered_words("o"))),
      {"n", ValueType::u16}};
  WriteOptions options;
  options.tile = TileShape{250, 5};
  auto writer = FrameWriter::create(dir / "f.dbdf", kWordRows, columns, options);
  for (std::uint32_t row = 0; row < kWordRows; row += 250) {
    std::vector<std::uint16_t> cells;
    const std::uint32_t rows = std::min(250U, kWordRows - row);
    for (std::uint32_t r = row; r < row + rows; ++r) {
      const auto code = static_cast<std::uint16_t>(r + 1);
      cells.insert(cells.end(), {r == 402 ? std::uint16_t{0} : code, code,
                                 static_cast<std::uint16_t>(kWordRows - r), code, code});
    }
    writer.put<std::uint16_t>({row, 0}, {cells.data(), rows, 5});
  }
  writer.finish();
  return Frame::open(dir / "f.dbdf");
}

Frame written_part(const TempDir& dir, const Frame& frame, const Selection& part,
                   const ConvertOptions& options = {}) {
  std::filesystem::remove(dir / "part.dbdf");
  convert(frame, part, dir / "part.dbdf", options);
  return Frame::open(dir / "part.dbdf");
}

std::vector<std::string> listed_words(const Frame& frame, std::uint64_t col) {
  std::vector<std::string> words;
  const Dictionary& all = *frame.column_info(col).meaning.words;
  for (std::uint64_t i = 0; i < all.size(); ++i) words.emplace_back(all[i]);
  return words;
}

}  // namespace

TEST_CASE("part of a frame: words of other rows are not in the file") {
  const TempDir dir;
  const Frame whole = words_sample(dir);
  for (const unsigned threads : {1U, 4U}) {
    ConvertOptions options;
    options.threads = threads;
    const Frame part = written_part(dir, whole, {.rows = Range{401, 404}}, options);
    CHECK(as_csv(part) ==
          "t,c,d,o,n\nt401,c401,c198,o401,402\n,c402,c197,o402,403\n"
          "t403,c403,c196,o403,404\n");
    CHECK(listed_words(part, 0) == std::vector<std::string>{"t401", "t403"});
    // In their old order, and shared as before.
    CHECK(listed_words(part, 1) ==
          std::vector<std::string>{"c196", "c197", "c198", "c401", "c402", "c403"});
    CHECK(listed_words(part, 2) == listed_words(part, 1));
    CHECK(part.column_info(0).value_type == ValueType::u8);
    CHECK(read_text(dir / "part.dbdf").find("t400") == std::string::npos);
    // An order is a scale, whether all of it occurs or not.
    CHECK(listed_words(part, 3).size() == kWordRows);
    CHECK(verify(dir / "part.dbdf", Level::payload).findings.empty());
  }
}

TEST_CASE("part of a frame: chosen columns, no rows, and a range of all rows") {
  const TempDir dir;
  const Frame whole = words_sample(dir);
  const Frame two =
      written_part(dir, whole, {.rows = Range{0, 2}, .cols = std::vector<std::uint64_t>{4, 1, 1}});
  CHECK(as_csv(two) == "n,c,c\n1,c0,c0\n2,c1,c1\n");
  CHECK(listed_words(two, 1) == std::vector<std::string>{"c0", "c1"});
  const Frame none = written_part(dir, whole, {.rows = Range{5, 5}});
  CHECK(none.rows() == 0);
  CHECK(listed_words(none, 0).empty());
  for (const Selection& all : {Selection{}, Selection{.rows = Range{0, kWordRows}}}) {
    const Frame same = written_part(dir, whole, all);
    CHECK(listed_words(same, 0).size() == kWordRows);
    CHECK(same.column_info(0) == whole.column_info(0));
  }
}

TEST_CASE("part of a frame: the words of other formats are shortened, too") {
  const TempDir dir;
  write_text(dir / "t.csv", "w,n\nb,1\nc,2\na,3\nc,4\n");
  const Frame part = written_part(dir, Frame::open(dir / "t.csv"), {.rows = Range{1, 4}});
  CHECK(as_csv(part) == "w,n\nc,2\na,3\nc,4\n");
  CHECK(listed_words(part, 0) == std::vector<std::string>{"c", "a"});
}
