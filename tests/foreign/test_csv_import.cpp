// Delimited text is parsed once, whatever comes up in it, and only as far as somebody asks; and
// what is written of parsed text as a file of dapple's own format.

#include <sys/stat.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/foreign/csv/csv.h"
#include "lib/io/local/local_file.h"
#include "lib/io/memory/memory_source.h"
#include "lib/object/make_object.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/support.h"

using namespace dapple;

namespace {

constexpr std::uint64_t kImportRows = 600'000;  // some megabytes: many rows of tiles

/// Rows of a number and what `late` makes of the rows from the middle on.
template <class Late>
std::string make_text(const Late& late) {
  std::string text = "n,x\n";
  for (std::uint64_t row = 0; row < kImportRows; ++row) {
    text +=
        std::to_string(row) + ',' + (row < kImportRows / 2 ? std::to_string(row % 100) : late(row));
    text += '\n';
  }
  return text;
}

/// How often the cells of a text were started.
std::uint64_t passes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  const auto source = detail::memory_source(bytes, "t.csv");
  const OpenOptions options;
  detail::texts::Import import(source, "csv", options);
  detail::csv::parse_csv(source, options, import);
  return import.starts();
}

std::string table_text() {
  std::string text = "n,x,word\n";
  for (int row = 0; row < 60'000; ++row) {
    text += std::to_string(row) + ',' + std::to_string(row % 97) + ".25,w" +
            std::to_string(row % 11) + '\n';
  }
  return text;
}

std::string mtx_text() {
  std::string text = "%%MatrixMarket matrix coordinate integer general\n3000 4000 60000\n";
  for (int k = 0; k < 60'000; ++k) {
    text += std::to_string(k / 20 + 1) + ' ' + std::to_string(k % 20 * 200 + k % 7 + 1) + ' ' +
            std::to_string(k % 900 + 1) + '\n';
  }
  return text;
}

struct stat stat_of(const std::filesystem::path& path) {
  struct stat s {};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s;
}

ino_t parsed_into(const std::variant<Matrix, Frame>& object) {
  struct stat s {};
  const auto* const file = detail::store_of(object)->file().local();
  REQUIRE(::fstat(file->descriptor(), &s) == 0);
  return s.st_ino;
}

}  // namespace

TEST_CASE("csv import: numbers that become wider late cost no second pass") {
  CHECK(passes(make_text([](std::uint64_t) { return "1"; })) == 1);
  CHECK(passes(make_text([](std::uint64_t) { return "0.5"; })) == 1);
  CHECK(passes(make_text([](std::uint64_t) { return ""; })) == 1);
  CHECK(passes(make_text([](std::uint64_t) { return "18446744073709551615"; })) == 1);
  // What was parsed as numbers is not the text of words.
  CHECK(passes(make_text([](std::uint64_t) { return "word"; })) == 2);
}

TEST_CASE("csv import: cells before and after a column became wider") {
  test::CsvText csv;
  const auto read = [&](const std::string& text, std::uint64_t row) {
    const Frame frame = std::get<Frame>(csv.open(text));
    REQUIRE(frame.rows() == kImportRows);
    CHECK(frame.read_column<std::int64_t>(0, {row, row + 1})[0] == static_cast<std::int64_t>(row));
    return frame.read_column<double>(1, {row, row + 1})[0];
  };
  const std::string half = make_text([](std::uint64_t) { return "0.5"; });
  CHECK(read(half, 42) == 42);
  CHECK(read(half, kImportRows / 2 - 1) == static_cast<double>((kImportRows / 2 - 1) % 100));
  CHECK(read(half, kImportRows / 2) == 0.5);
  CHECK(read(half, kImportRows - 1) == 0.5);
  const std::string missing = make_text([](std::uint64_t) { return ""; });
  CHECK(read(missing, 42) == 42);
  CHECK(std::bit_cast<std::uint64_t>(read(missing, kImportRows - 1)) == kMissingF64);
  const std::string words =
      make_text([](std::uint64_t row) { return row % 2 == 0 ? "a" : "1.50"; });
  const Frame frame = std::get<Frame>(csv.open(words));
  REQUIRE(frame.column_info(1).meaning.words != nullptr);
  const Dictionary& dictionary = *frame.column_info(1).meaning.words;
  const auto word = [&](std::uint64_t row) {
    return std::string(dictionary[frame.read_column<std::uint32_t>(1, {row, row + 1})[0] - 1]);
  };
  CHECK(word(7) == "7");
  CHECK(word(kImportRows - 1) == "1.50");
  CHECK(word(kImportRows - 2) == "a");
}

TEST_CASE("csv import: integers that f64 rounds stay what they are, whatever is missing") {
  test::CsvText csv;
  std::string text = "id\n";
  for (std::uint64_t row = 0; row < kImportRows; ++row) {
    text += row % 1000 == 999 ? "\n" : std::to_string(9007199254740993 + 2 * row) + "\n";
    if (text.ends_with("\n\n")) text.insert(text.size() - 1, "NA");
  }
  const Frame frame = std::get<Frame>(csv.open(text));
  CHECK(frame.column_type(0) == ValueType::i64);
  CHECK(frame.read_column<std::int64_t>(0, {kImportRows - 2, kImportRows - 1})[0] ==
        static_cast<std::int64_t>(9007199254740993 + 2 * (kImportRows - 2)));
  CHECK(frame.read_column<std::int64_t>(0, {kImportRows - 1, kImportRows})[0] ==
        std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("csv import: the first rows are opened without a look at what follows") {
  test::CsvText csv;
  const auto path = csv.dir() / "t.csv";
  test::write_text(path, "a,b\n1,x\n2,\"y\nz\"\n3,w\nthis line is wrong\n");
  CHECK(test::error_of([&] { open(path); }));
  OpenOptions options;
  for (const std::uint64_t rows : {0, 1, 2, 3}) {
    options.first_rows = rows;
    const auto object = open(path, options);
    CHECK(std::get<Frame>(object).rows() == rows);
  }
  options.first_rows = 4;
  CHECK(test::error_of([&] { open(path, options); }));
}

TEST_CASE("csv import: what is opened for its shape keeps no cell") {
  test::CsvText csv;
  const std::string text = make_text([](std::uint64_t) { return "0.5"; });
  const Frame whole = std::get<Frame>(csv.open(text));
  OpenOptions options;
  options.cells = false;
  const auto object = open(csv.dir() / "t.csv", options);
  const Frame& shape = std::get<Frame>(object);
  CHECK(shape.rows() == kImportRows);
  CHECK(test::types_of(object) == "frame i64 f64");
  CHECK(shape.counts().total == whole.counts().total);
  CHECK(shape.counts().stored == whole.counts().stored);
  const auto error = test::error_of([&] { shape.read_column<double>(1, {0, 1}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::unsupported);
}

TEST_CASE("text import: what is written of it is what is written of its cells") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", table_text());
  test::write_text(dir / "m.mtx", mtx_text());
  for (const char* name : {"t.csv", "m.mtx"}) {
    for (const bool beside : {false, true}) {
      CAPTURE(name);
      CAPTURE(beside);
      OpenOptions reading;
      if (beside) reading.temporary = dir.path();
      ConvertOptions options;
      options.write.overwrite = true;
      convert(open(dir / name, reading), {}, dir / "copied.dbdf", options);
      const auto copied = open(dir / "copied.dbdf");
      const auto store = detail::store_of(copied);
      CHECK(store->block_stats() != nullptr);
      CHECK((store->row_counts() != nullptr) == std::holds_alternative<Matrix>(copied));
      options.write.tile = store->index().grid()->tile;
      convert(copied, {}, dir / "anew.dbdf", options);
      CHECK(test::read_bytes(dir / "copied.dbdf") == test::read_bytes(dir / "anew.dbdf"));
    }
  }
}

TEST_CASE("text import: what is parsed beside a new file becomes that file, once") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", table_text());
  convert(open(dir / "t.csv"), {}, dir / "copied.dbdf");
  const auto bytes = test::read_bytes(dir / "copied.dbdf");
  const auto object = open(dir / "t.csv", {.temporary = dir.path()});
  CHECK(test::base(object).note().empty());
  ConvertOptions options;
  options.write.attributes = R"({"run":12})";
  convert(object, {}, dir / "other.dbdf", options);  // which is something else at its end
  CHECK(stat_of(dir / "other.dbdf").st_ino != parsed_into(object));
  CHECK(test::base(open(dir / "other.dbdf")).attributes() == R"({"run":12})");

  test::write_text(dir / "old.dbdf", "an old file");
  std::filesystem::permissions(dir / "old.dbdf", std::filesystem::perms::owner_read);
  options = {};
  options.write.overwrite = true;
  convert(object, {}, dir / "old.dbdf", options);
  CHECK(stat_of(dir / "old.dbdf").st_ino == parsed_into(object));
  CHECK((stat_of(dir / "old.dbdf").st_mode & 0777) == 0400);
  CHECK(test::read_bytes(dir / "old.dbdf") == bytes);
  convert(object, {}, dir / "second.dbdf");
  CHECK(stat_of(dir / "second.dbdf").st_ino != parsed_into(object));
  CHECK(stat_of(dir / "old.dbdf").st_nlink == 1);
  CHECK(test::read_bytes(dir / "second.dbdf") == bytes);
  CHECK(test::cells_of(object) == test::cells_of(open(dir / "old.dbdf")));
}
