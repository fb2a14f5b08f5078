// States and parts of strangers: never a wrong cell.

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/dataset/commit.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/io/hash.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/dataset_rows.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;
namespace impl = dapple::detail::dataset;

namespace {

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

  /// `set`: a byte of the tables that becomes 1.
  void write(const std::filesystem::path& path, std::optional<std::size_t> set = {}) const {
    const auto header = detail::dbdf::emit_header(schema);
    impl::StateHead head;
    head.number = impl::state_number(path.filename().string());
    auto tables = impl::emit_tables(head, header, parts, {}, {}, {});
    if (set) {
      const auto hash_of = [&](std::size_t begin, std::size_t end) {
        return detail::xxh3(std::span<const std::byte>(tables.bytes).subspan(begin, end - begin));
      };
      tables.bytes[*set] = std::byte{1};
      tables.hash = hash_of(128, tables.bytes.size());
      detail::store_le(tables.bytes.data() + 88, tables.hash);
      detail::store_le(tables.bytes.data() + 120, hash_of(0, 120));
    }
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

TEST_CASE("dataset: a state that says more than this version knows is refused") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::append(set, rows_from(folder, 1, 2, 3), quick());
  const Forgery forged(set / "dataset-1");
  const std::size_t body = 128 + (detail::dbdf::emit_header(forged.schema).size() + 7) / 8 * 8;
  for (const std::size_t at : {std::size_t{104}, std::size_t{119}, body + 80, body + 127}) {
    forged.write(set / "dataset-2", at);
    const Error error = required_error(error_of([&] { all_cells(set); }));
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.detail().find("a later one wrote it") != std::string::npos);
  }
  forged.write(set / "dataset-2", body);  // of the part's id: that file is not there
  CHECK(required_error(error_of([&] { all_cells(set); })).code() != Errc::unsupported);
}

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
