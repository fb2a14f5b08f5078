// Real ML.NET files, against the cells that another reader found in them.

#include <bit>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// What X.cells.txt says: a column's type, and the text of each of its values.
struct Expected {
  std::uint64_t rows = 0;
  std::vector<std::string> names, types;
  std::vector<std::vector<std::string>> values;  // of each column
};

Expected read_expected(const std::filesystem::path& path) {
  Expected e;
  std::istringstream lines(test::read_text(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string word;
    std::size_t row = 0, col = 0;
    in >> word;
    if (word == "idv") {
      in >> word >> e.rows;
    } else if (word == "col") {
      in >> col;
      const std::size_t open = line.find('"'), close = line.rfind('"');
      e.names.push_back(line.substr(open + 1, close - open - 1));
      e.types.push_back(line.substr(close + 2));
      e.values.emplace_back();
    } else if (word == "v") {
      in >> row >> col >> std::ws;
      std::getline(in, word);
      e.values[col].push_back(word);
    }
  }
  return e;
}

/// The ticks of .NET of a time of the frame; a missing one is what the file has.
std::int64_t ticks_of(const Meaning& meaning, std::int64_t time) {
  if (!meaning.has_time() || is_missing(meaning, static_cast<std::uint64_t>(time))) return time;
  const std::int64_t ticks = meaning.unit == TimeUnit::microsecond ? time * 10 : time / 100;
  return meaning.kind == MeaningKind::timestamp ? ticks + 621'355'968'000'000'000 : ticks;
}

/// Values of a column of the frame as the text file writes them.
std::vector<std::string> values(const Frame& frame, std::uint64_t col) {
  std::vector<std::string> all;
  visit_type(frame.column_type(col), [&](auto tag) {
    using T = decltype(tag);
    const Column& column = frame.column_info(col);
    for (const T v : frame.read_column<T>(col, {0, frame.rows()})) {
      if (column.meaning.has_words()) {
        const auto code = static_cast<std::uint64_t>(v);
        std::string word;
        append_text(column, code, word);
        all.push_back(is_missing(column.meaning, code) ? "NA" : '"' + word + '"');
      } else if constexpr (std::is_same_v<T, std::int64_t>) {
        all.push_back(std::to_string(ticks_of(column.meaning, v)));
      } else if constexpr (std::is_same_v<T, float>) {
        char hex[9];
        std::snprintf(hex, sizeof hex, "%08x", std::bit_cast<std::uint32_t>(v));
        all.emplace_back(hex);
      } else {
        all.push_back(std::to_string(v));
      }
    }
  });
  return all;
}

void check_file(const std::filesystem::path& path) {
  const Expected expected = read_expected(path.string() + ".cells.txt");
  const Frame frame = std::get<Frame>(open(path));
  CHECK(frame.rows() == expected.rows);
  std::uint64_t col = 0;
  std::size_t text = 0;
  for (std::size_t i = 0; i < expected.names.size(); ++i) {
    CAPTURE(expected.names[i]);
    const std::string& type = expected.types[i];
    if (type.starts_with("Vector<Single,3>")) {
      col += 3;
    } else if (type.starts_with("Vector<Text")) {
      const TextColumn& column = frame.text_columns()[text];
      CHECK(column.label == expected.names[i]);
      CHECK(column.type == type);
      CHECK(column.before == col);
      frame.read_text(text++, {0, frame.rows()}, [&](std::uint64_t row, std::string_view got) {
        const std::string& wanted = expected.values[i][row];
        CHECK((wanted == "NA" ? got.empty() : wanted == '"' + std::string(got) + '"'));
      });
    } else {
      std::vector<std::string> got = values(frame, col);
      if (type == "DateTimeOffset") {
        const auto minutes = values(frame, col + 1);
        for (std::size_t r = 0; r < got.size(); ++r) got[r] += "@" + minutes[r];
        CHECK(frame.label(col + 1) == expected.names[i] + ".minutes");
      }
      for (auto& value : got) {
        if (type == "Boolean" && value == "2") value = "NA";
      }
      CHECK(frame.label(col) == expected.names[i]);
      CHECK(got == expected.values[i]);
      col += type == "DateTimeOffset" ? 2 : 1;
    }
  }
  CHECK(col == frame.cols());
  CHECK(text == frame.text_columns().size());
}

}  // namespace

TEST_CASE("idv: real files hold what another reader finds in them") {
  const auto files = test::golden_files("idv", ".idv");
  CHECK(files.size() >= 4);
  for (const auto& path : files) {
    CAPTURE(path.filename().string());
    check_file(path);
    CHECK(verify(path, Level::payload).findings.empty());
  }
}

TEST_CASE("idv: vector slots of a real file are labelled by their names") {
  const auto folder = test::golden("idv");
  const Frame frame = std::get<Frame>(open(folder / "optional-columns-schema.idv"));
  CHECK(frame.label(0) == "NumericalFeatures.1");
  CHECK(frame.label(3) == "Label");
  CHECK(frame.text_columns()[0].type == "Vector<Text,5>");
}
