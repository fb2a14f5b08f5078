// Text of several megabytes, scanned by one thread and by several: the same is found.

#include <ctime>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// Everything that opening finds out, and all cells, as text.
std::string found(const std::filesystem::path& path, FormatOptions csv, unsigned threads) {
  OpenOptions options;
  options.format_options = std::move(csv);
  options.threads = threads;
  std::optional<std::variant<Matrix, Frame>> object;
  if (const auto error = test::error_of([&] { object = open(path, options); })) {
    return test::told(*error);
  }
  std::string text = test::types_of(*object) + "\n";
  std::visit(
      [&](const auto& o) {
        for (const BlockInfo& block : o.blocks()) {
          text += std::to_string(block.pos.rx) + ':' + std::to_string(block.offset) + ' ';
        }
      },
      *object);
  if (const Frame* frame = std::get_if<Frame>(&*object)) {
    for (std::uint64_t c = 0; c < frame->cols(); ++c) {
      const Meaning& meaning = frame->column_info(c).meaning;
      text += "\n" + std::string(name(meaning.kind)) + " " + std::string(name(meaning.unit)) +
              (meaning.missing ? " missing" : "") + meaning.zone;
      if (!meaning.words) continue;
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(50, meaning.words->size()); ++i) {
        text += " " + std::string((*meaning.words)[i]);
      }
      text += " of " + std::to_string(meaning.words->size());
    }
  }
  ConvertOptions to_text;
  to_text.to = "csv";
  to_text.threads = threads;
  return text + test::converted(*object, to_text);
}

constexpr int kRows = 60'000;  // some two megabytes

/// Rows of all kinds of columns; `late` is in the last row.
std::string make_text(const std::string& line_end, bool quotes, const std::string& late) {
  std::string text = "id,name,city,when,flag,x" + line_end;
  for (int row = 0; row < kRows; ++row) {
    const std::string n = std::to_string(row);
    text += n + ",name" + n +
            (quotes && row % 7 == 0 ? ",\"a,\nb\"" : ",city" + std::to_string(row % 5)) +
            ",2024-01-0" + std::to_string(1 + row % 9) + (row % 2 == 0 ? ",true," : ",NA,") +
            std::to_string(row % 100) + ".25" + line_end;
  }
  return text + late;
}

void check_same(const std::string& text, const FormatOptions& csv = {}) {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", text);
  const std::string alone = found(dir / "t.csv", csv, 1);
  CHECK(found(dir / "t.csv", csv, 2) == alone);
}

}  // namespace

TEST_CASE("csv threads: several find what one finds") {
  check_same(make_text("\n", false, ""));
  check_same(make_text("\r\n", false, "\r\n\r\n"));
  check_same(make_text("\n", true, ""));
}

TEST_CASE("csv threads: a column that changes late is what one thread says it is") {
  check_same(make_text("\n", false, "x1,n,c,yesterday,perhaps,none\n"));
  check_same(make_text("\n", true, "1,n,c,2024-01-01T10:00:00.123456789,true,-0\n"));
  check_same(make_text("\n", false, "1,n,c,2024-01-01T10:00:00Z,true,99999999999999999999\n"));
}

TEST_CASE("csv threads: columns whose halves are of other kinds are words") {
  std::string text = "flag,when,name\n";
  for (int row = 0; row < kRows; ++row) {
    text += row < kRows / 2 ? "true,2024-01-01," : "2024-01-01,true,";
    text += "a name that is the same in all rows\n";
  }
  check_same(text);
}

TEST_CASE("csv threads: the first error is told, with its line") {
  for (const std::string late : {"1,2\n", "\n\n1,n,c,2024-01-01,true,1\n",
                                 "1,\"n,c,2024-01-01,true,1\n", "1,2,3,4,5,6,7,8\n"}) {
    check_same(make_text("\n", true, late));
  }
  FormatOptions csv{{"csv.type", "id=i64"}};
  check_same(make_text("\n", false, "1.5,n,c,2024-01-01,true,1\n"), csv);
  csv = {{"csv.type", "when=timestamp"}};
  check_same(make_text("\n", false, "1,n,c,2024-01-01T10:00:00Z,true,1\n"), csv);
  check_same(make_text("\n", false, "1,n,c,today,true,1\n"), csv);
}

TEST_CASE("csv threads: a text in one row, and one that is all quotes") {
  std::string text = "1";
  for (int i = 0; i < 800'000; ++i) text += ",23";
  check_same(text + "\n");
  std::string quoted = "a\n\"";
  for (int i = 0; i < 400'000; ++i) quoted += "\n\"\"x";
  check_same(quoted + "\"\n");
}

TEST_CASE("csv threads: many blank lines at the end are looked through once, not for each piece") {
  const test::TempDir dir;
  std::string text = "a,b\n";
  while (text.size() < std::size_t{2} << 20) text += "1,2\n";
  const std::uint64_t rows = text.size() / 4 - 1;
  test::write_text(dir / "t.csv", text + std::string(std::size_t{32} << 20, '\n'));
  const auto seconds = [&](unsigned threads) {
    const std::clock_t begin = std::clock();
    CHECK(Frame::open(dir / "t.csv", {.threads = threads}).rows() == rows);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  // Of all threads together. For each of 32 pieces it would be many times as much.
  CHECK(seconds(2) < 6 * seconds(1));
}
