// What the columns of a frame mean, when the file is damaged.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

using Bytes = std::vector<std::byte>;

const std::string kMeant =
    "word,kind,when,ok,n\n"
    "apple-1,red,2026-01-01T00:00:00Z,true,1\n"
    "berry-2,red,,false,\n"
    ",blue,2026-01-01T01:00:00Z,,-3\n"
    "damson-4,red,2026-01-01T02:00:00Z,true,4\n"
    "elder-5,blue,2026-01-01T03:00:00Z,true,5\n";

/// A file of these cells in two rows of tiles.
Bytes sample(const test::TempDir& folder) {
  test::write_text(folder / "in.csv", kMeant);
  ConvertOptions options;
  options.write.tile = TileShape{3, 4};
  convert(open(folder / "in.csv"), {}, folder / "in.dbdf", options);
  return test::read_bytes(folder / "in.dbdf");
}

Bytes flipped(Bytes bytes, std::size_t at) {
  bytes[at] ^= std::byte{1};
  return bytes;
}

std::size_t find(const Bytes& bytes, std::string_view text) {
  const std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = all.find(text);
  REQUIRE(at != std::string::npos);
  return at;
}

std::string cells_of(const test::TempDir& folder, const Bytes& bytes) {
  return test::as_csv(open(folder.write("f.dbdf", bytes)));
}

RepairReport repaired(const test::TempDir& folder, const Bytes& bytes) {
  WriteOptions options;
  options.overwrite = true;
  return repair(folder.write("f.dbdf", bytes), folder / "out.dbdf", options);
}

}  // namespace

TEST_CASE("meanings: a file whose index trailer is damaged still has them") {
  const test::TempDir folder;
  const Bytes bytes = sample(folder);
  for (std::size_t at = bytes.size() - test::kLine; at < bytes.size(); ++at) {
    CAPTURE(at);
    const Bytes damaged = flipped(bytes, at);
    REQUIRE(cells_of(folder, damaged) == kMeant);
    if (at % 8 != 0) continue;
    const RepairReport report = repaired(folder, damaged);
    CHECK(report.meanings_lost == 0);
    CHECK(test::as_csv(open(folder / "out.dbdf")) == kMeant);
    CHECK(verify(folder / "out.dbdf", Level::payload).findings.empty());
  }
}

TEST_CASE("meanings: a walk finds them by either tag, and by their place before other blocks") {
  const test::TempDir folder;
  const Bytes bytes = sample(folder);
  const std::size_t end = find(bytes, "DPL-INDX") - 26;
  Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(end));
  CHECK(cells_of(folder, cut) == kMeant);
  test::Image empty = test::Image::matrix(0, 0, ValueType::u8);
  const std::size_t header = empty.size();
  empty.empty({0, 0}, 0, 0);
  cut.insert(cut.end(), empty.bytes().begin() + static_cast<std::ptrdiff_t>(header),
             empty.bytes().end());
  CHECK(cells_of(folder, cut) == kMeant);
  // A tag that is damaged is an error, as it is with the index.
  const std::size_t tag = find(bytes, "DPL-COLS");
  const auto with_index = test::error_of([&] { cells_of(folder, flipped(bytes, tag)); });
  const auto by_walk = test::error_of([&] { cells_of(folder, flipped(cut, tag)); });
  CHECK(test::told(test::required_error(by_walk)) == test::told(test::required_error(with_index)));
}

TEST_CASE("meanings: damaged ones are the same error with an index and without") {
  const test::TempDir folder;
  const Bytes bytes = sample(folder);
  const std::size_t tag = find(bytes, "DPL-COLS"), end = find(bytes, "DPL-INDX");
  for (std::size_t at = tag; at < end - 26; ++at) {
    CAPTURE(at - tag);
    const auto with_index = test::error_of([&] { cells_of(folder, flipped(bytes, at)); });
    const Bytes both = flipped(flipped(bytes, at), bytes.size() - 1);
    std::string cells;
    const auto by_walk = test::error_of([&] { cells = cells_of(folder, both); });
    REQUIRE(by_walk.has_value() == with_index.has_value());
    if (!by_walk) {
      REQUIRE(cells == kMeant);
    } else {
      REQUIRE(by_walk->code() == with_index->code());
      REQUIRE(by_walk->detail() == with_index->detail());
    }
    REQUIRE(!verify(folder / "f.dbdf", Level::payload).findings.empty());
  }
}

TEST_CASE("meanings: a sidecar has those of a file that is walked over") {
  const test::TempDir folder;
  const Bytes bytes = sample(folder), damaged = flipped(bytes, bytes.size() - 1);
  for (const bool statistics : {false, true}) {
    const auto path = folder.write("s.dbdf", damaged);
    SidecarOptions options;
    options.statistics = statistics;
    REQUIRE(write_sidecar(path, {}, options));
    CHECK(test::base(open(path)).index_origin() == IndexOrigin::sidecar);
    CHECK(test::as_csv(open(path)) == kMeant);
  }
}

TEST_CASE("repair: a whole frame that never had meanings has lost none") {
  const test::TempDir folder;
  WriteOptions plain;
  plain.plain = true;
  auto writer = FrameWriter::create(folder / "p.dbdf", 1, {{"n", ValueType::u8}}, plain);
  const std::uint8_t cell = 7;
  writer.put<std::uint8_t>({0, 0}, {&cell, 1, 1});
  writer.finish();
  const RepairReport report = repaired(folder, test::read_bytes(folder / "p.dbdf"));
  CHECK(report.meanings_lost == 0);
  CHECK(report.lost.empty());
}

TEST_CASE("repair: of damaged words only their own dictionary is lost") {
  const test::TempDir folder;
  const Bytes bytes = sample(folder);
  const RepairReport report = repaired(folder, flipped(bytes, find(bytes, "berry-2")));
  CHECK(report.blocks_lost == 0);
  CHECK(report.meanings_lost == 1);
  REQUIRE(report.lost.size() == 1);
  CHECK(report.lost[0].detail() ==
        "column 'word' loses its words and keeps their codes: the dictionary of a column does not "
        "match its hash");
  CHECK(test::as_csv(open(folder / "out.dbdf")) ==
        "word,kind,when,ok,n\n"
        "1,red,2026-01-01T00:00:00Z,true,1\n"
        "2,red,,false,\n"
        ",blue,2026-01-01T01:00:00Z,,-3\n"
        "3,red,2026-01-01T02:00:00Z,true,4\n"
        "4,blue,2026-01-01T03:00:00Z,true,5\n");
  CHECK(verify(folder / "out.dbdf", Level::payload).findings.empty());
}

TEST_CASE("repair: keeps meanings whatever happens to the hints around them") {
  const test::TempDir folder;
  const Bytes bytes = sample(folder);
  const std::size_t tag = find(bytes, "DPL-COLS"), index = find(bytes, "DPL-INDX");
  // The trailer of their block, and its header.
  for (const std::size_t at : {index - 26 - 1, tag - 26, tag - 10, tag - 1}) {
    CAPTURE(at);
    const RepairReport report = repaired(folder, flipped(bytes, at));
    CHECK(report.meanings_lost == 0);
    CHECK(test::as_csv(open(folder / "out.dbdf")) == kMeant);
  }
  const RepairReport report = repaired(folder, flipped(bytes, tag + 40));
  CHECK(report.meanings_lost == 1);
  CHECK(report.lost.size() == 1);
}

TEST_CASE("repair: a file that is cut keeps the meanings that are whole, and tells of the others") {
  const test::TempDir folder;
  const Bytes bytes = sample(folder);
  const std::size_t tag = find(bytes, "DPL-COLS"), index = find(bytes, "DPL-INDX") - 26;
  const std::size_t table =
      static_cast<std::size_t>(detail::load_le<std::uint64_t>(bytes.data() + tag + 16));
  const auto cut_at = [&](std::size_t size) {
    return repaired(folder,
                    Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
  };
  // Nothing of them is left: the last block is cut, or the table of meanings is.
  for (std::size_t size = tag - 200; size < tag + table; size += size < tag ? 13 : 1) {
    CAPTURE(size);
    const RepairReport report = cut_at(size);
    REQUIRE(report.meanings_lost == 1);
    REQUIRE(report.lost.size() >= 1);
    CHECK(report.lost.back().detail().find("column") != std::string::npos);
  }
  // Words are after the table: those of `word`, then of `kind`.
  const std::string numbers[] = {"when,ok,n\n",
                                 "2026-01-01T00:00:00Z,true,1\n",
                                 ",false,\n",
                                 "2026-01-01T01:00:00Z,,-3\n",
                                 "2026-01-01T02:00:00Z,true,4\n",
                                 "2026-01-01T03:00:00Z,true,5\n"};
  const std::string words[] = {"word", "apple-1", "berry-2", "", "damson-4", "elder-5"};
  const std::string codes[] = {"word", "1", "2", "", "3", "4"};
  const std::string kinds[] = {"kind", "red", "red", "blue", "red", "blue"};
  const std::string kind_codes[] = {"kind", "1", "1", "2", "1", "2"};
  std::size_t most = 2;
  for (std::size_t size = tag + table; size < index; ++size) {
    CAPTURE(size);
    const RepairReport report = cut_at(size);
    REQUIRE(report.meanings_lost <= most);
    most = report.meanings_lost;
    CHECK(report.lost.size() == 1 + most);  // and that the block of meanings is cut
    CHECK(report.blocks_lost == 0);
    std::string expected;
    for (std::size_t row = 0; row < std::size(numbers); ++row) {
      expected += (most < 2 ? words : codes)[row] + "," + (most < 1 ? kinds : kind_codes)[row] +
                  "," + numbers[row];
    }
    CHECK(test::as_csv(open(folder / "out.dbdf")) == expected);
    CHECK(verify(folder / "out.dbdf", Level::payload).findings.empty());
  }
  CHECK(most == 0);
}

TEST_CASE("repair: keeps meanings when the hint after them is damaged") {
  const test::TempDir folder;
  std::string cells = "w,n\n";
  for (int i = 0; i < 20000; ++i) cells += (i % 3 == 0 ? "a," : "b,") + std::to_string(i) + "\n";
  test::write_text(folder / "in.csv", cells);
  convert(open(folder / "in.csv"), {}, folder / "in.dbdf", {});
  const Bytes bytes = test::read_bytes(folder / "in.dbdf");
  CHECK(find(bytes, "DPL-COLS") < find(bytes, "DPL-STAT"));
  const Bytes damaged = flipped(bytes, find(bytes, "DPL-INDX") - 26 - 1);
  CHECK(test::required_error(test::error_of([&] { cells_of(folder, damaged); })).code() ==
        Errc::corrupt);
  const RepairReport report = repaired(folder, damaged);
  CHECK((report.blocks_lost == 0 && report.meanings_lost == 0));
  CHECK(test::as_csv(open(folder / "out.dbdf")) == cells);
}

TEST_CASE("missing words: code 0 is one, also in a column that had none when it was written") {
  const test::TempDir folder;
  test::write_text(folder / "in.csv", "word,kind\na,x\nb,x\nc,y\nd,x\ne,y\nf,x\n");
  ConvertOptions options;
  options.write.tile = TileShape{2, 1};
  convert(open(folder / "in.csv"), {}, folder / "in.dbdf", options);
  Bytes bytes = test::read_bytes(folder / "in.dbdf");
  const Frame sound = Frame::open(folder / "in.dbdf");
  const BlockInfo lost = sound.block({2, 0}).info();
  bytes[lost.offset + 10] ^= std::byte{1};
  CHECK(repaired(folder, bytes).blocks_lost == 1);
  const auto saved = folder / "out.dbdf";
  ConvertOptions zeros;
  zeros.absent = Absent::zero;
  const std::string cells = "word,kind\na,x\nb,x\n,y\n,x\ne,y\nf,x\n";
  zeros.to = "csv";
  CHECK(test::converted(open(saved), zeros) == cells);
  zeros.to = {};
  convert(open(saved), {}, folder / "whole.dbdf", zeros);
  const Frame whole = Frame::open(folder / "whole.dbdf");
  CHECK(test::as_csv(whole) == cells);
  CHECK(verify(folder / "whole.dbdf", Level::payload).findings.empty());
  CHECK(count_where(whole, {0, ColumnCondition::missing()}) == 2);
  CHECK(column_stats(whole)[0].nans == 2);
}

TEST_CASE("codes: one without a word is refused when written and found when verified") {
  const test::TempDir folder;
  test::write_text(folder / "words.csv", "w,ok\nx,true\ny,false\nx,\n");
  const Frame source = Frame::open(folder / "words.csv");
  std::vector<Column> columns = {source.column_info(0), source.column_info(1)};
  for (const std::uint8_t code : {std::uint8_t{3}, std::uint8_t{7}, std::uint8_t{255}}) {
    for (const std::uint32_t column : {0U, 1U}) {
      auto w = FrameWriter::create(folder / "bad.dbdf", 3, columns);
      const std::uint8_t cells[] = {1, 2, code};
      const auto error = test::error_of([&] { w.put<std::uint8_t>({0, column}, {cells, 3, 1}); });
      CHECK(test::required_error(error).code() == Errc::invalid_argument);
      const std::uint64_t row_ptr[] = {0, 0, 0, 1};
      const std::uint32_t col_idx[] = {column};
      CHECK(test::error_of([&] {
        w.put<std::uint8_t>({0, 0}, {3, 2, row_ptr, col_idx, std::span(cells).subspan(2)});
      }));
    }
  }
  // A block like that of an older writer: its bytes changed, and the index made anew.
  auto w = FrameWriter::create(folder / "good.dbdf", 3, columns);
  const std::uint8_t cells[] = {1, 1, 2, 0, 1, 2};
  w.put<std::uint8_t>({0, 0}, {cells, 3, 2});
  w.finish();
  CHECK(verify(folder / "good.dbdf", Level::payload).findings.empty());
  const Bytes good = test::read_bytes(folder / "good.dbdf");
  const Frame sound = Frame::open(folder / "good.dbdf");
  const BlockInfo block = sound.block({0, 0}).info();
  const std::size_t end = find(good, "DPL-INDX") - 26;
  for (const auto& [at, code] : {std::pair(2, 3), std::pair(3, 9)}) {
    Bytes bad(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(end));
    bad[block.offset + 10 + static_cast<std::size_t>(at)] = static_cast<std::byte>(code);
    const auto path = folder.write("f.dbdf", bad);
    const auto findings = verify(path, Level::payload).findings;
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].code() == Errc::corrupt);
    CHECK(findings[0].detail() ==
          (at == 2 ? "column 'w' holds in row 1 code 3, but its dictionary has 2 words"
                   : "column 'ok' holds in row 1 9, which is neither true nor false"));
    CHECK(verify(path, Level::structure).findings.empty());
  }
}
