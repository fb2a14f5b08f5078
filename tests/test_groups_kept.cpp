// Groups of columns, and names of the columns of a matrix, when the file is damaged.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

using FileBytes = std::vector<std::byte>;
using Lines = std::vector<std::string>;

std::shared_ptr<const ColumnGroup> vector_of(const std::string& last) {
  return std::make_shared<ColumnGroup>(
      ColumnGroup{"v", 2, detail::listed_dictionary({"yes-1", last})});
}

/// Two words in a group without slot names, then two numbers in one with names.
std::vector<Column> grouped_columns(const std::string& last) {
  Meaning word{.kind = MeaningKind::category, .missing = kMissingCode};
  word.words = detail::listed_dictionary({"red-1", "blue"});
  const auto words = std::make_shared<ColumnGroup>(ColumnGroup{"k", 2});
  const auto numbers = vector_of(last);
  return {{"k.0", ValueType::u8, word, words, 0},
          {"k.1", ValueType::u8, word, words, 1},
          {"yes-1", ValueType::u8, {}, numbers, 0},
          {last, ValueType::u8, {}, numbers, 1}};
}

const std::uint8_t kCells[] = {1, 2, 5, 6, 0, 1, 7, 8};

FileBytes grouped_frame(const test::TempDir& folder) {
  auto w = FrameWriter::create(folder / "frame.dbdf", 2, grouped_columns("no"));
  w.put<std::uint8_t>({0, 0}, {kCells, 2, 4});
  w.finish();
  return test::read_bytes(folder / "frame.dbdf");
}

detail::Schema named_schema(const std::string& last) {
  detail::Schema schema;
  schema.rows = schema.cols = 2;
  schema.value_type = ValueType::u8;
  schema.group = vector_of(last);
  return schema;
}

FileBytes named_matrix(const test::TempDir& folder) {
  detail::BlockWriter w(folder / "matrix.dbdf", named_schema("no"), {});
  w.put({0, 0}, detail::dbdf::DenseCells{reinterpret_cast<const std::byte*>(kCells), ValueType::u8,
                                         2, 2, 2});
  w.finish();
  return test::read_bytes(folder / "matrix.dbdf");
}

/// Group and slot name of each column, then its cells.
Lines shown_groups(const std::filesystem::path& path) {
  const auto object = open(path);
  Lines lines;
  const auto show = [&](const ColumnGroup* group, std::uint64_t slot) {
    if (group == nullptr) return lines.push_back("-");
    lines.push_back(group->name + "[" + std::to_string(slot) + "] " +
                    std::string(group->slot_name(slot)));
  };
  if (const auto* matrix = std::get_if<Matrix>(&object)) {
    for (std::uint64_t c = 0; c < matrix->cols(); ++c) show(matrix->group(), c);
  } else {
    const Frame& frame = std::get<Frame>(object);
    for (std::uint64_t c = 0; c < frame.cols(); ++c) {
      show(frame.column_info(c).group.get(), frame.column_info(c).slot);
    }
  }
  lines.push_back(test::as_csv(object));
  return lines;
}

const Lines kFrame = {"k[0] ", "k[1] ", "v[0] yes-1", "v[1] no",
                      "k.0,k.1,yes-1,no\nred-1,blue,5,6\n,red-1,7,8\n"};
const Lines kMatrix = {"v[0] yes-1", "v[1] no", "yes-1,no\n1,2\n5,6\n"};

/// As `with`, but without the names of the slots in group "v".
Lines without_slot_names(Lines with) {
  for (std::string& line : with) {
    if (line.starts_with("v[")) line.resize(5);
  }
  return with;
}

FileBytes with_changed(FileBytes bytes, std::size_t at) {
  bytes[at] ^= std::byte{1};
  return bytes;
}

/// The last place of that text.
std::size_t last_of(const FileBytes& bytes, std::string_view text) {
  const std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = all.rfind(text);
  REQUIRE(at != std::string::npos);
  return at;
}

RepairReport repaired_groups(const test::TempDir& folder, const FileBytes& bytes) {
  WriteOptions options;
  options.overwrite = true;
  const RepairReport report = repair(folder.write("f.dbdf", bytes), folder / "out.dbdf", options);
  CHECK(report.blocks_lost == 0);
  CHECK(verify(folder / "out.dbdf", Level::payload).findings.empty());
  return report;
}

struct Grouped {
  FileBytes bytes;
  Lines lines;
};

/// A frame with groups, and a matrix with names.
std::vector<Grouped> grouped_files(const test::TempDir& folder) {
  return {{grouped_frame(folder), kFrame}, {named_matrix(folder), kMatrix}};
}

}  // namespace

TEST_CASE("groups: a walk, a sidecar and repair find them when the index trailer is damaged") {
  const test::TempDir folder;
  for (const auto& [bytes, lines] : grouped_files(folder)) {
    REQUIRE(shown_groups(folder.write("f.dbdf", bytes)) == lines);
    CHECK(verify(folder / "f.dbdf", Level::payload).findings.empty());
    for (std::size_t at = bytes.size() - test::kLine; at < bytes.size(); ++at) {
      CAPTURE(at);
      const auto path = folder.write("f.dbdf", with_changed(bytes, at));
      REQUIRE(shown_groups(path) == lines);
      if (at % 8 != 0) continue;
      CHECK(verify(path, Level::payload).findings.size() == 1);
      CHECK(repaired_groups(folder, with_changed(bytes, at)).meanings_lost == 0);
      CHECK(shown_groups(folder / "out.dbdf") == lines);
    }
    for (const bool statistics : {false, true}) {
      const auto path = folder.write("s.dbdf", with_changed(bytes, bytes.size() - 1));
      SidecarOptions options;
      options.statistics = statistics;
      REQUIRE(write_sidecar(path, {}, options));
      CHECK(test::base(open(path)).index_origin() == IndexOrigin::sidecar);
      CHECK(shown_groups(path) == lines);
      std::filesystem::remove(sidecar_path(path));
    }
  }
}

TEST_CASE("groups: damaged slot names leave the group, with a sound trailer and a damaged one") {
  const test::TempDir folder;
  for (const auto& [bytes, lines] : grouped_files(folder)) {
    const bool frame = lines.size() == kFrame.size();
    // The writer puts dictionaries after the table, in the order of its records.
    const FileBytes damaged = with_changed(bytes, last_of(bytes, "yes-1no"));
    Lines left = without_slot_names(lines);
    if (!frame) left.back() = "1,2\n5,6\n";
    for (const bool trailer : {true, false}) {
      CAPTURE(trailer);
      const FileBytes all = trailer ? damaged : with_changed(damaged, bytes.size() - 1);
      const RepairReport report = repaired_groups(folder, all);
      CHECK(report.meanings_lost == 1);
      REQUIRE(!report.lost.empty());
      CHECK(report.lost.back().detail() ==
            "group 'v' loses the names of its slots: the dictionary of a column does not match its "
            "hash");
      CHECK(shown_groups(folder / "out.dbdf") == left);
      CHECK(!verify(folder / "f.dbdf", Level::payload).findings.empty());
      CHECK(verify(folder / "f.dbdf", Level::structure).findings.size() == (trailer ? 0 : 1));
    }
  }
}

TEST_CASE("groups: words that slots share are lost to each of them, which stay one vector") {
  const test::TempDir folder;
  const FileBytes bytes = grouped_frame(folder);
  CHECK(repaired_groups(folder, with_changed(bytes, last_of(bytes, "red-1"))).meanings_lost == 2);
  Lines codes = kFrame;
  codes.back() = "k.0,k.1,yes-1,no\n1,2,5,6\n,1,7,8\n";
  CHECK(shown_groups(folder / "out.dbdf") == codes);
}

TEST_CASE("groups: a damaged table is an error when opened, and repair says what is lost") {
  const test::TempDir folder;
  for (const auto& [bytes, lines] : grouped_files(folder)) {
    const std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t count = all.find("DPL-COLS") + 12;
    for (const bool trailer : {true, false}) {
      CAPTURE(trailer);
      FileBytes damaged = with_changed(bytes, count);
      if (!trailer) damaged = with_changed(damaged, bytes.size() - 1);
      const auto path = folder.write("f.dbdf", damaged);
      CHECK(test::required_error(test::error_of([&] { open(path); })).code() == Errc::corrupt);
      const RepairReport report = repaired_groups(folder, damaged);
      CHECK(report.meanings_lost == 1);
      CHECK(report.lost.back().detail().ends_with(
          lines.size() == kFrame.size() ? "so every column is taken for one of numbers"
                                        : "so the names of the columns are lost"));
    }
  }
}

TEST_CASE("groups: slot names that are not UTF-8 are refused when written, found when verified") {
  const test::TempDir folder;
  const std::string bad = "caf\xe9";
  const auto columns = grouped_columns(bad);
  const auto error = test::required_error(
      test::error_of([&] { FrameWriter::create(folder / "f.dbdf", 2, columns); }));
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.detail() ==
        "group 'v' holds the slot name 'caf\\xe9', which is not UTF-8; convert the text to UTF-8 "
        "first");
  const auto of_matrix = test::required_error(
      test::error_of([&] { detail::BlockWriter(folder / "f.dbdf", named_schema(bad), {}); }));
  CHECK(of_matrix.detail() == error.detail());

  // As another writer would have written them.
  detail::dbdf::HintWriter hint;
  hint.add_columns(detail::dbdf::emit_columns(named_schema(bad)), detail::ObjectKind::matrix);
  test::Image image = test::Image::matrix(1, 2, ValueType::u8);
  image.dense<std::uint8_t>({0, 0}, 1, 2, {1, 2});
  FileBytes bytes = image.bytes();
  hint.emit(bytes.size(), [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  const auto path = folder.write("old.dbdf", bytes);
  CHECK(shown_groups(path) == Lines{"v[0] yes-1", "v[1] " + bad, "yes-1," + bad + "\n1,2\n"});
  const auto findings = verify(path, Level::payload).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].detail() == error.detail());
  CHECK(repair(path, folder / "new.dbdf").lost.empty());
  CHECK(shown_groups(folder / "new.dbdf") == shown_groups(path));
}
