// Data sets of frames: words and marks of missing cells that differ from part to part.

#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

const ConvertOptions kUnsynced{.write = {.sync = false}};

}  // namespace

TEST_CASE("dataset: a frame's words are those of all parts") {
  const TempDir folder;
  const auto set = folder / "set";
  std::vector<std::string> texts(4);
  std::string all = "name,n\n";
  for (int part = 0; part < 4; ++part) {
    std::string& text = texts[static_cast<std::size_t>(part)];
    for (int i = 0; i < 300; ++i) {
      // Words that parts share, words of their own, and so that codes need two bytes.
      const int word = i % 3 == 0 ? i : 1000 * part + i;
      text += "w" + std::to_string(word) + "," + std::to_string(part * 300 + i) + "\n";
    }
    all += text;
    write_text(folder / "part.csv", "name,n\n" + text);
    OpenOptions how;
    how.format_options = {{"csv.type", "name=category"}};
    dataset::append(set, open(folder / "part.csv", how), kUnsynced);
  }
  write_text(folder / "all.csv", all);
  OpenOptions how;
  how.format_options = {{"csv.type", "name=category"}};
  ConvertOptions options = kUnsynced;
  convert(open(folder / "all.csv", how), {}, folder / "all.dbdf", options);
  const Frame want = Frame::open(folder / "all.dbdf"), got = Frame::open(set);
  CHECK(got.rows() == 1200);
  convert(std::variant<Matrix, Frame>(got), {}, folder / "got.csv", options);
  convert(std::variant<Matrix, Frame>(want), {}, folder / "want.csv", options);
  CHECK(read_text(folder / "got.csv") == read_text(folder / "want.csv"));
  CHECK(verify(set, Level::payload).findings.empty());
  std::string state = read_text(set / "dataset-4");
  const std::size_t words = state.find("w0w1w2");
  REQUIRE(words != std::string::npos);
  state[words] = 'v';
  write_text(set / "dataset-4", state);
  const VerifyReport report = verify(set, Level::payload);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].file() == (set / "dataset-4").string());
}

TEST_CASE("dataset: a part of more words brings the first missing ones") {
  const TempDir folder;
  const auto set = folder / "set";
  std::string more;
  for (int i = 0; i < 300; ++i) more += "w" + std::to_string(i) + "\n";
  OpenOptions how;
  how.format_options = {{"csv.type", "name=category"}};
  for (const std::string& words : {std::string("a\nb\n"), more + "NA\n"}) {
    write_text(folder / "part.csv", "name\n" + words);
    dataset::append(set, open(folder / "part.csv", how), kUnsynced);
  }
  const Frame got = Frame::open(set);
  CHECK(got.column_info(0).meaning.missing == kMissingCode);
  convert(std::variant<Matrix, Frame>(got), {}, folder / "got.csv", kUnsynced);
  CHECK(read_text(folder / "got.csv") == "name\na\nb\n" + more + "NA\n");
}

TEST_CASE("dataset: a frame of more columns than rows keeps the words of the last one") {
  const TempDir folder;
  const auto set = folder / "set";
  std::string all = "a,b,c,d,e,word\n";
  for (const std::string word : {"x", "y", "x", "z"}) {
    write_text(folder / "part.csv", "a,b,c,d,e,word\n1,2,3,4,5," + word + "\n");
    dataset::append(set, open(folder / "part.csv"), kUnsynced);
    all += "1,2,3,4,5," + word + "\n";
  }
  convert(open(set), {}, folder / "got.csv", kUnsynced);
  CHECK(read_text(folder / "got.csv") == all);
}

TEST_CASE("dataset: equal words of a part stay apart when others join them") {
  const TempDir folder;
  const auto set = folder / "set";
  const auto append = [&](std::vector<std::string> words) {
    Column column{"x", ValueType::u8};
    column.meaning.kind = MeaningKind::category;
    column.meaning.words = detail::listed_dictionary(words);
    std::vector<std::uint8_t> codes(words.size());
    std::iota(codes.begin(), codes.end(), std::uint8_t{1});
    auto writer = FrameWriter::create(folder / "part.dbdf", codes.size(), {column},
                                      {.overwrite = true, .sync = false});
    writer.put<std::uint8_t>({0, 0}, {codes.data(), static_cast<std::uint32_t>(codes.size()), 1});
    writer.finish();
    dataset::append(set, open(folder / "part.dbdf"), kUnsynced);
  };
  append({"a", "a", "b"});
  append({"c"});
  append({"b", "d", "b"});
  append({"a", "b"});
  convert(std::variant<Matrix, Frame>(Frame::open(set)), {}, folder / "got.csv", kUnsynced);
  CHECK(read_text(folder / "got.csv") == "x\na\na\nb\nc\nb\nd\nb\na\nb\n");
}

TEST_CASE("dataset: words in sparse blocks are those of dense ones") {
  for (const std::uint32_t cols : {1U, 3U}) {
    std::vector<std::string> texts;
    for (const KindChoice kind : {KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
      const TempDir folder;
      ConvertOptions options = kUnsynced;
      options.write.kind = kind;
      for (const std::string first : {"a", "b"}) {
        std::vector<Column> columns;
        for (std::uint32_t c = 0; c < cols; ++c) {
          columns.push_back({"w" + std::to_string(c), ValueType::u8});
          columns[c].meaning = {.kind = MeaningKind::category, .missing = kMissingCode};
          columns[c].meaning.words = detail::listed_dictionary({first, "c", "d" + first});
        }
        auto writer = FrameWriter::create(folder / "part.dbdf", 50, columns, {.overwrite = true});
        std::vector<std::uint8_t> codes(std::size_t{50} * cols);
        for (std::size_t i = 0; i < codes.size(); i += 7) {
          codes[i] = static_cast<std::uint8_t>(1 + i % 3);
        }
        writer.put_region<std::uint8_t>({0, 0}, {codes.data(), 50, cols});
        writer.finish();
        dataset::append(folder / "set", open(folder / "part.dbdf"), options);
      }
      const Frame set = Frame::open(folder / "set");
      CHECK(set.counts().dense == (kind == KindChoice::dense ? 2 : 0));
      CHECK(set.counts().coo == (kind == KindChoice::coo ? 2 : 0));
      convert(std::variant<Matrix, Frame>(set), {}, folder / "got.csv", kUnsynced);
      texts.push_back(read_text(folder / "got.csv"));
      CHECK(verify(folder / "set", Level::payload).findings.empty());
    }
    CHECK(texts[0].find("db") != std::string::npos);
    CHECK(texts[1] == texts[0]);
    CHECK(texts[2] == texts[0]);
  }
}

TEST_CASE("dataset: a cell that is the mark of missing ones in the data set is not made missing") {
  const TempDir folder;
  const auto part = [&](std::vector<std::int16_t> cells, ValueType type,
                        std::optional<std::uint64_t> mark) {
    Column column{"x", type};
    column.meaning.missing = mark;
    auto writer = FrameWriter::create(folder / "part.dbdf", cells.size(), {column},
                                      {.overwrite = true, .sync = false});
    writer.put<std::int16_t>({0, 0}, {cells.data(), static_cast<std::uint32_t>(cells.size()), 1});
    writer.finish();
    return open(folder / "part.dbdf");
  };
  // As another program writes it, with its own marks.
  const auto append_own = [&](const std::filesystem::path& set, std::vector<std::int16_t> cells,
                              ValueType type, std::uint64_t mark) {
    const std::string name = "part-" + std::string(32, 'a') + ".dbdf";
    part(std::move(cells), type, mark);
    std::filesystem::copy_file(folder / "part.dbdf", set / name);
    dataset::append(set, dataset::find_part(set, name, {0, 0}), {.below = true, .sync = false});
  };
  const std::uint64_t bits = 0x8000;  // -32768, and as u16 32768
  for (const ValueType type : {ValueType::i16, ValueType::u8}) {
    const int mark = type == ValueType::i16 ? -32768 : 255;
    const auto set = folder / dapple::name(type);
    dataset::append(set, part({7, static_cast<std::int16_t>(mark)}, type, mark < 0 ? bits : 255),
                    kUnsynced);
    const Error error = required_error(error_of([&] {
      dataset::append(set, part({1, static_cast<std::int16_t>(mark)}, type, {}), kUnsynced);
    }));
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(error.detail().find("holds " + std::to_string(mark) + ", which marks missing") !=
          std::string::npos);
    dataset::append(set, part({1, 0}, type, {}), kUnsynced);  // narrow or not, none is the mark
    if (type == ValueType::i16) dataset::append(set, part({-128}, ValueType::i8, {}), kUnsynced);
    const Frame all = Frame::open(set);
    CHECK(count_where(all, Expression("x", ColumnCondition::missing())) == 1);
  }
  // A mark that comes later is no cell of the parts before, stored narrower or not.
  const auto later = folder / "later";
  dataset::append(later, part({1, 100}, ValueType::i16, {}), kUnsynced);
  dataset::append(later, part({-128, 127}, ValueType::i8, {}), kUnsynced);
  CHECK(required_error(error_of([&] {
          append_own(later, {1, -128}, ValueType::i8, 0x80);
        }))
            .detail()
            .find("holds -128, which marks missing cells in ") != std::string::npos);
  // Such marks become another number.
  dataset::append(later, part({1, -128}, ValueType::i8, 0x80), kUnsynced);
  dataset::append(later, part({1, -32768}, ValueType::i16, bits), kUnsynced);
  CHECK(Frame::open(later).column_info(0).meaning.missing == bits);
  CHECK(count_where(Frame::open(later), Expression("x", ColumnCondition::missing())) == 2);
  // Marks are the same when they are one number, whatever its bits are in either type.
  dataset::append(folder / "over", part({7, 128}, ValueType::i16, 128), kUnsynced);
  CHECK(required_error(error_of([&] {
          append_own(folder / "over", {1, -128}, ValueType::i8, 0x80);
        })).code() == Errc::invalid_argument);
  dataset::append(folder / "under", part({7, -128}, ValueType::i16, 0xff80), kUnsynced);
  dataset::append(folder / "under", part({1, -128}, ValueType::i8, 0x80), kUnsynced);
  CHECK(count_where(Frame::open(folder / "under"), Expression("x", ColumnCondition::missing())) ==
        2);
}

TEST_CASE("dataset: columns of a part become those of the data set, where that loses nothing") {
  const TempDir folder;
  const auto column_of = [&](const std::string& first, const std::string& second) {
    const auto set = folder / "set";
    std::filesystem::remove_all(set);
    for (const std::string& cells : {first, second}) {
      write_text(folder / "part.csv", "k,x\n" + cells);
      dataset::append(set, open(folder / "part.csv"), kUnsynced);
    }
    CHECK(verify(set, Level::payload).findings.empty());
    std::filesystem::remove(folder / "got.csv");
    convert(std::variant<Matrix, Frame>(Frame::open(set)), {}, folder / "got.csv", kUnsynced);
    CHECK(read_text(folder / "got.csv") == "k,x\n" + first + second);
    return Frame::open(set).column_info(1);
  };
  const auto is = [](const Column& column, ValueType type, bool missing) {
    return column.value_type == type && column.meaning.missing.has_value() == missing;
  };
  CHECK(is(column_of("1,1.5\n2,\n", "3,3\n4,4\n"), ValueType::f64, true));
  CHECK(is(column_of("1,1.5\n2,2.5\n", "3,3\n4,4\n"), ValueType::f64, false));
  CHECK(is(column_of("1,1\n2,2\n", "3,3\n4,\n"), ValueType::i64, true));
  CHECK(is(column_of("1,1\n2,2\n", "3,\n4,\n"), ValueType::i64, true));
  CHECK(is(column_of("1,18446744073709551614\n2,2\n", "3,3\n"), ValueType::u64, false));
  CHECK(is(column_of("1,true\n2,false\n", "3,\n4,\n"), ValueType::u8, true));
  CHECK(is(column_of("1,a\n2,b\n", "3,\n4,\n"), ValueType::u8, true));
  CHECK(is(column_of("1,2024-01-01T10:00:00.001\n2,\n", "3,\n4,\n"), ValueType::i64, true));
  // Refused, and not rounded.
  const auto refused = [&](const std::string& first, const std::string& second) {
    return required_error(error_of([&] { column_of(first, second); })).code() ==
           Errc::invalid_argument;
  };
  CHECK(refused("1,1\n2,2\n", "3,3.5\n4,4\n"));
  CHECK(refused("1,1.5\n", "3,9007199254740993\n"));
  CHECK(refused("1,2024-01-01\n", "3,2024-01-01T10:00:00\n"));
  CHECK(refused("1,18446744073709551615\n", "3,\n"));
}
