// Items of a file that are taken back while they are made (lib/dbdf/item_file.h).

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/write/item_file.h"
#include "lib/io/hash.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/support.h"

using namespace dapple;
using detail::Entry;
using detail::PieceBuffer;
using detail::dbdf::ItemFile;
using test::TempDir;

namespace {

constexpr std::uint64_t kStripsRows = 880, kStripsCols = 300, kStripHeight = 220;

/// A strip of the matrix as a dense block of u8, every cell its number of rows in front.
Entry strip_entry(std::uint64_t number) {
  Entry entry;
  entry.pos = {number * kStripHeight, 0};
  entry.rows = kStripHeight;
  entry.cols = kStripsCols;
  entry.kind = BlockKind::dense;
  entry.value_type = ValueType::u8;
  entry.stored = kStripHeight * kStripsCols;
  entry.bytes = detail::dbdf::kDenseHeader + entry.stored;
  return entry;
}

void make_strip(const Entry& entry, PieceBuffer& buffer, std::uint64_t cells) {
  detail::dbdf::emit_item_header(buffer.claim(detail::dbdf::kPosition + detail::dbdf::kDenseHeader),
                                 entry);
  const auto value = static_cast<std::byte>(entry.pos.rx / kStripHeight + 1);
  buffer.put(std::vector<std::byte>(cells, value));
}

/// A file whose strips 1 and 2 are begun first, strip 2 while strip 1 is being made, and taken back
/// where `fails` says so; then they are put after strips 0 and 3.
std::filesystem::path write_strips(const TempDir& dir, const char* name, bool plain,
                                   std::array<bool, 2> fails) {
  WriteOptions options;
  options.sync = false;
  options.plain = plain;
  options.overwrite = true;
  detail::Schema schema;
  schema.rows = kStripsRows;
  schema.cols = kStripsCols;
  schema.value_type = ValueType::u8;
  const std::filesystem::path path = dir / name;
  ItemFile file(detail::OutputFile(path, options.overwrite), options,
                detail::dbdf::emit_header(schema), detail::dbdf::KeepStats::yes);
  PieceBuffer buffer, inner;
  const auto put = [&](std::uint64_t n) {
    return file.put_pieces(strip_entry(n), {}, nullptr, buffer, [&] {
      make_strip(strip_entry(n), buffer, kStripHeight * kStripsCols);
      return true;
    });
  };
  CHECK(put(0));
  // Of what fails, something is in the file.
  const auto make_or_fail = [&](std::uint64_t n, PieceBuffer& out) {
    make_strip(strip_entry(n), out, fails[n - 1] ? 10'000 : kStripHeight * kStripsCols);
    if (fails[n - 1]) out.flush();
    return !fails[n - 1];
  };
  const bool outer_put = file.put_pieces(strip_entry(1), {}, nullptr, buffer, [&] {
    const bool inner_put =
        file.put_pieces(strip_entry(2), {}, nullptr, inner, [&] { return make_or_fail(2, inner); });
    CHECK(inner_put == !fails[1]);
    return make_or_fail(1, buffer);
  });
  CHECK(outer_put == !fails[0]);
  CHECK(put(3));
  if (fails[0]) CHECK(put(1));
  if (fails[1]) CHECK(put(2));
  CHECK(file.entries().size() == 4);
  const auto index =
      detail::BlockIndex::from_entries(file.take_entries(), kStripsRows, kStripsCols, name);
  if (!plain) file.put_index(index, detail::dbdf::emit_header(schema), {});
  const std::uint64_t size = file.publish(false);
  CHECK(size == std::filesystem::file_size(path));
  return path;
}

void check_strips(const std::filesystem::path& path) {
  const Matrix matrix = Matrix::open(path);
  CHECK(matrix.blocks().size() == 4);
  for (std::uint64_t row = 0; row < kStripsRows; row += kStripHeight - 1) {
    CAPTURE(row);
    const auto cells = matrix.read<std::uint8_t>({{row, row + 1}, {0, kStripsCols}});
    CHECK(cells == std::vector<std::uint8_t>(kStripsCols,
                                             static_cast<std::uint8_t>(row / kStripHeight + 1)));
  }
  const VerifyReport report = verify(path, Level::payload);
  CHECK(report.findings.empty());
  CHECK(report.blocks == 4);
  CHECK(test::difference(path) == "");
}

}  // namespace

TEST_CASE("item file: what is taken back leaves nothing at the end, and padding in the middle") {
  const TempDir dir;
  for (const bool plain : {false, true}) {  // without an index, blocks are found one by one
    CAPTURE(plain);
    const auto whole = write_strips(dir, "whole", plain, {false, false});
    const auto last = write_strips(dir, "last", plain, {false, true});
    const auto middle = write_strips(dir, "middle", plain, {true, false});
    const auto both = write_strips(dir, "both", plain, {true, true});
    for (const auto& path : {whole, last, middle, both}) {
      CAPTURE(path.string());
      check_strips(path);
    }
    const auto size = [](const auto& path) { return std::filesystem::file_size(path); };
    // An index also lists the order of blocks, unless they are in that of their positions.
    const std::uint64_t order = plain ? 0 : 64;
    CHECK(size(last) == size(whole) + order);
    CHECK(size(both) == size(whole) + order);
    CHECK(size(middle) > size(whole) + kStripHeight * kStripsCols);
  }
}
