// Delimited text is parsed once, whatever comes up in it, and only as far as somebody asks.

#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/foreign/csv/csv.h"
#include "lib/io/memory/memory_source.h"
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
