// Files cut at every byte: each block in front of the cut is saved as it was, and nothing else.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/walk.h"
#include "lib/io/memory/memory_source.h"
#include "tests/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/partition.h"
#include "tests/reference.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;
using test::kPosition;
using test::Rng;
using test::TempDir;

namespace {

using Bytes = std::vector<std::byte>;

struct Whole {
  std::string name;
  Bytes bytes;
  std::uint64_t body = 19;
};

Bytes written(const TempDir& dir, const test::Partition& p, bool plain, KindChoice kind) {
  Rng rng(17);
  WriteOptions options;
  options.plain = plain;
  options.sync = false;
  options.overwrite = true;
  options.kind = kind;
  auto w = test::writer<std::int16_t>(dir / "m", p.rows, p.cols, options);
  for (const Region& cells : p.blocks) {
    const auto rows = static_cast<std::uint32_t>(cells.rows.size());
    const auto cols = static_cast<std::uint32_t>(cells.cols.size());
    std::vector<std::int16_t> values(std::size_t{rows} * cols);
    for (auto& v : values) v = static_cast<std::int16_t>(rng.chance(40) ? rng.below(300) : 0);
    w.put<std::int16_t>({cells.rows.begin, cells.cols.begin}, {values.data(), rows, cols, cols});
  }
  w.finish();
  return test::read_bytes(dir / "m");
}

// Small values at small positions: bytes after a cut look like many things.
std::vector<Whole> files(const TempDir& dir) {
  Rng rng(18);
  std::vector<Whole> all;
  for (const bool plain : {false, true}) {
    const std::string layout = plain ? ", plain" : ", indexed";
    for (const auto kind : {KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
      const std::string how = layout + ", kind " + std::to_string(static_cast<int>(kind));
      for (const auto& p :
           {test::regular(7, 6, {4, 5}), test::pinwheels(1), test::guillotine(rng, 9, 8, 0)}) {
        all.push_back({p.name + how, written(dir, p, plain, kind)});
      }
    }
  }
  // A block of no cells may stand at any position: what is left of one looks like anything.
  const auto has_items_of_no_cells = [&](const Bytes& bytes) {
    const auto file = detail::memory_source(bytes, "m.dbdf");
    std::uint64_t body = 0;
    const auto schema = detail::dbdf::read_header(*file, body);
    detail::dbdf::Walk walk(*file, body, schema.rows, schema.cols);
    bool has = false;
    for (detail::dbdf::Item item; walk.next(item);) {
      has |= !item.holds_cells() && !item.auxiliary;
    }
    return has;
  };
  for (int i = 0; i < 4;) {
    const auto p = test::guillotine(rng, 9, 8, 0);
    const Bytes bytes = test::random_matrix(rng, p, ValueType::f64).bytes();
    if (has_items_of_no_cells(bytes)) continue;
    all.push_back({"by others " + std::to_string(i++), bytes});
  }
  return all;
}

// What is wrong with what was saved of the first `size` bytes of a file, in words.
std::string judge(const Whole& file, const reference::Object& object, std::uint64_t size,
                  const Bytes& bytes) {
  const auto item = [](const Bytes& of, const reference::Block& b) {
    return std::span(of).subspan(b.offset - kPosition, b.bytes + kPosition);
  };
  const reference::Object saved = reference::read(bytes);
  std::size_t found = 0;
  for (const reference::Block& b : object.blocks) {
    if (b.offset + b.bytes > size) continue;
    const std::string name = "block (" + std::to_string(b.rx) + ", " + std::to_string(b.cx) + ")";
    const auto same = [&](const reference::Block& s) {
      return std::ranges::equal(item(bytes, s), item(file.bytes, b));
    };
    if (std::none_of(saved.blocks.begin(), saved.blocks.end(), same)) return "lost " + name;
    ++found;
  }
  return found == saved.blocks.size() ? "" : "saved what was not there";
}

}  // namespace

TEST_CASE(
    "cut: repair of a file cut at any byte saves what is in front of the cut, and only that") {
  const TempDir dir;
  fuzz::MemoryFile memory;
  WriteOptions options;
  options.sync = false;
  options.plain = true;
  OpenOptions reading;
  reading.format = "dbdf";
  for (const Whole& file : files(dir)) {
    CAPTURE(file.name);
    const reference::Object object = reference::read(file.bytes);
    std::uint64_t end = file.body;  // of the blocks; the padding and index after them is all alike
    for (const reference::Block& b : object.blocks) end = std::max(end, b.offset + b.bytes);
    constexpr std::uint64_t kBehind = 9;
    for (std::uint64_t size = file.body; size < file.bytes.size();
         size += (size < end + 64 ? 1 : kBehind) * test::one_of(3)) {
      CAPTURE(size);
      memory.set(std::span(file.bytes).first(size));
      std::filesystem::remove(dir / "out");
      const RepairReport report = repair(memory.path(), dir / "out", options, reading);
      CHECK(judge(file, object, size, test::read_bytes(dir / "out")) == "");
      // What breaks off is all there is to tell of.
      CHECK(report.lost.size() <= 1);
      CHECK(verify(memory.path(), Level::structure, reading).findings.size() <= 1);
    }
  }
}
