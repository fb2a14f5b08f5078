// FILE.csv.dpx: what was parsed of a text is kept, and never believed of another state of it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/csv_text.h"
#include "tests/guarded_file.h"
#include "tests/support.h"

using namespace dapple;

namespace {

std::variant<Matrix, Frame> open_csv(const std::filesystem::path& path, const FormatOptions& csv) {
  return open(path, {.format = "", .check = Check::never, .format_options = csv});
}

bool uses_sidecar(const std::variant<Matrix, Frame>& object) {
  return std::visit([](const auto& o) { return o.index_origin() == IndexOrigin::sidecar; }, object);
}

struct Seen {
  std::string types;
  std::string note;
  std::string cells;  // as CSV, so that every type and NaN can be compared
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen(const std::variant<Matrix, Frame>& object) {
  Seen result{test::types_of(object), "", ""};
  result.note = std::visit([](const auto& o) { return std::string(o.note()); }, object);
  ConvertOptions to_text;
  to_text.to = "csv";
  convert(
      object, {},
      [&](std::span<const std::byte> bytes) {
        result.cells.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      },
      to_text);
  return result;
}

std::string many_rows() {
  std::string text = "id,value\n";
  for (int row = 0; row < 100000; ++row) {
    text += std::to_string(row) + "," + std::to_string(row % 7) + ".5\n";
  }
  return text;
}

constexpr char kWords[] =
    "name,city,born,at,on,n\n"
    "Ann,Graz,1990-02-28,2024-01-01T10:00:00.5Z,true,1\n"
    "Bob,\"Linz, \"\"Upper\"\"\",NA,2024-01-01T10:00:00Z,,\n"
    "Eve,Graz,2016-01-01,2024-01-01T10:00:00Z,false,3\n"
    ",Graz,2016-01-01,,false,3\n"
    "Al,\"two\nlines\",2016-01-01,,false,3\n";

}  // namespace

TEST_CASE("csv sidecar: a file opens with it as it does without") {
  const std::string texts[] = {many_rows(),
                               "1,2\n-3,4",
                               "a;b\r\n1;NA\r\n2;3\r\n",
                               "a,b\n0.5,NA\n?,3\n",
                               "a,b\n\"1\",\"2\"\n\n\n",
                               "x\n",
                               "a,b\n18446744073709551615,9007199254740993\n",
                               "a\n9007199254740993\n0.5\n",
                               kWords};
  const FormatOptions options[] = {
      {}, {{"csv.missing_as_nan", "true"}}, {{"csv.type", "0=f32"}}, {{"csv.type", "*=f64"}}};
  const test::TempDir dir;
  for (const std::string& text : texts) {
    for (const FormatOptions& csv : options) {
      CAPTURE(text.substr(0, 40));
      test::write_text(dir / "t.csv", text);
      std::filesystem::remove(dir / "t.csv.dpx");
      std::optional<std::variant<Matrix, Frame>> without;
      const auto refused = test::error_of([&] { without = open_csv(dir / "t.csv", csv); });
      OpenOptions opening;
      opening.format_options = csv;
      const auto also_refused = test::error_of([&] { write_sidecar(dir / "t.csv", opening); });
      REQUIRE(refused.has_value() == also_refused.has_value());
      if (refused) {
        CHECK(also_refused->detail() == refused->detail());
        continue;
      }
      CHECK(!uses_sidecar(*without));
      const auto with = open_csv(dir / "t.csv", csv);
      CHECK(uses_sidecar(with));
      CHECK(seen(with) == seen(*without));
    }
  }
}

TEST_CASE("csv sidecar: one of another state, or for other options, is not used") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", "a,b\n1,2\n3,4\n");
  write_sidecar(dir / "t.csv");
  CHECK(uses_sidecar(open_csv(dir / "t.csv", {})));
  CHECK(!uses_sidecar(open_csv(dir / "t.csv", {{"csv.type", "a=text"}})));
  const auto typed = open_csv(dir / "t.csv", {{"csv.type", "a=f32"}});
  CHECK(!uses_sidecar(typed));
  CHECK(test::types_of(typed) == "frame f32 i64");
  CHECK(!uses_sidecar(open_csv(dir / "t.csv", {{"csv.missing_as_nan", "true"}})));

  test::write_text(dir / "t.csv", "a,b\n1,2\n5,6\n");
  const auto changed = open_csv(dir / "t.csv", {});
  CHECK(!uses_sidecar(changed));
  CHECK(test::cells_of(changed) == std::vector<double>{1, 2, 5, 6});
  write_sidecar(dir / "t.csv");
  CHECK(uses_sidecar(open_csv(dir / "t.csv", {})));

  // A .meta file that comes later says something else of the same text.
  test::write_text(dir / "t.csv.meta", R"({"numRows":3,"numCols":2,"valueType":"f64"})");
  CHECK(test::error_of([&] { open_csv(dir / "t.csv", {}); }));
}

TEST_CASE("csv sidecar: damage to any byte costs a parse or is an error, and never a wrong cell") {
  const test::TempDir dir;
  test::write_text(dir / "t.csv", kWords);
  write_sidecar(dir / "t.csv");
  const Seen truth = seen(open_csv(dir / "t.csv", {}));
  const std::vector<std::byte> sound = test::read_bytes(dir / "t.csv.dpx");
  const auto check_same = [&] {
    const auto object = open_csv(dir / "t.csv", {});
    Seen now = seen(object);
    CHECK(now.note.starts_with("the sidecar index") != uses_sidecar(object));
    CHECK(now.note.ends_with(truth.note));
    now.note = truth.note;
    CHECK(now == truth);
  };
  for (std::size_t at = 0; at < sound.size(); at += test::one_of(5)) {
    std::vector<std::byte> damaged = sound;
    damaged[at] ^= std::byte{0x10};
    test::write_bytes(dir / "t.csv.dpx", damaged);
    CAPTURE(at);
    const auto error = test::error_of(check_same);
    if (error) CHECK(error->file() == (dir / "t.csv.dpx").string());
    test::write_bytes(dir / "t.csv.dpx", std::span(sound).first(at));
    check_same();
  }
}

TEST_CASE("csv sidecar: the text is not read where there is one") {
  const test::TempDir dir;
  const auto path = dir / "t.csv";
  std::string text = "name,city\n";
  for (int row = 0; row < 200000; ++row) {
    text += "name" + std::to_string(row) + ",city" + std::to_string(row % 10) + "\n";
  }
  test::write_text(path, text);
  write_sidecar(path);
  // No byte that the binding looks at.
  const auto when = std::filesystem::last_write_time(path);
  text[text.size() - 2] = 'X';
  test::write_text(path, text);
  std::filesystem::last_write_time(path, when);
  const auto object = open_csv(path, {});
  if (!uses_sidecar(object)) return;  // the file system kept another time of change
  const Frame& frame = std::get<Frame>(object);
  CHECK(frame.column_info(0).meaning.words->size() == 200000);
  CHECK(frame.column_info(1).meaning.words->size() == 10);
  CHECK(frame.read_column<std::uint32_t>(0, {199998, 200000}) ==
        std::vector<std::uint32_t>{199999, 200000});
}

TEST_CASE("csv sidecar: an index that fails leaves what was there") {
  const test::TempDir dir;
  const auto path = dir / "t.csv", sidecar = sidecar_path(path);
  for (const std::string text : {"1,2\n,4\n", "9007199254740993,0.5\n1,2\n", "a,b\ncaf\xe9,1\n",
                                 "a\n18446744073709551617\n"}) {
    CAPTURE(text);
    test::write_text(path, text);
    CHECK(test::error_of([&] { write_sidecar(path); }));
    CHECK(!std::filesystem::exists(sidecar));
  }
  test::write_text(path, "1,2\n,4\n");
  const OpenOptions as_nan{.format_options = {{"csv.missing_as_nan", "true"}}};
  write_sidecar(path, as_nan);
  const auto sound = test::read_bytes(sidecar);
  CHECK(test::error_of([&] { write_sidecar(path); }));
  CHECK(test::read_bytes(sidecar) == sound);
  CHECK(uses_sidecar(open(path, as_nan)));
}

TEST_CASE("csv sidecar: one that is cut under a guard is named, and not the text") {
  const test::TempDir dir;
  const auto path = dir / "t.csv", sidecar = sidecar_path(path);
  constexpr std::uint64_t kRows = 100000;
  std::string text = "w,n\n";
  for (std::uint64_t row = 0; row < kRows; ++row) {
    text += "word" + std::to_string(row) + "," + std::to_string(row) + "\n";
  }
  test::write_text(path, text);
  write_sidecar(path);
  const auto size = std::filesystem::file_size(sidecar);
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{4096}, size / 2, size - 2}) {
    CAPTURE(left);
    write_sidecar(path);
    const Frame frame = Frame::open(path, test::guarded());
    REQUIRE(uses_sidecar(frame));
    test::cut_file(sidecar, left);
    const auto error = test::error_of([&] { frame.read_column<std::uint32_t>(0, {0, kRows}); });
    REQUIRE(error);
    CHECK(error->code() == Errc::io);
    CHECK(error->file() == sidecar.string());
  }
}

TEST_CASE("csv sidecar: verify finds any changed byte of it, and a stale one") {
  const test::TempDir dir;
  const auto path = dir / "t.csv", sidecar = sidecar_path(path);
  test::write_text(path, kWords);
  write_sidecar(path);
  const auto bytes = test::read_bytes(sidecar);
  const auto blames_sidecar = [&](Level level) {
    const auto findings = verify(path, level).findings;
    REQUIRE(!findings.empty());
    CHECK(findings[0].file() == sidecar.string());
    return findings[0].code();
  };
  CHECK(verify(path, Level::payload).findings.empty());
  for (std::size_t at = 0; at < bytes.size(); at += test::one_of(5)) {
    CAPTURE(at);
    auto changed = bytes;
    changed[at] ^= std::byte{4};
    test::write_bytes(sidecar, changed);
    blames_sidecar(Level::payload);
  }
  test::write_bytes(sidecar, std::span(bytes).first(5));
  CHECK(blames_sidecar(Level::structure) == Errc::corrupt);
  test::write_bytes(sidecar, bytes);
  test::write_text(path, std::string(kWords) + "Zoe,Graz,NA,,true,4\n");
  CHECK(blames_sidecar(Level::structure) == Errc::stale_index);
}

TEST_CASE(
    "csv sidecar: verify finds one of another text, and says nothing of one by many threads") {
  const test::TempDir dir;
  const auto path = dir / "t.csv", sidecar = sidecar_path(path);
  std::string text = "id,word\n";
  for (int row = 0; row < 300000; ++row) {
    text += std::to_string(row) + ",word " + std::to_string(row % 1000) + "\n";
  }
  test::write_text(path, text);
  write_sidecar(path, {.threads = 3});
  for (const unsigned threads : {1U, 2U}) {
    CHECK(verify(path, Level::structure, {.threads = threads}).findings.empty());
  }
}
