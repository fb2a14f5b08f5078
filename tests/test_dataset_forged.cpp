// States of strangers, parts of others, and writers that sleep: never a wrong cell, never a lost
// one.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dataset/commit.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;
namespace impl = dapple::detail::dataset;

namespace {

ConvertOptions quick() {
  ConvertOptions options;
  options.write.sync = false;
  return options;
}

dataset::CommitOptions quick_commit() {
  dataset::CommitOptions options;
  options.sync = false;
  return options;
}

/// A matrix whose cells count from `first` on.
std::variant<Matrix, Frame> rows_from(const TempDir& folder, double first, std::uint32_t rows,
                                      std::uint32_t cols, ValueType type = ValueType::f64) {
  static int count = 0;
  const auto path = folder / ("rows" + std::to_string(++count) + ".dbdf");
  std::vector<double> cells(std::size_t{rows} * cols);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = first + static_cast<double>(i);
  auto writer = MatrixWriter::create(path, rows, cols, type);
  writer.put<double>({0, 0}, {cells.data(), rows, cols});
  writer.finish();
  return open(path);
}

std::vector<double> all_cells(const std::filesystem::path& path) {
  const Matrix m = Matrix::open(path);
  return m.read<double>({{0, m.rows()}, {0, m.cols()}});
}

std::vector<double> counted_from(double first, std::size_t n) {
  std::vector<double> cells(n);
  for (std::size_t i = 0; i < n; ++i) cells[i] = first + static_cast<double>(i);
  return cells;
}

/// What a state says, to be changed before it is written with hashes that are right.
struct Forgery {
  detail::Schema schema;
  std::vector<impl::PartRecord> parts;
  std::vector<detail::Entry> entries;

  explicit Forgery(const std::filesystem::path& state) {
    const auto store = std::visit([](const BlockedObject& o) { return o.share(); }, open(state));
    schema = store->schema();
    const auto& tables = *store->state<impl::OpenState>().tables;
    for (std::uint64_t i = 0; i < tables.head().parts; ++i) parts.push_back(tables.part(i));
    for (std::uint64_t i = 0; i < store->index().size(); ++i) {
      entries.push_back(store->index().entry(i));
    }
  }

  void write(const std::filesystem::path& path) const {
    const auto header = detail::dbdf::emit_header(schema);
    impl::StateHead head;
    head.number = impl::state_number(path.filename().string());
    const auto tables = impl::emit_tables(head, header, parts, {}, {}, {});
    detail::EntryTable table;
    for (const detail::Entry& entry : entries) table.push_back(entry);
    const auto index =
        detail::BlockIndex::from_entries(std::move(table), schema.rows, schema.cols, path.string());
    std::vector<std::byte> bytes = tables.bytes;
    bytes.resize((bytes.size() + 63) / 64 * 64);
    std::vector<std::byte> rest;
    const auto put = [&](std::span<const std::byte> more) {
      rest.insert(rest.end(), more.begin(), more.end());
    };
    detail::dbdf::emit_index(index, tables.hash, bytes.size() + detail::dbdf::index_bytes(index),
                             detail::dbdf::Hints::none, put);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    write_bytes(path, bytes);
  }
};

}  // namespace

TEST_CASE("dataset: a forged state is an error that names it or the part, never a wrong cell") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::append(set, rows_from(folder, 0, 3, 4), quick());
  dataset::append(set, rows_from(folder, 12, 3, 4), quick());
  Forgery forged(set / "dataset-2");
  REQUIRE(forged.entries.size() == 2);
  forged.write(set / "dataset-3");  // nothing is changed yet
  CHECK(all_cells(set) == counted_from(0, 24));
  const std::string part = impl::part_name(forged.parts[1].id);
  std::string named = part;
  SUBCASE("a block of no part") {
    forged.entries[1].offset = std::uint64_t{9} << impl::kOffsetBits;
    named = "dataset-3";
  }
  SUBCASE("a block after the end of its part") {
    forged.entries[1].offset += forged.parts[1].bytes;
  }
  SUBCASE("a block of another type") { forged.entries[1].value_type = ValueType::i64; }
  SUBCASE("a block of the other part") {
    forged.entries[1].offset = forged.entries[0].offset;
    named = impl::part_name(forged.parts[0].id);
  }
  SUBCASE("a part in another place") { forged.parts[1].cells.rows = {2, 5}; }
  SUBCASE("a part of an impossible size") {
    forged.parts[1].bytes = ~std::uint64_t{0};
    named = "dataset-3";
  }
  SUBCASE("another header") { forged.parts[1].header_hash ^= 1; }
  SUBCASE("a larger header") { forged.parts[1].body = forged.parts[1].bytes + 1; }
  SUBCASE("a part that is not there") {
    forged.parts[1].id = impl::new_id();
    named = impl::part_name(forged.parts[1].id);
  }
  SUBCASE("rows beyond the object") {
    forged.entries[1].rows = 4000;
    named = "dataset-3";
  }
  forged.write(set / "dataset-3");
  const Error e = required_error(error_of([&] {
    CHECK(Matrix::open(set).read<double>({{4, 6}, {0, 4}}) == counted_from(16, 8));
  }));
  CHECK_MESSAGE(std::string(e.what()).find(named) != std::string::npos, std::string(e.what()));
  CHECK_MESSAGE(std::string(e.what()).find("dataset-3") != std::string::npos,
                std::string(e.what()));
  CHECK(all_cells(set / "dataset-2") == counted_from(0, 24));
}

TEST_CASE("dataset: two folders share a part, and neither harms the other") {
  const TempDir folder;
  const auto a = folder / "a", b = folder / "b";
  const auto part = dataset::write_part(a, rows_from(folder, 0, 3, 4), {0, 0}, quick());
  std::filesystem::create_directory(b);
  std::filesystem::create_hard_link(a / part.name, b / part.name);
  dataset::commit(a, {&part, 1}, quick_commit());
  auto moved = part;
  moved.cells.rows = {3, 6};  // in another place there
  const auto first = dataset::write_part(b, rows_from(folder, 50, 3, 4), {0, 0}, quick());
  dataset::commit(b, std::vector{first, moved}, quick_commit());
  CHECK(all_cells(a) == counted_from(0, 12));
  auto both = counted_from(50, 12);
  const auto shared = counted_from(0, 12);
  both.insert(both.end(), shared.begin(), shared.end());
  CHECK(all_cells(b) == both);
  // Its last state in b goes, and a does not notice.
  dataset::compact(b, 1 << 20, quick());
  CHECK(dataset::collect(b, {.keep = 1, .grace_s = 0}).parts == 2);
  CHECK(!std::filesystem::exists(b / part.name));
  CHECK(all_cells(a) == shared);
  CHECK(all_cells(b) == both);
  // Both states in one process, with blocks at the same bytes of one file.
  const Matrix ma = Matrix::open(a), mb = Matrix::open(b);
  CHECK(ma.read<double>({{0, 3}, {0, 4}}) == mb.read<double>({{3, 6}, {0, 4}}));
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

TEST_CASE("dataset: what only has the name of a state is an error for all, and nobody waits") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::append(set, rows_from(folder, 0, 3, 4), quick());
  dataset::append(set, rows_from(folder, 12, 3, 4), quick());
  const auto rows = rows_from(folder, 24, 3, 4);
  Errc code = Errc::corrupt;
  std::string last = "dataset-9";
  SUBCASE("a copy of an older state") { std::filesystem::copy_file(set / "dataset-1", set / last); }
  SUBCASE("a link to a state") { std::filesystem::create_symlink("dataset-2", set / last); }
  SUBCASE("the last number of all") {
    last = "dataset-18446744073709551615";
    std::filesystem::copy_file(set / "dataset-2", set / last);
  }
  SUBCASE("a state after which no number is left") {
    last = "dataset-18446744073709551615";
    Forgery(set / "dataset-2").write(set / last);
  }
  SUBCASE("a matrix") { MatrixWriter::create(set / last, 3, 4, ValueType::f64).finish(); }
  SUBCASE("text") { std::ofstream(set / last) << std::string(200, '1') << ",2\n"; }
  SUBCASE("an empty file") { std::ofstream(set / last); }
  SUBCASE("a link to nothing") {
    std::filesystem::create_symlink("nothing", set / last);
    code = Errc::io;
  }
  const std::function<void()> calls[] = {[&] { all_cells(set); },
                                         [&] { open(set); },
                                         [&] { dataset::append(set, rows, quick()); },
                                         [&] { dataset::log(set); },
                                         [&] { dataset::compact(set, 1 << 20, quick()); },
                                         [&] { dataset::collect(set, {.keep = 1, .grace_s = 0}); }};
  for (const auto& call : calls) {
    const Error e = required_error(error_of(call));
    CHECK(e.code() == code);
    CHECK(e.file() == (set / last).string());
  }
  CHECK(all_cells(set / "dataset-2") == counted_from(0, 24));
  std::filesystem::remove(set / last);
  CHECK(all_cells(set) == counted_from(0, 24));
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
