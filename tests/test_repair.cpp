#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
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

struct Original {
  std::string name;
  Bytes bytes;
  bool hashed = false;
  reference::Object object;
  std::uint64_t body = 0;

  std::span<const std::byte> item(const reference::Block& b) const {
    return std::span(bytes).subspan(b.offset - kPosition, b.bytes + kPosition);
  }
};

Bytes written(const TempDir& dir, const test::Partition& p, bool plain) {
  Rng rng(90);
  WriteOptions options;
  options.plain = plain;
  options.sync = false;
  options.narrow = false;
  options.off_grid = true;
  auto w = MatrixWriter::create(dir / "m", p.rows, p.cols, ValueType::i32, options);
  for (const Region& cells : p.blocks) {
    const auto rows = static_cast<std::uint32_t>(cells.rows.size());
    const auto cols = static_cast<std::uint32_t>(cells.cols.size());
    std::vector<std::int32_t> values(std::size_t{rows} * cols);
    const unsigned full = rng.chance(50) ? 95 : 15;
    for (auto& v : values) {
      v = rng.chance(full) ? static_cast<std::int32_t>(1 + rng.below(1 << 20)) : 0;
    }
    w.put<std::int32_t>({cells.rows.begin, cells.cols.begin}, {values.data(), rows, cols, cols});
  }
  w.finish();
  const Bytes bytes = test::read_bytes(dir / "m");
  std::filesystem::remove(dir / "m");
  return bytes;
}

std::vector<Original> originals(const TempDir& dir) {
  Rng rng(91);
  std::vector<Original> all;
  for (const bool plain : {false, true}) {
    for (const auto& p : {test::regular(14, 11, {4, 4}), test::regular(9, 3, {3, 3}),
                          test::pinwheels(2), test::guillotine(rng, 12, 12, 0)}) {
      Original o{p.name, written(dir, p, plain), !plain, {}, 19};
      o.object = reference::read(o.bytes);
      all.push_back(std::move(o));
    }
  }
  return all;
}

// Repairs the bytes; nothing when that is refused.
std::optional<reference::Object> repaired(const TempDir& dir, const fuzz::MemoryFile& file,
                                          Bytes& bytes, RepairReport* report = nullptr) {
  std::filesystem::remove(dir / "out");  // to rename over it would make the disk busy
  WriteOptions options;
  options.sync = false;
  options.plain = true;
  OpenOptions reading;
  reading.format = "dbdf";
  const auto error = test::error_of([&] {
    const RepairReport made = repair(file.path(), dir / "out", options, reading);
    if (report != nullptr) *report = made;
  });
  if (error) return std::nullopt;
  bytes = test::read_bytes(dir / "out");
  return reference::read(bytes);
}

bool inside(const reference::Block& a, const reference::Block& b) {
  return a.rx >= b.rx && a.cx >= b.cx && a.rx + a.rows <= b.rx + b.rows &&
         a.cx + a.cols <= b.cx + b.cols;
}

// What is wrong with what was saved of a file that is damaged in bytes [from, to), in words.
// `lost` is how many whole blocks it may lack. Without an index, only those before the damage
// count.
std::string judge(const Original& original, std::uint64_t from, std::uint64_t to,
                  const Bytes& bytes, const reference::Object& saved, std::uint64_t lost) {
  std::uint64_t found = 0, whole = 0;
  const auto is_whole = [&](const reference::Block& b) {
    return b.offset + b.bytes <= from || b.offset - kPosition >= to;
  };
  for (const reference::Block& b : original.object.blocks) {
    whole += original.hashed ? is_whole(b) : b.offset + b.bytes <= from;
  }
  for (const reference::Block& b : saved.blocks) {
    const auto item = std::span(bytes).subspan(b.offset - kPosition, b.bytes + kPosition);
    const std::string name = " block (" + std::to_string(b.rx) + ", " + std::to_string(b.cx) + ")";
    bool known = false;
    for (const reference::Block& old : original.object.blocks) {
      const bool same = std::ranges::equal(item, original.item(old));
      if (same && is_whole(old)) ++found;
      // Without hashes nobody can tell that bytes inside a block changed.
      known = known || same || (!original.hashed && !is_whole(old) && inside(b, old));
    }
    if (!known) return "invented" + name;
  }
  if (found + lost < whole) {
    return "saved " + std::to_string(found) + " of " + std::to_string(whole) + " whole blocks";
  }
  return "";
}

}  // namespace

TEST_CASE("repair: of a file cut at any byte, whole blocks are saved, none invented, losses told") {
  const TempDir dir;
  fuzz::MemoryFile file;
  for (const Original& original : originals(dir)) {
    CAPTURE(original.name);
    CAPTURE(original.hashed);
    for (std::uint64_t size = original.body; size < original.bytes.size();
         size += test::one_of(15)) {
      CAPTURE(size);
      file.set(std::span(original.bytes).first(size));
      Bytes bytes;
      RepairReport report;
      const auto saved = repaired(dir, file, bytes, &report);
      REQUIRE(saved);
      REQUIRE(judge(original, size, original.bytes.size(), bytes, *saved, 0) == "");
      const bool whole = std::ranges::none_of(saved->cells, [](const reference::Cell& cell) {
        return cell.state == reference::State::absent;
      });
      REQUIRE((whole || !report.lost.empty()));  // also when the cut is between two blocks
    }
  }
}

TEST_CASE("repair: of a file with any byte changed, every whole block is saved and none invented") {
  const TempDir dir;
  fuzz::MemoryFile file;
  for (const Original& original : originals(dir)) {
    CAPTURE(original.name);
    CAPTURE(original.hashed);
    // Without hashes, a block that was moved onto another cannot be told from it; and the last one
    // before damage may itself be what is damaged.
    const std::uint64_t lost = original.hashed ? 0 : 1;
    Bytes damaged = original.bytes;
    for (std::uint64_t at = original.body; at < damaged.size(); at += test::one_of(15)) {
      const std::uint64_t bit = at * 5 % 8;  // every bit is in some byte of a long field
      CAPTURE(at);
      CAPTURE(bit);
      damaged[at] ^= std::byte{1} << bit;
      file.set(damaged);
      Bytes bytes;
      const auto saved = repaired(dir, file, bytes);
      REQUIRE(saved);
      REQUIRE(judge(original, at, at + 1, bytes, *saved, lost) == "");
      damaged[at] = original.bytes[at];
    }
  }
}

TEST_CASE("repair: a header of which a byte changed is told by the hash that the index has of it") {
  const TempDir dir;
  test::write_text(dir / "in.csv", "a longer label,when\n9007199254740993,2026-01-01\n,\n-1,\n");
  ConvertOptions options;
  options.write.sync = false;
  convert(open(dir / "in.csv"), {}, dir / "frame.dbdf", options);
  std::vector<Bytes> all = {test::read_bytes(dir / "frame.dbdf")};
  for (const Original& original : originals(dir)) {
    if (original.hashed) all.push_back(original.bytes);
  }
  const auto told = [&](const Bytes& bytes) {
    test::write_bytes(dir / "told", bytes);
    convert(open(dir / "told", {.format = "dbdf"}), {}, dir / "told.csv",
            {.write = {.overwrite = true, .sync = false}});
    return test::read_text(dir / "told.csv");
  };
  for (const Bytes& sound : all) {
    const bool frame = sound[1] == std::byte{3};
    const std::string wanted = told(sound);
    for (std::size_t at = 0; at < (frame ? 20u : 19u); ++at) {
      for (unsigned bit = 0; bit < 9; ++bit) {
        Bytes damaged = sound;
        if (bit == 8) {  // all bytes up to this one
          std::fill_n(damaged.begin(), at + 1, std::byte{0x5A});
          if (at >= 18) continue;
        } else {
          damaged[at] ^= std::byte{1} << bit;
        }
        CAPTURE(at);
        CAPTURE(bit);
        test::write_bytes(dir / "damaged", damaged);
        std::filesystem::remove(dir / "out");
        const RepairReport report =
            repair(dir / "damaged", dir / "out", {.sync = false}, {.format = "dbdf"});
        REQUIRE(report.lost.size() == 1);
        CHECK(report.lost[0].offset() == 0);
        CHECK(report.blocks_lost == 0);
        CHECK(report.meanings_lost == 0);
        CHECK(told(test::read_bytes(dir / "out")) == wanted);
        // A frame is not opened, since another type would make values of missing cells. What may be
        // a matrix is.
        if (frame && at != 1) {
          CHECK(test::error_of([&] { open(dir / "damaged", {.format = "dbdf"}); }).has_value());
        }
      }
    }
  }
}

TEST_CASE("repair: of a file with any run of bytes overwritten, whole blocks are saved") {
  const TempDir dir;
  fuzz::MemoryFile file;
  Rng rng(92);
  for (const Original& original : originals(dir)) {
    if (!original.hashed) continue;  // nothing tells a block whose position is gone
    CAPTURE(original.name);
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t from = rng.between(original.body, original.bytes.size() - 1);
      const std::uint64_t to = std::min(from + rng.between(1, 100), original.bytes.size());
      CAPTURE(from);
      CAPTURE(to);
      Bytes damaged = original.bytes;
      const auto kind = rng.below(3);
      for (std::uint64_t at = from; at < to; ++at) {
        damaged[at] = kind == 0   ? std::byte{0}
                      : kind == 1 ? std::byte{0xFF}
                                  : static_cast<std::byte>(rng.bits());
      }
      file.set(damaged);
      Bytes bytes;
      const auto saved = repaired(dir, file, bytes);
      REQUIRE(saved);
      REQUIRE(judge(original, from, to, bytes, *saved, 1) == "");  // one of the two it ends in
    }
  }
}

TEST_CASE("repair: a file of the DAPHNE runtime, which starts alike, is not taken for ours") {
  const TempDir dir;
  // 2 x 2 values of i32, whose code 1 the published format gives to u8.
  Image image = Image::matrix(2, 2, ValueType::u8).zeros(16);
  image.number(std::uint32_t{2}).number(std::uint32_t{2}).number(std::uint8_t{1});
  image.number(std::uint8_t{1});
  for (std::int32_t i = 0; i < 4; ++i) image.number(i);
  const auto path = dir.write("m.dbdf", image.bytes());
  const auto error = test::error_of([&] { repair(path, dir / "out"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  CHECK(dir.names() == std::vector<std::string>{"m.dbdf"});
}

TEST_CASE("repair: without an index, what precedes the first damage is kept, and that is said") {
  const TempDir dir;
  Image image = Image::matrix(1 << 20, 1 << 20, ValueType::u8);
  image.empty({0, 0}, 1, 1).empty({0, 1}, 1, 1).empty({0, 2}, 1, 1);
  const std::uint64_t damage = image.bytes().size();
  image.block_header({5, 5}, 1, 1, static_cast<BlockKind>(9));
  for (std::uint32_t i = 0; i < 40000; ++i) image.empty({1 + i, 1}, 1, 1);
  WriteOptions options;
  options.sync = false;
  const RepairReport report = repair(dir.write("m", image.bytes()), dir / "out", options);
  CHECK(report.blocks_kept == 2);  // the third one may be what is damaged
  CHECK(report.blocks_lost == 2);
  REQUIRE(report.lost.size() == 2);
  CHECK(report.lost[0].offset() == damage - 25);
  CHECK(report.lost[1].offset() == damage + 24);  // its kind
  CHECK(
      report.lost[1].detail().ends_with("; without a sound index, nothing after it can be found"));
}

TEST_CASE("repair: a shape of more tiles than there can be costs nothing") {
  const TempDir dir;
  Image image = Image::matrix(3, std::uint64_t{1} << 62, ValueType::u8);
  image.dense<std::uint8_t>({1, std::uint64_t{1} << 61}, 1, 2, {5, 6});
  const auto in = dir.write("m", image.bytes());
  const RepairReport report = repair(in, dir / "out");
  CHECK(report.blocks_kept == 1);
  CHECK(report.blocks_lost == 0);
  REQUIRE(report.lost.size() == 1);  // without an index, the file may have been cut off
  CHECK(report.lost[0].code() == Errc::absent);
  const Matrix saved = Matrix::open(dir / "out");
  CHECK(saved.block({1, std::uint64_t{1} << 61}).dense_view<std::uint8_t>()(0, 1) == 6);
}
