// What opening needs, once more near the end of a file: one request for that end is enough.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/catalog/formats.h"
#include "lib/dbdf/head_copy.h"
#include "lib/dbdf/hints.h"
#include "lib/io/hash.h"
#include "lib/io/ranged_source.h"
#include "lib/object/make_object.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
namespace dbdf = dapple::detail::dbdf;

namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint64_t kEnd = 64 << 10;

/// A file of which the last 64 KiB are known: all that a server gave by one request.
class FarFile final : public detail::RangedSource {
 public:
  explicit FarFile(Bytes bytes)
      : RangedSource("far", {bytes.size()}, {.unit = kEnd, .gap = 256 << 10}),
        bytes_(std::move(bytes)) {
    const std::uint64_t n = std::min<std::uint64_t>(bytes_.size(), kEnd);
    know(bytes_.size() - n, std::span(bytes_).last(n));
  }
  mutable std::uint64_t fetches = 0;

 private:
  void fetch(std::span<const Part> parts) const override {
    ++fetches;
    for (const auto& [offset, to] : parts) {
      std::memcpy(to.data(), bytes_.data() + offset, to.size());
    }
  }
  Bytes bytes_;
};

/// What a file says: its shape, labels, words, cells and names.
std::string told(const std::variant<Matrix, Frame>& object) {
  std::string all;
  const auto add = [&](const auto& part) { all += std::string(part) + '|'; };
  if (const auto* const matrix = std::get_if<Matrix>(&object)) {
    const std::uint64_t rows = std::min<std::uint64_t>(matrix->rows(), 40);
    for (const double cell : matrix->read<double>({{0, rows}, {0, matrix->cols()}})) {
      add(std::to_string(cell));
    }
    return all + name(matrix->value_type()).data() + std::to_string(matrix->rows());
  }
  const Frame& frame = std::get<Frame>(object);
  for (std::uint64_t c = 0; c < frame.cols(); ++c) {
    const Column& column = frame.column_info(c);
    add(column.label);
    if (column.meaning.words != nullptr) {
      for (const auto word : frame.read_words(c, {100, 140})) add(word.value_or("missing"));
    }
    for (const double cell : frame.read_column<double>(c, {0, 40})) add(std::to_string(cell));
  }
  return all + std::to_string(frame.rows());
}

std::variant<Matrix, Frame> open_far(const std::shared_ptr<FarFile>& file) {
  return detail::make_object(detail::open_store(file, {}));
}

void write_frame(const std::filesystem::path& path, std::uint64_t rows, Packing pack) {
  DictionaryBuilder words;
  std::vector<std::uint32_t> codes(rows);
  std::vector<double> numbers(rows);
  for (std::uint64_t i = 0; i < rows; ++i) {
    codes[i] = words.add("word " + std::to_string(i * 7 % 19'999));
    numbers[i] = static_cast<double>(i * 2'654'435'761 % (std::uint64_t{1} << 32)) + 0.5;
  }
  std::vector<Column> columns = {{"words", ValueType::u32}, {"a longer label", ValueType::f64}};
  columns[0].meaning.kind = MeaningKind::text;
  columns[0].meaning.words = words.finish();
  auto writer = FrameWriter::create(path, rows, columns,
                                    {.tile = TileShape{1000, 1}, .narrow = false, .pack = pack});
  for (std::uint64_t row = 0; row < rows; row += 1000) {
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(1000, rows - row));
    writer.put<std::uint32_t>({row, 0}, {codes.data() + row, n, 1});
    writer.put<double>({row, 1}, {numbers.data() + row, n, 1});
  }
  writer.finish();
}

/// In tiles of 4 x 4, or of rows of one width after the other.
void write_rows_of(const std::filesystem::path& path, std::uint64_t side, bool regular) {
  WriteOptions options;
  options.tile = TileShape{4, 4};
  options.off_grid = !regular;
  auto writer = MatrixWriter::create(path, side, side, ValueType::u16, options);
  for (std::uint64_t row = 0; row < side; row += 4) {
    for (std::uint64_t col = 0, n = 4; col < side; col += n) {
      if (!regular) n = std::min<std::uint64_t>(1 + (row + col) % 5, side - col);
      std::vector<std::uint16_t> cells(4 * n);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i] = static_cast<std::uint16_t>((row + i / n) * side + col + i % n);
      }
      writer.put<std::uint16_t>({row, col}, {cells.data(), 4, static_cast<std::uint32_t>(n)});
    }
  }
  writer.finish();
}

std::size_t place_of_copy(const Bytes& bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find("DPL-HEAD");
}

/// Files that need a copy.
std::vector<Bytes> far_files(const test::TempDir& dir) {
  write_frame(dir / "plain.dbdf", 30'000, Packing::none);
  write_frame(dir / "packed.dbdf", 60'000, Packing::fast);
  write_rows_of(dir / "regular.dbdf", 200, true);
  write_rows_of(dir / "irregular.dbdf", 200, false);
  std::vector<Bytes> files;
  for (const char* const name : {"plain", "packed", "regular", "irregular"}) {
    files.push_back(test::read_bytes(dir / (std::string(name) + ".dbdf")));
    REQUIRE(files.back().size() > 2 * kEnd);
  }
  return files;
}

}  // namespace

TEST_CASE(
    "head copy: frames, large indexes and irregular tilings are opened from the last 64 KiB") {
  const test::TempDir dir;
  for (const Bytes& bytes : far_files(dir)) {
    CHECK(place_of_copy(bytes) != std::string_view::npos);
    const auto file = std::make_shared<FarFile>(bytes);
    const auto object = open_far(file);
    CHECK(file->fetches == 0);
    test::write_bytes(dir / "here.dbdf", bytes);
    CHECK(told(object) == told(open(dir / "here.dbdf")));
    CHECK(file->fetches > 0);
    CHECK(verify(dir / "here.dbdf", Level::payload).findings.empty());
  }
}

TEST_CASE("head copy: small files, and regular ones with a small index, have none") {
  const test::TempDir dir;
  write_frame(dir / "f.dbdf", 1000, Packing::none);
  write_rows_of(dir / "m.dbdf", 40, true);
  auto writer = MatrixWriter::create(dir / "large.dbdf", 1000, 100, ValueType::f64);
  std::vector<double> cells(100'000);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<double>(i) + 0.25;
  writer.put_region<double>({0, 0}, {cells.data(), 1000, 100});
  writer.finish();
  for (const char* const name : {"f.dbdf", "m.dbdf", "large.dbdf"}) {
    CHECK(place_of_copy(test::read_bytes(dir / name)) == std::string_view::npos);
  }
}

TEST_CASE("head copy: damage to it, or to what it copies, gives the right cells or an error") {
  const test::TempDir dir;
  for (const Bytes& bytes : far_files(dir)) {
    const std::string right = told(open_far(std::make_shared<FarFile>(bytes)));
    const std::size_t copy = place_of_copy(bytes);
    std::vector<std::size_t> places{2, 10, 18, 19, 20};  // of the header
    for (std::size_t at = copy; at < bytes.size(); at += 1 + (at - copy) / 40) places.push_back(at);
    std::size_t told_right = 0;
    for (const std::size_t at : places) {
      Bytes damaged = bytes;
      damaged[at] ^= std::byte{0x10};
      std::string found;
      const auto error = test::error_of(
          [&] { found = told(open_far(std::make_shared<FarFile>(std::move(damaged)))); });
      if (error) continue;
      CHECK_MESSAGE(found == right, at);
      ++told_right;
    }
    CHECK(told_right > places.size() / 2);  // the file itself has the rest
  }
}

namespace {

/// A frame of which one byte of the copy, `from` the start of that, is another one, with all hashes
/// as they should be then.
Bytes forged(Bytes bytes, std::size_t from) {
  const std::size_t copy = place_of_copy(bytes), end = bytes.size() - dbdf::kLine;
  bytes[copy + from] ^= std::byte{1};
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + end - dbdf::kHintTrailer, sizeof size);
  const auto rest = dbdf::hint_end(std::span(bytes).subspan(copy, size), copy, false);
  REQUIRE(copy + size + rest.size() == end);
  std::copy(rest.begin(), rest.end(), bytes.begin() + static_cast<std::ptrdiff_t>(copy + size));
  std::byte* const trailer = bytes.data() + end;
  std::uint64_t payload = 0;
  std::memcpy(&payload, trailer + dbdf::trailer_at::bytes, sizeof payload);
  const std::uint64_t table =
      detail::xxh3(std::span(bytes).last(payload).first(payload - dbdf::kLine));
  std::memcpy(trailer + dbdf::trailer_at::table_hash, &table, sizeof table);
  const std::uint64_t own = detail::xxh3({trailer, dbdf::trailer_at::hash}, bytes.size());
  std::memcpy(trailer + dbdf::trailer_at::hash, &own, sizeof own);
  return bytes;
}

}  // namespace

TEST_CASE("head copy: verify tells one that differs from the file though all hashes are right") {
  const test::TempDir dir;
  write_frame(dir / "f.dbdf", 30'000, Packing::none);
  const Bytes bytes = test::read_bytes(dir / "f.dbdf");
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t copy = place_of_copy(bytes), label = all.find("longer label", copy) - copy;
  for (const std::size_t from : {label, std::size_t{24}, std::size_t{40}}) {  // counts of packed
    test::write_bytes(dir / "forged.dbdf", forged(bytes, from));
    const auto findings = verify(dir / "forged.dbdf", Level::structure).findings;
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].detail().find("the copy of the head") == 0);
  }
  // Cells are not believed to be those of another header.
  const auto far = std::make_shared<FarFile>(forged(bytes, label));
  const auto error = test::error_of([&] { (void)told(open_far(far)); });
  CHECK(test::required_error(error).code() == Errc::corrupt);
}

TEST_CASE("head copy: what packing saves is known from the last 64 KiB") {
  const test::TempDir dir;
  for (const Bytes& bytes : far_files(dir)) {
    const auto packed = [](const std::variant<Matrix, Frame>& object) {
      return std::visit([](const auto& o) { return o.packed(); }, object);
    };
    test::write_bytes(dir / "here.dbdf", bytes);
    const auto here = open(dir / "here.dbdf");
    const PackedCounts known = packed(here);
    const auto file = std::make_shared<FarFile>(bytes);
    CHECK(packed(open_far(file)) == known);
    CHECK(file->fetches == 0);
    PackedCounts listed;  // by what blocks say
    std::visit(
        [&](const auto& o) {
          for (const BlockInfo& block : o.blocks()) {
            const std::uint64_t plain = 10 + block.stored * size_of(block.value_type);
            if (block.kind != BlockKind::dense || block.bytes == plain) continue;
            listed.blocks += 1;
            listed.bytes += block.bytes;
            listed.plain_bytes += plain;
          }
        },
        here);
    CHECK(known == listed);
  }
}
