#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/fuzz/memory_file.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Demand;
using test::kLine;
using test::Sample;

namespace {

using Bytes = std::vector<std::byte>;

// Where the answers of the library about damaged bytes are wrong, in words; "" if nowhere. What
// the reference reads is the truth. An index may still list, and lead to, the blocks that the file
// had before; where the reference refuses to read at all, their cells must be those of before.
std::string wrong_answer(const std::filesystem::path& path, const Bytes& damaged,
                         const reference::Object& before) {
  Demand demand = Demand::equal_or_error;
  std::string wrong = "refused";
  try {
    wrong = test::difference(path, reference::read(damaged, 1 << 16), demand);
  } catch (const reference::Refused&) {
    demand = Demand::cells_or_error;
  } catch (const reference::TooLarge&) {
    demand = Demand::cells_or_error;
  }
  return wrong.empty() || test::difference(path, before, demand).empty() ? "" : wrong;
}

// Bytes of the file that are headers, index or padding: all but the values of blocks.
std::vector<bool> structure_of(const Bytes& bytes, const reference::Object& object) {
  std::vector<bool> structure(bytes.size(), true);
  for (const reference::Block& b : object.blocks) {
    const std::uint64_t header = b.kind == 0 ? 9 : b.kind == 1 ? 10 : b.kind == 2 ? 18 : 14;
    std::fill_n(structure.begin() + static_cast<std::ptrdiff_t>(b.offset + header),
                b.bytes - header, false);
  }
  return structure;
}

// Other values for a byte: every bit flipped alone, the neighbours, the limits.
std::vector<std::byte> changes_of(std::byte old) {
  std::vector<std::byte> values;
  for (int bit = 0; bit < 8; ++bit) values.push_back(old ^ std::byte(1 << bit));
  const int n = std::to_integer<int>(old);
  for (const int v : {0, 255, n - 1, n + 1}) values.push_back(static_cast<std::byte>(v));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::erase(values, old);
  return values;
}

// A 4 x 4 matrix in four dense tiles.
std::filesystem::path tiles(const test::TempDir& dir, bool plain) {
  WriteOptions options;
  options.tile = TileShape{2, 2};
  options.plain = plain;
  options.sync = false;
  auto w = MatrixWriter::create(dir / "m.dbdf", 4, 4, ValueType::i32, options);
  const std::vector<std::int32_t> values(4, 1 << 20);
  for (const std::uint64_t rx : {0, 2}) {
    for (const std::uint64_t cx : {0, 2}) w.put<std::int32_t>({rx, cx}, {values.data(), 2, 2});
  }
  w.finish();
  return dir / "m.dbdf";
}

// The byte of a field of an index entry of those tiles, which have no order and no cover tree.
std::size_t entry_byte(const Bytes& file, std::size_t number, std::size_t field) {
  return file.size() - kLine - (4 - number) * kLine + field;
}

constexpr std::size_t kOffsetField = 16, kStoredField = 32, kRowsField = 48, kKindField = 56;

}  // namespace

TEST_CASE("damage: every small file is read as the reference reads it while it is sound") {
  fuzz::MemoryFile file;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    CHECK(sample.bytes.size() < 2100);
    file.set(sample.bytes);
    CHECK(test::difference(file.path()) == "");
  }
}

TEST_CASE("damage: a file cut at any byte gives what is left of it, or an error") {
  fuzz::MemoryFile file;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    const reference::Object before = reference::read(sample.bytes);
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      CAPTURE(size);
      const Bytes cut(sample.bytes.begin(), sample.bytes.begin() + static_cast<long>(size));
      file.set(cut);
      REQUIRE(wrong_answer(file.path(), cut, before) == "");
    }
  }
}

TEST_CASE("damage: any changed byte of headers or index gives the truth, or an error") {
  fuzz::MemoryFile file;
  std::size_t changed = 0, structural = 0;
  const std::size_t step = test::one_of(5);
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    const reference::Object before = reference::read(sample.bytes);
    const std::vector<bool> structure = structure_of(sample.bytes, before);
    Bytes damaged = sample.bytes;
    for (std::size_t at = 0; at < damaged.size(); ++at) {
      if (!structure[at] || ++structural % step != 0) continue;
      for (const std::byte value : changes_of(sample.bytes[at])) {
        damaged[at] = value;
        file.set(damaged);
        const std::string wrong = wrong_answer(file.path(), damaged, before);
        CAPTURE(at);
        CAPTURE(std::to_integer<int>(sample.bytes[at]));
        CAPTURE(std::to_integer<int>(value));
        CHECK(wrong == "");
        ++changed;
      }
      damaged[at] = sample.bytes[at];
    }
  }
  CHECK(changed > 10000 / step);
}

TEST_CASE("damage: with hashes checked, no changed bit of a file changes any answer") {
  fuzz::MemoryFile file;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    file.set(sample.bytes);
    if (std::visit([](const auto& o) { return o.index_origin(); }, open(file.path())) !=
        IndexOrigin::embedded) {
      continue;
    }
    const reference::Object before = reference::read(sample.bytes);
    Bytes damaged = sample.bytes;
    const std::size_t step = test::one_of(24);
    for (std::size_t at = 0; at < damaged.size(); ++at) {
      for (std::size_t bit = at % step; bit < 8; bit += step) {
        CAPTURE(at);
        CAPTURE(bit);
        damaged[at] ^= std::byte(1U << bit);
        file.set(damaged);
        for (const Check check : {Check::first_touch, Check::always}) {
          OpenOptions options;
          options.check = check;
          CHECK(test::difference(file.path(), before, Demand::equal_or_error, options) == "");
        }
        damaged[at] ^= std::byte(1U << bit);
      }
    }
  }
}

TEST_CASE("damage: an entry that leads out of the file is blamed itself, and the way out is told") {
  const test::TempDir dir;
  const auto path = tiles(dir, false);
  const auto fails_with = [&](const std::filesystem::path& damaged, std::string_view advice) {
    Bytes bytes = test::read_bytes(damaged);
    bytes[entry_byte(bytes, 1, kOffsetField) + 7] = std::byte{0x40};
    test::write_bytes(damaged, bytes);
    const auto error = test::error_of([&] { Matrix::open(path).read<double>({{0, 4}, {0, 4}}); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    CHECK(error->file() == damaged.string());
    CHECK(error->offset() == entry_byte(bytes, 1, 0));
    CHECK(error->detail() ==
          "the index entry of block (0, 2) points outside the file; " + std::string(advice));
  };
  SUBCASE("embedded") { fails_with(path, "repair the file to rebuild its index"); }
  SUBCASE("sidecar") {
    std::filesystem::remove(path);
    tiles(dir, true);
    write_sidecar(path);
    fails_with(sidecar_path(path), "index the file again to renew the sidecar");
    write_sidecar(path);
    CHECK(Matrix::open(path).read<double>({{0, 1}, {2, 3}}) == std::vector<double>{1 << 20});
  }
}

TEST_CASE("damage: an entry of no cells that stores values is refused by a conversion, too") {
  const test::TempDir dir;
  const auto path = tiles(dir, false);
  Bytes bytes = test::read_bytes(path);
  std::fill_n(bytes.begin() + static_cast<long>(entry_byte(bytes, 1, kRowsField)), 4, std::byte{0});
  bytes[entry_byte(bytes, 1, kStoredField)] = std::byte{0};
  bytes[entry_byte(bytes, 1, kKindField)] = std::byte{2};
  test::write_bytes(path, bytes);
  const auto error = test::error_of([&] { convert(open(path), {}, dir / "out.dbdf"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
  CHECK(dir.names() == std::vector<std::string>{"m.dbdf"});
}

TEST_CASE("damage: an index whose blocks fit their headers but share a cell is refused (R3)") {
  const test::TempDir dir;
  const auto path = dir / "m";
  WriteOptions options;
  options.narrow = false;
  options.kind = KindChoice::dense;
  options.off_grid = true;
  auto writer = MatrixWriter::create(path, 1, 5, ValueType::u8, options);
  constexpr std::uint8_t kCells[] = {11, 22, 33, 44, 55};
  writer.put<std::uint8_t>({0, 0}, {kCells, 1, 1});
  writer.put<std::uint8_t>({0, 1}, {kCells + 1, 1, 2});
  writer.put<std::uint8_t>({0, 3}, {kCells + 3, 1, 2});
  writer.finish();
  std::uint64_t offset = 0;
  {
    const Matrix m = Matrix::open(path);
    REQUIRE(m.index_origin() == IndexOrigin::embedded);
    REQUIRE(!m.grid());
    CHECK(m.read<int>({{0, 1}, {0, 5}}) == std::vector<int>{11, 22, 33, 44, 55});
    offset = m.block({0, 3}).info().offset;
  }
  // The last block moves onto the one in front of it: the areas still add up to all five cells.
  Bytes bytes = test::read_bytes(path);
  bytes[offset - 8] = std::byte{2};
  bytes[entry_byte(bytes, 2, 8)] = std::byte{2};
  test::write_bytes(path, bytes);
  const Matrix m = Matrix::open(path);
  for (const Absent absent : {Absent::error, Absent::zero}) {
    const auto reads = {test::error_of([&] {
                          m.read<int>({{0, 1}, {0, 5}}, {.absent = absent});
                        }),
                        test::error_of([&] {
                          m.read_csr<int>({{0, 1}, {0, 5}}, {.absent = absent});
                        })};
    for (const auto& error : reads) {
      REQUIRE(error);
      CHECK(error->code() == Errc::corrupt);
      CHECK(error->offset() == offset);
      CHECK(error->detail() == "blocks (0, 1) and (0, 2) both hold cell (0, 2) (R3)");
    }
  }
  CHECK(m.read<int>({{0, 1}, {0, 2}}) == std::vector<int>{11, 22});
}
