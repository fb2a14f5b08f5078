// Flags, reserved bytes and tile shapes that lie under right hashes: whatever is asked, the answer
// is an error or the truth, and `verify` tells.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/fuzz/sign.h"
#include "tests/support.h"

using namespace dapple;
using detail::load_le, detail::store_le;
using test::kLine;
using test::TempDir;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kWidth = 64, kTile = 16;

Matrix write_matrix(const std::filesystem::path& path, std::uint32_t rows, bool plain) {
  WriteOptions options;
  options.tile = TileShape{kTile, kTile};
  options.kind = KindChoice::dense;
  options.narrow = false;
  options.plain = plain;
  options.sync = false;
  options.overwrite = true;
  auto writer = test::writer<double>(path, rows, kWidth, options);
  std::vector<double> cells(std::size_t{kTile} * kTile);
  for (std::uint32_t r = 0; r < rows; r += kTile) {
    for (std::uint32_t c = 0; c < kWidth; c += kTile) {
      for (std::size_t k = 0; k < cells.size(); ++k)
        cells[k] = r + c + 1 + static_cast<double>(k % 3) / 4;
      writer.put<double>({r, c}, {cells.data(), std::min(kTile, rows - r), kTile, kTile});
    }
  }
  writer.finish();
  return Matrix::open(path);
}

/// A frame whose words are in a hint.
void write_words(const std::filesystem::path& path) {
  Column column{"w", ValueType::u8};
  column.meaning.kind = MeaningKind::category;
  auto words = std::make_shared<detail::WordTable>();
  words->add("x");
  words->add("y");
  column.meaning.words = words;
  WriteOptions options;
  options.overwrite = true;
  options.sync = false;
  auto writer = FrameWriter::create(path, 3, {column}, options);
  const std::vector<std::uint8_t> cells{1, 2, 0};
  writer.put<std::uint8_t>({0, 0}, {cells.data(), 3, 1});
  writer.finish();
}

std::byte* trailer_of(Bytes& file) { return file.data() + file.size() - kLine; }
std::byte* entries_of(Bytes& file) {
  return file.data() + file.size() - load_le<std::uint64_t>(trailer_of(file) + 8) + kLine;
}

OpenOptions checking(Check check) {
  OpenOptions options;
  options.check = check;
  return options;
}

/// Calls `ask`, which may throw an Error.
template <class Ask>
void ask_or_fail(const Ask& ask) {
  try {
    ask();
  } catch (const Error& error) {
    CAPTURE(error.what());
    CHECK((error.code() == Errc::corrupt || error.code() == Errc::absent ||
           error.code() == Errc::invalid_argument));
  }
}

void require_words(const std::filesystem::path& path) {
  for (const Check check : {Check::never, Check::always}) {
    ask_or_fail([&] {
      const Frame f = Frame::open(path, checking(check));
      CHECK(f.column_info(0).meaning.kind == MeaningKind::category);
      std::string text;
      append_text(f.column_info(0), 2, text);
      CHECK(text == "y");
    });
  }
}

/// Whole rows of tiles and pictures, of a matrix whose truth is known.
void require_matrix(const std::filesystem::path& path, const std::vector<Stats>& rows) {
  for (const Check check : {Check::never, Check::always}) {
    ask_or_fail([&] {
      const auto got = tile_row_stats(Matrix::open(path, checking(check)));
      REQUIRE(got.size() == rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(got[i].count == rows[i].count);
        CHECK(got[i].sum == doctest::Approx(rows[i].sum));
        CHECK(got[i].max == rows[i].max);
      }
    });
    ask_or_fail([&] {
      const Matrix m = Matrix::open(path, checking(check));
      for (const BlockInfo& block : m.blocks()) CHECK((block.rows > 0 && block.cols > 0));
    });
    ask_or_fail([&] {
      const Matrix m = Matrix::open(path, checking(check));
      std::uint64_t area = 0;
      std::vector<BlockInfo> infos(m.blocks().size());
      m.blocks().copy(0, infos);
      for (const BlockInfo& block : infos) area += std::uint64_t{block.rows} * block.cols;
      CHECK(area == m.rows() * m.cols());
    });
  }
}

}  // namespace

TEST_CASE("forged flags: no flag of an index turns words into numbers") {
  const TempDir dir;
  write_words(dir / "f.dbdf");
  const Bytes sound = test::read_bytes(dir / "f.dbdf");
  for (unsigned bit = 0; bit < 32; ++bit) {
    CAPTURE(bit);
    Bytes forged = sound;
    std::byte* const flags = trailer_of(forged) + 44;
    store_le(flags, load_le<std::uint32_t>(flags) ^ 1U << bit);
    fuzz::sign_index(forged);
    const auto path = dir.write("g.dbdf", forged);
    require_words(path);
    CHECK(verify(path, Level::payload).findings.empty() == (bit == 1));  // which 0.2 set
  }
}

TEST_CASE("forged flags: nor does a flag of a hint") {
  const TempDir dir;
  write_words(dir / "f.dbdf");
  // A hint of an unknown kind after the words, which says that no other precedes it, or that one
  // does, or that more is reserved than is.
  const Bytes sound = test::read_bytes(dir / "f.dbdf");
  const detail::dbdf::Hint words = fuzz::hint_of((dir / "f.dbdf").string(), "DPL-COLS");
  const std::uint64_t end =
      words.offset + detail::round_up(words.bytes + detail::dbdf::kHintTrailer, kLine);
  for (unsigned bit = 0; bit < 64; ++bit) {
    CAPTURE(bit);
    Bytes forged = sound;
    std::byte* const flags = forged.data() + end - detail::dbdf::kHintTrailer + 24;
    store_le(flags, load_le<std::uint64_t>(flags) ^ std::uint64_t{1} << bit);
    fuzz::sign_hint(forged, words);
    const auto path = dir.write("g.dbdf", forged);
    require_words(path);
    CHECK(!verify(path, Level::payload).findings.empty());
  }
}

TEST_CASE("forged flags: reserved bytes of entries are zero") {
  const TempDir dir;
  const Matrix m = write_matrix(dir / "m.dbdf", kWidth, false);
  const auto rows = tile_row_stats(m);
  const Bytes sound = test::read_bytes(dir / "m.dbdf");
  for (const std::uint64_t entry : {0U, 5U, 15U}) {
    for (std::size_t at = 48; at < 64; ++at) {
      CAPTURE(entry);
      CAPTURE(at);
      Bytes forged = sound;
      entries_of(forged)[entry * kLine + at] ^= std::byte{1};
      fuzz::sign_index(forged);
      const auto path = dir.write("g.dbdf", forged);
      require_matrix(path, rows);
      CHECK(!verify(path, Level::structure).findings.empty());
      const Matrix lying = Matrix::open(path, checking(Check::always));
      CHECK(test::error_of([&] { lying.read<double>({{0, kWidth}, {0, kWidth}}); }));
    }
  }
}

TEST_CASE("forged flags: an order of blocks that is not the file's is found") {
  const TempDir dir;
  auto writer = test::writer<double>(dir / "m.dbdf", 2, 1);
  const std::vector<double> cells{1, 2};
  for (const std::uint64_t row : {1U, 0U}) writer.put<double>({row, 0}, {&cells[row], 1, 1});
  writer.finish();
  Bytes file = test::read_bytes(dir / "m.dbdf");
  REQUIRE((load_le<std::uint32_t>(trailer_of(file) + 44) & 1) == 1);  // it is not that of entries
  CHECK(verify(dir / "m.dbdf", Level::structure).findings.empty());
  std::byte* const order = entries_of(file) + 2 * kLine;
  std::swap_ranges(order, order + 8, order + 8);
  fuzz::sign_index(file);
  const auto report = verify(dir.write("g.dbdf", file), Level::structure);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].detail() == "the index lists the blocks in another order than the file");
}

TEST_CASE("forged flags: a picture calls no cell absent that exists") {
  const TempDir dir;
  write_matrix(dir / "m.dbdf", kWidth, false);
  const Bytes sound = test::read_bytes(dir / "m.dbdf");
  for (const std::size_t at : {0U, 8U, 48U, 52U, 56U}) {  // position, shape, kind
    for (const std::byte change : {std::byte{1}, std::byte{16}, std::byte{17}}) {
      CAPTURE(at);
      CAPTURE(static_cast<int>(change));
      Bytes forged = sound;
      entries_of(forged)[3 * kLine + at] ^= change;
      fuzz::sign_index(forged);
      const auto path = dir.write("g.dbdf", forged);
      require_matrix(path, tile_row_stats(Matrix::open(dir / "m.dbdf")));
    }
  }
}

TEST_CASE("forged flags: names and attributes are not hidden") {
  const TempDir dir;
  NamesBuilder names;
  names.add("first");
  WriteOptions options;
  options.row_names = names.finish();
  options.attributes = R"({"unit":"K"})";
  MatrixWriter::create(dir / "m.dbdf", 1, 1, ValueType::u8, options).finish();
  Bytes forged = test::read_bytes(dir / "m.dbdf");
  constexpr std::uint32_t kHints = 4, kFlags = 44;
  store_le(trailer_of(forged) + kFlags,
           load_le<std::uint32_t>(trailer_of(forged) + kFlags) ^ kHints);
  fuzz::sign_index(forged);
  test::write_bytes(dir / "m.dbdf", forged);
  for (const Check check : {Check::never, Check::always}) {
    const Matrix m = Matrix::open(dir / "m.dbdf", checking(check));
    CHECK(test::required_error(test::error_of([&] { m.row_names(); })).code() == Errc::corrupt);
    CHECK(test::required_error(test::error_of([&] { m.attributes(); })).code() == Errc::corrupt);
  }
  CHECK(!verify(dir / "m.dbdf", Level::structure).findings.empty());
}

TEST_CASE("forged flags: statistics are not of other tiles") {
  const TempDir dir;
  constexpr std::uint32_t kRows = 60;  // 15 rows each would be as many tiles
  const Matrix m = write_matrix(dir / "p.dbdf", kRows, true);
  write_sidecar(dir / "p.dbdf", {}, {.statistics = true});
  const auto rows = tile_row_stats(m);
  const auto sidecar = sidecar_path(dir / "p.dbdf");
  const Bytes sound = test::read_bytes(sidecar);
  for (const std::uint32_t tile : {15U, 17U, 18U}) {
    CAPTURE(tile);
    Bytes forged = sound;
    store_le(trailer_of(forged) + 32, tile);
    fuzz::sign_index(forged);
    test::write_bytes(sidecar, forged);
    require_matrix(dir / "p.dbdf", rows);
    CHECK(!verify(dir / "p.dbdf", Level::payload).findings.empty());
  }
}
