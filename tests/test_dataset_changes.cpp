// Parts and states that come and go while others write: no cell is lost.

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dataset/commit.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/dataset_rows.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;
namespace impl = dapple::detail::dataset;

TEST_CASE("dataset: no folder that is opened as a collection becomes one") {
  const TempDir folder;
  const auto rows = rows_from(folder, 0, 3, 4);
  for (const auto& set : {folder / "set.dds", folder / "set.dds/", folder / "set.dds/X"}) {
    CHECK_THROWS_AS(dataset::append(set, rows, quick()), Error);
    CHECK_THROWS_AS(dataset::write_part(set, rows, {0, 0}, quick()), Error);
    CHECK_THROWS_AS(dataset::create(set, rows, quick_commit()), Error);
    CHECK(!std::filesystem::exists(set));
  }
  // A member of one may be a data set.
  dataset::append(folder / "set.dds/X.dbdf", rows, quick());
  CHECK(Matrix::open(folder / "set.dds/X").rows() == 3);
}

TEST_CASE("dataset: a copy by column is beside the state that it is of, and goes with it") {
  const TempDir folder;
  const auto set = folder / "c.dds/X.dbdf", first = set / "dataset-1.dpc";
  dataset::append(set, rows_from(folder, 0, 3, 4), quick());
  for (const auto& name : {set, folder / "c.dds/X"}) {
    std::filesystem::remove(first);
    write_column_copy(name);
    CHECK(std::filesystem::exists(first));
  }
  CHECK(file_to_index(folder / "c.dds", {.array = "X"}) == set / "dataset-1");
  CHECK(column_copy_state(Matrix::open(folder / "c.dds/X")) == SidecarState::fresh);
  dataset::append(set, rows_from(folder, 12, 3, 4), quick());
  CHECK(column_copy_state(Matrix::open(set)) == SidecarState::none);
  write_column_copy(set);
  dataset::collect(set, {.keep = 1, .grace_s = 0});
  CHECK_FALSE(std::filesystem::exists(first));
  const Matrix rows = Matrix::open(set);
  CHECK(column_copy_state(rows) == SidecarState::fresh);
  CHECK(rows.read<double>({{0, 6}, {1, 2}}) == std::vector<double>{1, 5, 9, 13, 17, 21});
}

TEST_CASE("dataset: a repaired part is another one, and is committed as such") {
  const TempDir folder;
  const auto set = folder / "set";
  const auto part = dataset::write_part(set, rows_from(folder, 0, 30, 40), {0, 0}, quick());
  dataset::commit(set, {&part, 1}, quick_commit());
  const auto path = set / part.name;
  const auto bytes = read_bytes(path);
  write_bytes(path, std::span(bytes).first(bytes.size() - 10));  // damaged, and repaired in place
  CHECK_THROWS_AS(all_cells(set), Error);
  WriteOptions over;
  over.overwrite = true;
  over.sync = false;
  repair(path, folder / "repaired.dbdf", over);
  std::filesystem::rename(folder / "repaired.dbdf", path);
  CHECK(read_bytes(path) == bytes);  // what it was: then it is the same part
  CHECK(all_cells(set) == counted_from(0, 1200));
  over.pack = Packing::fast;
  repair(path, folder / "repaired.dbdf", over);
  std::filesystem::rename(folder / "repaired.dbdf", path);
  CHECK(Matrix::open(path).read<double>({{0, 30}, {0, 40}}) == counted_from(0, 1200));
  const Error e = required_error(error_of([&] { all_cells(set); }));
  CHECK(e.code() == Errc::corrupt);
  CHECK(e.file() == path.string());
  CHECK(e.detail().find("dataset-1") != std::string::npos);
  CHECK(e.detail().find("write it as a new part") != std::string::npos);
  // In a folder that does not know it, it is a part as any other.
  const auto other = folder / "other";
  std::filesystem::create_directory(other);
  std::filesystem::rename(path, other / part.name);
  const auto found = dataset::find_part(other, part.name, {0, 0});
  dataset::commit(other, {&found, 1}, quick_commit());
  CHECK(all_cells(other) == counted_from(0, 1200));
}

TEST_CASE("dataset: a writer whose number was collected while it slept starts again") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::append(set, rows_from(folder, 0, 3, 4), quick());
  unsigned calls = 0;
  const auto state =
      impl::make_state(set, DatasetAction::commit, false, [&](const detail::Store* latest) {
        auto draft = std::make_unique<impl::Draft>(*latest);
        if (calls++ == 0) {  // others make states 2 and 3, and remove 1 and 2: number 2 is free
          dataset::append(set, rows_from(folder, 12, 3, 4), quick());
          dataset::append(set, rows_from(folder, 24, 3, 4), quick());
          CHECK(dataset::collect(set, {.keep = 1, .grace_s = 0}).states == 2);
        }
        const auto row = draft->schema().rows;
        const auto part = dataset::write_part(set, rows_from(folder, 36, 3, 4), {row, 0}, quick());
        draft->add(impl::record_of(part), impl::prefix_of(set));
        return draft;
      });
  CHECK(calls == 2);
  CHECK(state.number == 4);
  CHECK(state.rows == 12);
  CHECK(state.parts == 4);
  CHECK(all_cells(set) == counted_from(0, 48));
}

TEST_CASE("dataset: parts that are refused are removed again") {
  const TempDir folder;
  const auto set = folder / "set";
  const auto parts = [&] {
    std::size_t n = 0;
    for (const auto& file : std::filesystem::directory_iterator(set)) {
      n += file.path().filename().string().starts_with("part-");
    }
    return n;
  };
  dataset::append(set, rows_from(folder, 0, 3, 4), quick());
  dataset::append(set, rows_from(folder, 12, 3, 4), quick());
  const auto code = [&](const auto& call) { return required_error(error_of(call)).code(); };
  CHECK(code([&] { dataset::append(set, rows_from(folder, 0, 3, 5), quick()); }) ==
        Errc::invalid_argument);
  CHECK(code([&] {
          dataset::append(set, rows_from(folder, 0, 3, 4), quick(), BlockPos{5, 0});
        }) == Errc::invalid_argument);
  CHECK(parts() == 2);
  // What has no name of a part is none, and is not removed.
  write_text(folder / "other", "kept");
  DatasetPart other = dataset::write_part(set, rows_from(folder, 0, 3, 4), {6, 0}, quick());
  const std::string written = std::exchange(other.name, "../other");
  CHECK(code([&] { dataset::append(set, other, {}); }) == Errc::invalid_argument);
  CHECK(std::filesystem::exists(folder / "other"));
  std::filesystem::remove(set / written);
  const std::string unindexed = "part-0123456789abcdef0123456789abcdef.dbdf";
  ConvertOptions plain = quick();
  plain.write.plain = true;
  convert(rows_from(folder, 24, 30, 4), {}, set / unindexed, plain);
  const DatasetPart found = dataset::find_part(set, unindexed, {6, 0});
  CHECK(test::told(required_error(error_of([&] {
          dataset::commit(set, {&found, 1});
        }))).find("index") != std::string::npos);
  std::filesystem::remove(set / unindexed);
  // Others compact the same parts while this call writes.
  ConvertOptions slow = quick();
  bool first = true;
  slow.progress = [&](std::uint64_t, std::uint64_t) {
    if (std::exchange(first, false)) dataset::compact(set, 1 << 20, quick());
  };
  CHECK(code([&] { dataset::compact(set, 1 << 20, slow); }) == Errc::invalid_argument);
  CHECK(!first);
  CHECK(parts() == 3);
  CHECK(dataset::append(set, rows_from(folder, 24, 3, 4), quick(), BlockPos{6, 0}).rows == 9);
  CHECK(parts() == 4);
  CHECK(all_cells(set) == counted_from(0, 36));
}

TEST_CASE("dataset: verify lists every part that is gone") {
  const TempDir folder;
  const auto set = folder / "set";
  std::set<std::string> gone;
  for (int i = 0; i < 3; ++i) dataset::append(set, rows_from(folder, 12 * i, 3, 4), quick());
  for (const auto& file : std::filesystem::directory_iterator(set)) {
    if (file.path().filename().string().starts_with("part-")) gone.insert(file.path().string());
  }
  REQUIRE(gone.size() == 3);
  gone.erase(gone.begin());
  for (const std::string& part : gone) std::filesystem::remove(part);
  for (const Level level : {Level::structure, Level::payload}) {
    std::set<std::string> found;
    for (const Error& finding : verify(set, level).findings) {
      CHECK(finding.code() == Errc::io);
      CHECK(found.insert(finding.file()).second);  // once each
    }
    CHECK(found == gone);
  }
}

namespace {

/// Bytes in memory that count how often they are looked at.
class CountedSource final : public detail::ByteSource {
 public:
  explicit CountedSource(std::vector<std::byte> bytes)
      : ByteSource("counted", {bytes.size()}), bytes_(std::move(bytes)) {}
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }
  mutable std::uint64_t looks = 0;

 private:
  const std::byte* keep(std::uint64_t offset, std::uint64_t) const override {
    ++looks;
    return bytes_.data() + offset;
  }
  detail::HeldBytes hold_anew(std::uint64_t offset, std::uint64_t n) const override {
    return {{bytes_.data() + offset, static_cast<std::size_t>(n)}, nullptr};
  }

  std::vector<std::byte> bytes_;
};

}  // namespace

TEST_CASE("dataset: the code maps of a block are found without a look at those of other columns") {
  constexpr std::uint32_t kParts = 3, kColumns = 2000;
  std::vector<impl::CodeMap> maps;
  for (std::uint32_t part = 0; part < kParts; ++part) {
    for (std::uint32_t col = 0; col < kColumns; col += 2) maps.push_back({part, col, {0, part}, 0});
  }
  const std::vector<impl::PartRecord> parts(kParts);
  const auto made = impl::emit_tables({}, {}, parts, maps, {}, {});
  const auto source = std::make_shared<CountedSource>(made.bytes);
  const impl::StateTables tables(source);
  source->looks = 0;
  const Range found = tables.maps_of(1, {501, 505});
  CHECK(source->looks < 100);
  REQUIRE(found.size() == 2);
  CHECK(tables.map_column(found.begin) == 502);
  CHECK(tables.map_column(found.end - 1) == 504);
  CHECK(tables.maps_of(2, {1, 2}).empty());
  CHECK(tables.maps_of(2, {0, kColumns}).size() == kColumns / 2);
}

TEST_CASE("dataset: a part of 2^40 rows is tiled at once") {
  const TempDir folder;
  const std::uint64_t rows = (std::uint64_t{1} << 40) + 1;
  {
    WriteOptions options;
    options.tile = TileShape{~std::uint32_t{0}, 1};
    options.sync = false;
    auto writer =
        MatrixWriter::create(folder / "empty.dbdf", rows, 1, ValueType::u8, options, Storage::csr);
    writer.finish();
  }
  for (int i = 0; i < 2; ++i) {
    dataset::append(folder / "set", open(folder / "empty.dbdf"), quick());
  }
  const Matrix m = Matrix::open(folder / "set");
  CHECK(m.rows() == 2 * rows);
  CHECK(matrix_stats(m).count == 2 * rows);
}
