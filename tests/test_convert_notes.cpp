// What `convert` tells of what a target does not keep, and what it refuses to lose.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// A row of a zoned time, a duration, an ordered category and a float, none of them missing.
Frame rich(const std::filesystem::path& path) {
  auto words = std::make_shared<detail::WordTable>();
  words->add("low");
  std::vector<Column> columns(4);
  columns[0] = {"when", ValueType::i64, {.kind = MeaningKind::timestamp, .zone = "Europe/Vienna"}};
  columns[1] = {"took", ValueType::i64, {.kind = MeaningKind::duration}};
  columns[2] = {"size", ValueType::u8, {.kind = MeaningKind::category, .ordered = true}};
  columns[2].meaning.words = words;
  columns[3] = {"x", ValueType::f64, {.missing = kMissingF64}};
  auto writer = FrameWriter::create(path, 1, columns);
  const std::int64_t ticks[] = {0, 5};
  const std::uint8_t code = 1;
  const double x = 0.5;
  writer.put<std::int64_t>({0, 0}, {ticks, 1, 2});
  writer.put<std::uint8_t>({0, 2}, {&code, 1, 1});
  writer.put<double>({0, 3}, {&x, 1, 1});
  writer.finish();
  return Frame::open(path);
}

}  // namespace

TEST_CASE("convert: what a format does not keep is told by column") {
  const TempDir dir;
  const Frame frame = rich(dir / "a.dbdf");
  const auto notes = [&](const char* file, bool stored_numbers = false) {
    std::string all;
    ConvertOptions options;
    options.stored_numbers = stored_numbers;
    options.write.overwrite = true;
    options.note = [&](const std::string& note) { all += note + '\n'; };
    convert(frame, {}, dir / file, options);
    return all;
  };
  const auto zones = [](const std::string& format) {
    return "column 'when': " + format + " keeps no names of zones; the times are in UTC\n";
  };
  const auto order = [](const std::string& format) {
    return "column 'size': " + format + " does not keep that the words have an order\n";
  };
  const auto floats = [](const std::string& format) {
    return "column 'x': " + format + " has no missing floats; such cells are NaN\n";
  };
  CHECK(notes("b.dbdf").empty());
  CHECK(notes("b.csv") == zones("csv") + order("csv") +
                              "column 'took': csv does not tell durations from words; give the "
                              "columns that type when it is read\n");
  CHECK(notes("b.csv", true) == notes("b.csv"));  // has words and times, whatever is asked for
  CHECK(notes("b.npy") == zones("npy") + order("npy") + floats("npy"));
  CHECK(notes("b.npy", true).empty());
  CHECK(notes("b.idv") == zones("idv") + order("idv") + floats("idv"));
}

TEST_CASE("convert: that times are in UTC is told where the format does not say it") {
  const TempDir dir;
  FrameWriter::create(dir / "a.dbdf", 0,
                      {{"t", ValueType::i64, {.kind = MeaningKind::timestamp, .zone = "UTC"}}})
      .finish();
  const auto note_of = [&](const char* file) {
    std::string note;
    ConvertOptions options;
    options.note = [&](const std::string& text) { note += text; };
    convert(open(dir / "a.dbdf"), {}, dir / file, options);
    return note;
  };
  CHECK(note_of("a.csv").empty());
  CHECK(note_of("a.idv").empty());
  CHECK(note_of("a.npy") == "column 't': npy keeps no names of zones; the times are in UTC");
}

TEST_CASE("convert: a note names a few of many columns") {
  const TempDir dir;
  std::vector<Column> columns;
  for (const char* label : {"a", "b", "c", "d", "e"}) {
    columns.push_back({label, ValueType::i64, {.kind = MeaningKind::duration}});
  }
  FrameWriter::create(dir / "a.dbdf", 0, columns).finish();
  std::string note;
  ConvertOptions options;
  options.note = [&](const std::string& text) { note = text; };
  convert(open(dir / "a.dbdf"), {}, dir / "a.csv", options);
  CHECK(note.starts_with("columns 'a', 'b', 'c' and 2 more: csv does not tell durations"));
}

TEST_CASE("convert: the plain layout takes words and missing cells only as stored numbers") {
  const TempDir dir;
  ConvertOptions options;
  options.write.plain = true;
  const auto refused = [&](const std::string& text) {
    write_text(dir / "a.csv", text);
    const auto error = error_of([&] { convert(open(dir / "a.csv"), {}, dir / "a.dbdf", options); });
    CHECK(required_error(error).code() == Errc::unsupported);
    CHECK(error->option() == "stored_numbers");
    return error->detail();
  };
  CHECK(refused("n,w\n1,x\n") ==
        "column 'w' is a text, which cannot be written to the plain layout");
  CHECK(refused("n,w\n1,\n,2\n") ==
        "column 'n' has missing values, which cannot be written to the plain layout");
  options.stored_numbers = true;
  convert(open(dir / "a.csv"), {}, dir / "a.dbdf", options);
  CHECK(is_plain(Frame::open(dir / "a.dbdf").column_info(0)));
}

TEST_CASE("convert: formats without groups of columns are told of") {
  const TempDir dir;
  const auto group = std::make_shared<ColumnGroup>(
      ColumnGroup{"v", 2, detail::listed_dictionary({"left", "right"})});
  const std::vector<Column> columns = {{"left", ValueType::u8, {}, group, 0},
                                       {"right", ValueType::u8, {}, group, 1},
                                       {"n", ValueType::u8}};
  FrameWriter::create(dir / "a.dbdf", 0, columns).finish();
  const auto notes = [&](const char* to, bool plain = false,
                         std::optional<std::vector<std::uint64_t>> cols = {}) {
    std::string all;
    ConvertOptions options;
    options.write.overwrite = true;
    options.write.plain = plain;
    options.note = [&](const std::string& note) { all += note + '\n'; };
    convert(open(dir / "a.dbdf"), {{}, std::move(cols)}, dir / to, options);
    return all;
  };
  const auto lost = [](const std::string& target) {
    return "group 'v': " + target + " keeps the columns, but not that they are one vector\n";
  };
  CHECK(notes("b.dbdf").empty());
  CHECK(notes("b.idv").empty());
  CHECK(notes("b.csv") == lost("csv"));
  CHECK(notes("b.npy") == lost("npy"));
  CHECK(notes("b.btable") == lost("btable"));
  CHECK(notes("b.dbdf", true) == lost("the plain layout"));
  CHECK(notes("b.csv", false, {{2, 1}}).empty());
}

TEST_CASE("convert: of a matrix without rows, text has no columns, unless they have names") {
  const TempDir dir;
  MatrixWriter::create(dir / "a.dbdf", 0, 3, ValueType::f64).finish();
  WriteOptions named;
  NamesBuilder builder;
  for (const char* const name : {"x", "y", "z"}) builder.add(name);
  named.col_names = builder.finish();
  MatrixWriter::create(dir / "b.dbdf", 0, 3, ValueType::f64, named).finish();
  const auto note_of = [&](const char* from, const char* to) {
    std::string note;
    ConvertOptions options;
    options.note = [&](const std::string& text) { note += text; };
    convert(open(dir / from), {}, dir / to, options);
    return note;
  };
  CHECK(note_of("a.dbdf", "a.csv") ==
        "csv has the columns of a matrix in its rows; the file is empty, and no table");
  CHECK(note_of("a.dbdf", "a.npy").empty());
  CHECK(note_of("b.dbdf", "b.csv").empty());
  CHECK(Frame::open(dir / "b.csv").label(2) == "z");
}
