// Ordered categories that are put together.

#include <memory>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

using WordList = std::vector<std::string>;

/// A frame of one category, a row for each word, which are in order unless `unordered`.
Frame levels(const std::filesystem::path& path, const WordList& words, bool ordered = true) {
  auto dictionary = std::make_shared<detail::WordTable>();
  for (const std::string& word : words) dictionary->add(word);
  Column column{"level", ValueType::u8, {.kind = MeaningKind::category, .ordered = ordered}};
  column.meaning.words = dictionary;
  WriteOptions options;
  options.overwrite = true;
  options.sync = false;
  auto writer = FrameWriter::create(path, words.size(), {column}, options);
  std::vector<std::uint8_t> codes;
  for (std::size_t i = 0; i < words.size(); ++i) codes.push_back(static_cast<std::uint8_t>(i + 1));
  writer.put<std::uint8_t>({0, 0}, {codes.data(), static_cast<std::uint32_t>(codes.size()), 1});
  writer.finish();
  return Frame::open(path);
}

/// "low < mid < high", or "low, high" without an order.
std::string order_of(const Frame& frame) {
  const Meaning& meaning = frame.column_info(0).meaning;
  std::string text;
  for (std::uint64_t i = 0; i < meaning.words->size(); ++i) {
    if (i > 0) text += meaning.ordered ? " < " : ", ";
    text += (*meaning.words)[i];
  }
  return text;
}

std::string cells_of(const WordList& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

}  // namespace

TEST_CASE("word order: orders that agree become one, whichever part comes first") {
  const TempDir dir;
  const auto merged = [&](const WordList& a, const WordList& b) {
    std::string note;
    ConcatOptions options;
    options.note = [&](const std::string& text) { note = text; };
    const std::variant<Matrix, Frame> parts[] = {levels(dir / "a", a), levels(dir / "b", b)};
    const Frame whole = std::get<Frame>(concat(parts, dapple::Axis::rows, options));
    CHECK(as_csv(whole) == "level\n" + cells_of(a) + cells_of(b));
    CHECK(note.empty() == whole.column_info(0).meaning.ordered);
    return order_of(whole);
  };
  CHECK(merged({"lo", "hi"}, {"lo", "mid", "hi"}) == "lo < mid < hi");
  CHECK(merged({"lo", "mid", "hi"}, {"lo", "hi"}) == "lo < mid < hi");
  CHECK(merged({"lo", "hi"}, {"hi", "top"}) == "lo < hi < top");
  CHECK(merged({"hi", "top"}, {"lo", "hi"}) == "lo < hi < top");
  CHECK(merged({"lo", "hi"}, {"hi", "lo"}) == "lo, hi");
  CHECK(merged({"lo", "hi"}, {"lo", "mid"}) == "lo, hi, mid");  // is mid below hi?
  CHECK(merged({"a", "b"}, {"c", "d"}) == "a, b, c, d");
}

TEST_CASE("word order: a part without an order keeps that of the others if it has no other words") {
  const TempDir dir;
  const Frame ordered = levels(dir / "a", {"lo", "mid", "hi"});
  const auto with = [&](const WordList& words, bool first) {
    const Frame plain = levels(dir / "b", words, false);
    const std::variant<Matrix, Frame> parts[] = {first ? plain : ordered, first ? ordered : plain};
    return order_of(std::get<Frame>(concat(parts, dapple::Axis::rows)));
  };
  for (const bool first : {true, false}) CHECK(with({"hi", "lo"}, first) == "lo < mid < hi");
  CHECK(with({"hi", "top"}, false) == "lo, mid, hi, top");
}

TEST_CASE("word order: appended words come into the order of the file, or are refused") {
  const TempDir dir;
  const auto file = dir / "all.dbdf";
  levels(file, {"lo", "hi"});
  append(file, levels(dir / "b", {"lo", "mid", "hi"}));
  CHECK(order_of(Frame::open(file)) == "lo < mid < hi");
  CHECK(as_csv(Frame::open(file)) == "level\nlo\nhi\nlo\nmid\nhi\n");
  CHECK(verify(file, Level::payload).findings.empty());
  append(file, levels(dir / "b", {"hi"}));
  CHECK(order_of(Frame::open(file)) == "lo < mid < hi");
  const std::string before = read_text(file);
  for (const WordList& words : {WordList{"hi", "lo"}, WordList{"lo", "top"}}) {
    const auto error = error_of([&] { append(file, levels(dir / "b", words)); });
    CHECK(required_error(error).code() == Errc::invalid_argument);
    CHECK(error->detail() ==
          "column 'level': the parts do not agree on one order of all its words; concat puts them "
          "together without one");
  }
  CHECK(read_text(file) == before);
}
