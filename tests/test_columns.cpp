#include <string>
#include <vector>

#include "dapple/column.h"
#include "dapple/error.h"
#include "dapple/frame.h"
#include "dapple/verify.h"
#include "dapple/writer.h"
#include "lib/base/bytes.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/hints.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/object/dictionary.h"
#include "lib/object/label_search.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail;
using namespace dapple::test;

namespace {

std::shared_ptr<const Dictionary> words(const std::vector<std::string>& list) {
  auto table = std::make_shared<WordTable>();
  for (const std::string& word : list) table->add(word);
  return table;
}

std::vector<Column> sample_columns() {
  std::vector<Column> columns = {{"x", ValueType::f32}, {"name", ValueType::u8}};
  columns[1].meaning.kind = MeaningKind::category;
  columns[1].meaning.missing = kMissingCode;
  columns[1].meaning.words = words({"Ann", "", "B\xc3\xb6rge", "a,\"b\"\n"});
  columns.push_back({"when", ValueType::i64});
  columns[2].meaning.kind = MeaningKind::timestamp;
  columns[2].meaning.unit = TimeUnit::microsecond;
  columns[2].meaning.zone = "Europe/Berlin";
  columns[2].meaning.missing = kMissingTick;
  columns.push_back({"ok", ValueType::u8});
  columns[3].meaning.kind = MeaningKind::boolean;
  columns.push_back({"y", ValueType::f64});
  columns[4].meaning.missing = kMissingF64;
  columns.push_back({"none", ValueType::u16});
  columns[5].meaning.kind = MeaningKind::text;
  columns[5].meaning.words = words({});
  return columns;
}

std::vector<Column> without_meanings(std::vector<Column> columns) {
  for (Column& column : columns) column.meaning = {};
  return columns;
}

/// Reads a payload back from a file where it starts at byte `at`.
std::vector<Column> read_back(const TempDir& folder, const std::vector<std::byte>& payload,
                              std::vector<Column> columns, std::uint64_t at = 24) {
  std::vector<std::byte> bytes(at);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  write_bytes(folder / "columns", bytes);
  const auto file = LocalFile::open((folder / "columns").string());
  detail::Schema schema;
  schema.kind = detail::ObjectKind::frame;
  schema.cols = columns.size();
  schema.columns = std::move(columns);
  dbdf::read_columns(file, at, payload.size(), schema);
  return schema.columns;
}

}  // namespace

TEST_CASE("columns: meanings come back as they were, and plain numbers need none") {
  const TempDir folder;
  const std::vector<Column> columns = sample_columns();
  CHECK(dbdf::emit_columns(without_meanings(columns)).empty());
  const auto payload = dbdf::emit_columns(columns);
  CHECK(payload.size() % 8 == 0);
  CHECK(read_back(folder, payload, without_meanings(columns)) == columns);
}

TEST_CASE("columns: in tall tiles a column with a dictionary has a strip of its own") {
  const TempDir folder;
  std::vector<Column> columns;
  for (const char* label : {"a", "b", "size", "c", "d"}) columns.push_back({label, ValueType::u8});
  columns[2].meaning.kind = MeaningKind::category;
  columns[2].meaning.words = words({"large", "small"});
  columns[4].meaning.kind = MeaningKind::boolean;
  const auto strips = [&](std::uint32_t tile_rows) {
    WriteOptions options;
    options.tile = TileShape{tile_rows, 5};
    return FrameWriter::create(folder / "f", 10000, columns, options).column_strips();
  };
  CHECK(strips(4096) == std::vector<Range>{{0, 2}, {2, 3}, {3, 5}});
  CHECK(strips(4095) == std::vector<Range>{{0, 5}});
}

TEST_CASE("columns: groups come back, beside meanings and alone") {
  const TempDir folder;
  const auto group =
      std::make_shared<ColumnGroup>(ColumnGroup{"v", 2, listed_dictionary({"a", ""})});
  auto columns = sample_columns();
  for (std::uint64_t slot = 0; slot < 2; ++slot) {
    columns.push_back({"v" + std::to_string(slot), ValueType::f32, {}, group, slot});
  }
  const auto unnamed = std::make_shared<ColumnGroup>(ColumnGroup{"", 1});
  columns.push_back({"w", ValueType::f32, {}, unnamed, 0});
  auto plain = without_meanings(columns);
  for (Column& column : plain) column.group = nullptr;
  const auto back = read_back(folder, dbdf::emit_columns(columns), plain);
  CHECK(back == columns);
  CHECK(back[6].group == back[7].group);
  CHECK(back[6].group->label(0) == "a");
  CHECK(back[6].group->label(1) == "v.1");
  CHECK(back != plain);
  columns = without_meanings(columns);
  CHECK(read_back(folder, dbdf::emit_columns(columns), plain) == columns);
  columns.erase(columns.begin() + 6);  // what is left of a group is none
  columns.pop_back();
  CHECK(dbdf::emit_columns(columns).empty());
}

TEST_CASE("columns: packed words come back, and shared ones once") {
  const TempDir folder;
  std::vector<std::string> list;
  for (int i = 0; i < 3000; ++i) list.push_back(i % 7 == 0 ? "" : "word " + std::to_string(i / 2));
  std::vector<Column> columns = sample_columns();
  for (const char* label : {"a", "b"}) {
    columns.push_back({label, ValueType::u16});
    columns.back().meaning.kind = MeaningKind::text;
    columns.back().meaning.words =
        label[0] == 'a' ? listed_dictionary(list) : columns[6].meaning.words;
  }
  const auto plain = dbdf::emit_columns(columns);
  const auto payload = dbdf::emit_columns(columns, dbdf::WordsAs::packed);
  CHECK(payload.size() < plain.size() / 4);
  CHECK(payload[8] == std::byte{3});
  const auto back = read_back(folder, payload, without_meanings(columns));
  CHECK(back == columns);
  CHECK(back[6].meaning.words == back[7].meaning.words);
  CHECK(back[6].meaning.words->size() == 3000);
  CHECK((*back[6].meaning.words)[2999] == list[2999]);
  CHECK_THROWS_AS((void)(*back[6].meaning.words)[3000], const Error&);
  // Few words stay as they are.
  CHECK(dbdf::emit_columns(sample_columns(), dbdf::WordsAs::packed) ==
        dbdf::emit_columns(sample_columns()));
}

TEST_CASE("columns: damaged packed words are corrupt, at once or where they are read") {
  const TempDir folder;
  std::vector<std::string> list;
  for (int i = 0; i < 2000; ++i) list.push_back("word " + std::to_string(i));
  std::vector<Column> columns = {{"a", ValueType::u16}};
  columns[0].meaning.kind = MeaningKind::text;
  columns[0].meaning.words = listed_dictionary(list);
  const auto payload = dbdf::emit_columns(columns, dbdf::WordsAs::packed);
  const auto table = load_le<std::uint64_t>(payload.data() + 16);
  const auto read = [&](const std::vector<std::byte>& bytes) {
    return error_of([&] {
      const auto back = read_back(folder, bytes, without_meanings(columns));
      for (std::uint64_t i = 0; i < 2000; ++i) {
        if ((*back[0].meaning.words)[i] != list[i]) throw Error(Errc::io, "another word");
      }
    });
  };
  for (std::size_t at = table; at < payload.size() - 8; at += 5) {
    auto bytes = payload;
    bytes[at] ^= std::byte{0x20};
    CAPTURE(at);
    const auto error = read(bytes);
    // A frame may be changed where nothing depends on it; then the words are the same.
    if (error) CHECK(error->code() == Errc::corrupt);
  }
  // More words, or longer ones, than a frame of this size may hold.
  for (const std::size_t field : {24, 40}) {
    auto bytes = payload;
    store_le(bytes.data() + 32 + field, std::uint64_t{1} << 62);
    const std::span<const std::byte> all(bytes);
    store_le(bytes.data() + 24, xxh3(all.first(table).subspan(32), xxh3(all.first(24))));
    const auto error = read(bytes);
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
  }
}

TEST_CASE("columns: groups that contradict themselves are refused") {
  const TempDir folder;
  const auto refused = [&](const ColumnGroup& group, std::size_t field, std::uint64_t value) {
    const auto shared = std::make_shared<ColumnGroup>(group);
    const std::vector<Column> columns = {{"a", ValueType::u8, {}, shared, 0},
                                         {"b", ValueType::u8, {}, shared, 1}};
    auto payload = dbdf::emit_columns(columns);
    store_le(payload.data() + 32 + field, value);
    const auto table = load_le<std::uint64_t>(payload.data() + 16);
    const std::span<const std::byte> bytes(payload);
    store_le(payload.data() + 24, xxh3(bytes.first(table).subspan(32), xxh3(bytes.first(24))));
    const auto error = error_of([&] {
      const auto back = read_back(folder, payload, std::vector<Column>(2));
      static_cast<void>(back[0].group->slot_name(0));
    });
    return error && error->code() == Errc::corrupt;
  };
  const ColumnGroup named{"v", 2, listed_dictionary({"a", "b"})};
  CHECK_FALSE(refused(named, 0, 0));
  CHECK(refused(named, 0, 1));  // one column further
  CHECK(refused(named, 0, ~0ULL));
  CHECK(refused(named, 8, 7));   // another kind
  CHECK(refused(named, 16, 3));  // more columns than there are
  CHECK(refused(named, 16, 0));
  CHECK(refused(named, 24, 1));          // fewer names than slots
  CHECK(refused(named, 32, ~0ULL - 7));  // names outside
  CHECK(refused(named, 48, 1));          // another hash of the names
  CHECK(refused(named, 56, ~0ULL));      // name outside
  CHECK_THROWS_AS(refused({"v", 2, listed_dictionary({"a"})}, 0, 0), const Error&);
  CHECK_THROWS_AS(refused({std::string(65536, 'v'), 2}, 0, 0), const Error&);
}

TEST_CASE("columns: every changed byte is an error, or changes no meaning and no word") {
  const TempDir folder;
  const std::vector<Column> columns = sample_columns();
  const auto payload = dbdf::emit_columns(columns);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    auto changed = payload;
    changed[i] ^= std::byte{0x10};
    try {
      const bool same = read_back(folder, changed, without_meanings(columns)) == columns;
      CHECK(same);
    } catch (const Error& e) {
      CHECK(e.code() == Errc::corrupt);
      ++refused;
    }
  }
  CHECK(refused > payload.size() * 3 / 4);
}

TEST_CASE("columns: a payload that is cut off anywhere is refused") {
  const TempDir folder;
  const std::vector<Column> columns = sample_columns();
  const auto payload = dbdf::emit_columns(columns);
  for (std::size_t size = 0; size + 8 < payload.size(); size += 8) {
    const std::vector<std::byte> cut(payload.begin(),
                                     payload.begin() + static_cast<std::ptrdiff_t>(size));
    CAPTURE(size);
    CHECK_THROWS_AS(read_back(folder, cut, without_meanings(columns)), const Error&);
  }
}

TEST_CASE("columns: a meaning must fit the value type that stores it") {
  std::vector<Column> columns = {{"ok", ValueType::f64}};
  columns[0].meaning.kind = MeaningKind::boolean;
  CHECK_THROWS_AS(dbdf::emit_columns(columns), const Error&);
  columns[0].meaning.kind = MeaningKind::category;
  columns[0].value_type = ValueType::u8;
  CHECK_THROWS_AS(dbdf::emit_columns(columns), const Error&);  // no words
  std::vector<std::string> many(300);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::to_string(i);
  columns[0].meaning.words = words(many);
  CHECK_THROWS_AS(dbdf::emit_columns(columns), const Error&);  // codes beyond u8
  columns[0].value_type = ValueType::u16;
  CHECK_NOTHROW(dbdf::emit_columns(columns));
}

TEST_CASE("dictionary: a word has one code, whatever else is added") {
  WordTable table;
  std::vector<std::string> list;
  for (int i = 0; i < 20000; ++i) list.push_back("w" + std::to_string(i * 7919 % 20011));
  for (std::size_t i = 0; i < list.size(); ++i) CHECK(table.add(list[i]) == i + 1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    REQUIRE(table.add(list[i]) == i + 1);
    REQUIRE(table[i] == list[i]);
  }
  CHECK_THROWS_AS(table[table.size()], const Error&);
}

TEST_CASE("columns: words that are not UTF-8 are refused when written, read when they are there") {
  const TempDir folder;
  std::vector<Column> columns = {{"w", ValueType::u8}};
  columns[0].meaning.kind = MeaningKind::category;
  columns[0].meaning.words = words({"caf\xc3\xa9", "caf\xe9"});
  const auto error = error_of([&] { FrameWriter::create(folder / "f.dbdf", 1, columns); });
  CHECK(required_error(error).code() == Errc::unsupported);
  CHECK(error->option() == "utf-8");
  CHECK(
      error->detail() ==
      "column 'w' holds the word 'caf\\xe9', which is not UTF-8; convert the text to UTF-8 first");

  // As an older writer would have written them: a frame, and the meanings in the last block.
  const auto content = dbdf::emit_columns(columns);
  dbdf::HintWriter hint;
  hint.add(content);
  Image image = Image::frame(2, {{"w", ValueType::u8}});
  image.dense<std::uint8_t>({0, 0}, 2, 1, {1, 2});
  std::vector<std::byte> bytes = image.bytes();
  hint.emit(bytes.size(), [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  const auto path = folder.write("old.dbdf", bytes);
  CHECK(as_csv(open(path)) == "w\ncaf\xc3\xa9\ncaf\xe9\n");
  const auto findings = verify(path, Level::payload).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].detail() == error->detail());
  const RepairReport report = repair(path, folder / "new.dbdf");
  CHECK(report.lost.empty());
  CHECK(as_csv(open(folder / "new.dbdf")) == as_csv(open(path)));
}

TEST_CASE("columns: of a frame that nobody keeps, they are copies") {
  const TempDir dir;
  write_text(dir / "t.csv", "a rather long label,b\n1,2.5\n");
  const std::string& label = Frame::open(dir / "t.csv").label(0);
  const Column& column = Frame::open(dir / "t.csv").column_info(0);
  CHECK(label == "a rather long label");
  CHECK(column.label == label);
}

TEST_CASE("columns: a mark that no cell can be is refused when the file is made") {
  const TempDir folder;
  const auto refusal = [&](const Column& column, bool plain = false) {
    WriteOptions options;
    options.plain = plain;
    return error_of([&] {
      FrameWriter::create(folder / "f", 1, {{"k", ValueType::u8}, column}, options);
    });
  };
  Column column{"n", ValueType::i32};
  column.meaning.missing = static_cast<std::uint64_t>(std::int64_t{INT32_MIN});
  const Error error = required_error(refusal(column));
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.file() == (folder / "f").string());
  CHECK(
      error.detail() ==
      "column 'n' is of i32, and its mark of missing cells has bits beyond the lowest 32: no cell "
      "can be equal to it");
  CHECK_FALSE(refusal(column, true));  // a file without meanings
  for (const ValueType type : kValueTypes) {
    column.value_type = type;
    column.meaning.missing = usual_mark(type);
    CHECK_FALSE(refusal(column));
    column.meaning.missing = ~std::uint64_t{0};
    CHECK(refusal(column).has_value() == (size_of(type) < 8));
  }
  CHECK(usual_mark(ValueType::i32) == 0x80000000U);
  CHECK(usual_mark(ValueType::u16) == 0xffffU);
  CHECK(usual_mark(ValueType::i64) == kMissingTick);
  CHECK(usual_mark(ValueType::f32) == kMissingF32);
}

TEST_CASE("columns: a meaning that the type cannot have is refused when the file is made") {
  const TempDir folder;
  const auto refusal = [&](const Column& column) {
    const Error e =
        required_error(error_of([&] { FrameWriter::create(folder / "f", 1, {column}); }));
    CHECK(e.code() == Errc::invalid_argument);
    return e.detail();
  };
  Column column{"u", ValueType::u8};
  column.meaning.kind = MeaningKind::text;
  CHECK(refusal(column) == "column 'u' is a text without a dictionary of its words");
  column.meaning.words = words(std::vector<std::string>(1, "x"));
  column.value_type = ValueType::f32;
  CHECK(refusal(column) == "column 'u' is a text and cannot be stored as f32");
  column.meaning = {.kind = MeaningKind::timestamp};
  CHECK(refusal(column) == "column 'u' is a timestamp and cannot be stored as f32");
  column.value_type = ValueType::i64;
  column.meaning.unit = static_cast<TimeUnit>(5);
  CHECK(refusal(column) ==
        "column 'u': there is no unit of ticks 5; they are 0, days, to 4, nanoseconds");
}

TEST_CASE("columns: where many are asked for by label, they are sorted, and the first is found") {
  std::vector<Column> columns;
  for (int i = 0; i < 1000; ++i) columns.push_back({"c" + std::to_string(i * 7 % 500)});
  const LabelSearch search;
  for (int look = 0; look < 3; ++look) {
    for (std::uint64_t k = 0; k < 500; ++k) REQUIRE(search.find(columns, columns[k].label) == k);
    CHECK(!search.find(columns, ""));
    CHECK(!search.find(columns, "c5000"));
    CHECK(search.is_sorted());
  }

  const LabelSearch once;
  CHECK(once.find(columns, "c7") == 1);
  CHECK(!once.is_sorted());
}
