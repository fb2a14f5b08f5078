// Source against a table of bits in memory and loops over its cells.
#include "lib/compute/source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "lib/cells/convert_cells.h"
#include "tests/check.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using namespace dapple::detail;
using dapple::test::Table;
using dapple::test::TempDir;

namespace {

std::shared_ptr<const Store> stored(const Table& table, const TempDir& folder,
                                    const WriteOptions& options) {
  const auto path = folder / "source.dbdf";
  table.write(path, options);
  return std::visit([](const BlockedObject& object) { return object.share(); }, open(path));
}

WriteOptions tiles(std::uint32_t rows, std::uint32_t cols,
                   KindChoice kind = KindChoice::automatic) {
  WriteOptions options;
  options.tile = TileShape{rows, cols};
  options.kind = kind;
  options.overwrite = true;
  return options;
}

/// What a source says of a region, cell by cell as its own type.
void check_read(const Source& source, const Table& wanted, const Region& region) {
  std::vector<std::byte> packed(region.rows.size() * source.packed_row(region.cols));
  source.read_packed(region, packed.data(), 2);
  const std::byte* p = packed.data();
  for (std::uint64_t row = region.rows.begin; row < region.rows.end; ++row) {
    for (std::uint64_t col = region.cols.begin; col < region.cols.end; ++col) {
      CAPTURE(row);
      CAPTURE(col);
      REQUIRE(load_bits(wanted.type(col), p) == wanted.at(row, col));
      p += size_of(wanted.type(col));
    }
  }
  REQUIRE(p == packed.data() + packed.size());
}

void check_entries(const Source& source, const Table& wanted, const Region& region) {
  std::vector<StoredCell> got, expected;
  source.entries(region, [&](const StoredCell& cell) { got.push_back(cell); });
  for (std::uint64_t row = region.rows.begin; row < region.rows.end; ++row) {
    for (std::uint64_t col = region.cols.begin; col < region.cols.end; ++col) {
      if (wanted.at(row, col) != 0) expected.push_back({row, col, wanted.at(row, col)});
    }
  }
  const auto same = [](const StoredCell& a, const StoredCell& b) {
    return a.row == b.row && a.col == b.col && a.bits == b.bits;
  };
  REQUIRE(std::equal(got.begin(), got.end(), expected.begin(), expected.end(), same));
}

Table selected(const Table& table, Range rows, const std::vector<std::uint64_t>& cols) {
  std::vector<Column> columns;
  for (const std::uint64_t col : cols) columns.push_back(table.columns[col]);
  Table part(table.kind, rows.size(), std::move(columns));
  for (std::uint64_t r = 0; r < rows.size(); ++r) {
    for (std::uint64_t c = 0; c < cols.size(); ++c) {
      part.at(r, c) = table.at(rows.begin + r, cols[c]);
    }
  }
  return part;
}

}  // namespace

TEST_CASE("source: any selection of rows and columns, in any order, equals the oracle") {
  const TempDir folder;
  test::Rng random(1);
  for (const ObjectKind kind : {ObjectKind::matrix, ObjectKind::frame}) {
    for (const unsigned percent : {0U, 3U, 40U, 100U}) {
      const Table table = Table::random(kind, 57, 23, percent, random);
      const auto store = stored(table, folder, tiles(10, 7));
      for (int round = 0; round < 12; ++round) {
        const std::uint64_t begin = random.below(58);
        const Range rows{begin, random.between(begin, 57)};
        std::vector<std::uint64_t> cols(random.below(30));
        for (auto& col : cols) col = random.below(23);
        if (round % 3 == 0) std::sort(cols.begin(), cols.end());
        const Table part = selected(table, rows, cols);
        const Source source(store, {rows, cols}, {});
        REQUIRE(source.rows() == part.rows);
        REQUIRE(source.cols() == part.cols());
        const Region all{{0, part.rows}, {0, part.cols()}};
        check_read(source, part, all);
        check_entries(source, part, all);
        const Region inner = test::random_region(part.rows, part.cols(), random);
        check_read(source, part, inner);
        check_entries(source, part, inner);
      }
    }
  }
}

TEST_CASE("source: pieces follow each other in row-major order and stay within their bytes") {
  const TempDir folder;
  test::Rng random(2);
  for (const ObjectKind kind : {ObjectKind::matrix, ObjectKind::frame}) {
    const Table table = Table::random(kind, 61, 19, 50, random);
    const auto store = stored(table, folder, tiles(8, 8));
    for (const std::uint64_t bytes : {1U, 40U, 200U, 5000U, 1U << 20}) {
      std::vector<std::uint64_t> reported;
      ConvertOptions options;
      options.progress = [&](std::uint64_t done, std::uint64_t total) {
        CHECK(total == 61);
        reported.push_back(done);
      };
      const Source source(store, {}, options);
      std::uint64_t next = 0;
      source.for_each_piece(
          [&](const Region& piece) {
            const std::uint64_t size = piece.rows.size() * source.packed_row(piece.cols);
            CHECK((size <= bytes || piece.cols.size() == 1));
            REQUIRE((piece.rows.size() == 1 || piece.cols == Range{0, 19}));
            REQUIRE(piece.rows.begin * 19 + piece.cols.begin == next);
            next += piece.rows.size() * piece.cols.size();
            check_read(source, table, piece);
          },
          bytes);
      CHECK(next == 61 * 19);
      CHECK(reported.front() == 0);
      CHECK(reported.back() == 61);
      CHECK(std::is_sorted(reported.begin(), reported.end()));
    }
  }
}

TEST_CASE("source: another value type is exact, or rounded when that is allowed") {
  const TempDir folder;
  Table table(ObjectKind::frame, 3, {{"a", ValueType::f64}, {"b", ValueType::i32}});
  const double values[] = {2.0, -3.0, 100.0};
  for (std::uint64_t r = 0; r < 3; ++r) {
    table.set(r, 0, values[r]);
    table.set(r, 1, std::int32_t{7} * static_cast<std::int32_t>(r));
  }
  ConvertOptions options;
  options.value_type = ValueType::i8;
  {
    const Source source(stored(table, folder, tiles(2, 2)), {}, options);
    CHECK(source.schema().type_of(0) == ValueType::i8);
    CHECK(source.schema().columns[1] == Column{"b", ValueType::i8});
    std::int32_t out[6] = {};
    source.read({{0, 3}, {0, 2}}, {reinterpret_cast<std::byte*>(out), ValueType::i32, 8, 4});
    CHECK(std::vector<std::int32_t>(out, out + 6) ==
          std::vector<std::int32_t>{2, 0, -3, 7, 100, 14});
  }
  table.set(2, 0, 2.5);
  table.set(1, 0, -0.25);
  const auto store = stored(table, folder, tiles(2, 2));
  {
    const Source source(store, {}, options);
    std::int8_t out[6] = {};
    const Target target{reinterpret_cast<std::byte*>(out), ValueType::i8, 2, 1};
    CHECK_THROWS_WITH_AS(source.read({{0, 3}, {0, 2}}, target), doctest::Contains("i8"), Error);
    const auto ignore = [](const StoredCell&) {};
    CHECK_THROWS_WITH_AS(source.entries({{0, 3}, {0, 2}}, ignore), doctest::Contains("i8"), Error);
  }
  options.allow_loss = true;
  {
    const Source source(store, {}, options);
    double out[6] = {};
    source.read({{0, 3}, {0, 2}}, {reinterpret_cast<std::byte*>(out), ValueType::f64, 16, 8});
    CHECK(std::vector<double>(out, out + 6) == std::vector<double>{2, 0, 0, 7, 2, 14});
    CHECK_FALSE(std::signbit(out[2]));
    std::vector<StoredCell> cells;
    source.entries({{0, 3}, {0, 1}}, [&](const StoredCell& cell) { cells.push_back(cell); });
    REQUIRE(cells.size() == 2);  // a value that rounds to zero is no entry
    CHECK(cells[1].row == 2);
    CHECK(cells[1].bits == 2);
  }
  table.set(0, 0, 1000.0);
  const Source source(stored(table, folder, tiles(2, 2)), {}, options);
  std::int8_t out[6] = {};
  const Target target{reinterpret_cast<std::byte*>(out), ValueType::i8, 2, 1};
  CHECK_THROWS_WITH_AS(
      source.read({{0, 3}, {0, 2}}, target),
      doctest::Contains("the value 1000 in row 0, column 0 is out of range for i8"), Error);
}

TEST_CASE("source: columns are read into memory of any layout") {
  const TempDir folder;
  test::Rng random(9);
  for (const unsigned percent : {3U, 100U}) {
    const Table table = Table::random(ObjectKind::frame, 31, 17, percent, random);
    const Source source(stored(table, folder, tiles(9, 5)), {}, {});
    for (int round = 0; round < 20; ++round) {
      const std::uint64_t begin = random.below(31);
      const Range rows{begin, random.between(begin, 31)};
      std::vector<ColumnBuffer> columns;
      // Row by row; column by column; and now and then a gap, a jump, or a column once more.
      const bool by_rows = round % 2 == 0;
      std::vector<std::byte> memory(60 * 8 * 40, std::byte{0xA5});
      std::size_t at = 0;
      for (std::uint64_t col = random.below(17), n = random.below(30); n > 0; --n) {
        columns.push_back({col, table.type(col), memory.data() + at, by_rows ? 60 * 8U : 8U});
        at += by_rows ? 8 : 8 * 31;
        if (random.below(6) == 0) at += 8;
        col = random.below(5) == 0 ? random.below(17) : (col + 1) % 17;
      }
      source.read_columns(rows, columns, 2);
      for (const ColumnBuffer& c : columns) {
        for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
          const std::byte* const cell = c.data + (row - rows.begin) * c.step;
          REQUIRE(load_bits(c.value_type, cell) == table.at(row, c.col));
          if (size_of(c.value_type) < 8) REQUIRE(cell[7] == std::byte{0xA5});  // untouched
        }
      }
    }
  }
}

TEST_CASE("source: a selection outside the object is out_of_range") {
  const TempDir folder;
  const auto store =
      stored(Table(ObjectKind::matrix, 4, {{"", ValueType::u8}}), folder, tiles(2, 2));
  const auto code_of = [&](const Selection& selection) {
    try {
      const Source source(store, selection, {});
    } catch (const Error& error) {
      return error.code();
    }
    return Errc::io;
  };
  CHECK(code_of({Range{0, 5}, {}}) == Errc::out_of_range);
  CHECK(code_of({Range{3, 2}, {}}) == Errc::out_of_range);
  CHECK(code_of({{}, std::vector<std::uint64_t>{0, 1}}) == Errc::out_of_range);
}

TEST_CASE("source: cells that no block covers are an error, or zero when asked") {
  const TempDir folder;
  const auto path = folder.write("holes.dbdf", test::Image::matrix(4, 4, ValueType::u8)
                                                   .dense<std::uint8_t>({0, 0}, 2, 2, {1, 2, 3, 4})
                                                   .bytes());
  const auto store = Matrix::open(path).share();
  const Region all{{0, 4}, {0, 4}};
  std::vector<std::byte> out(16);
  const auto count = [&](const Source& source) {
    std::size_t n = 0;
    source.entries(all, [&](const StoredCell&) { ++n; });
    return n;
  };
  const Source strict(store, {}, {});
  CHECK_THROWS_AS(strict.read_packed(all, out.data()), Error);
  CHECK_THROWS_AS(count(strict), Error);
  ConvertOptions options;
  options.absent = Absent::zero;
  const Source lenient(store, {}, options);
  lenient.read_packed(all, out.data());
  CHECK(out[5] == std::byte{4});
  CHECK(out[15] == std::byte{0});
  CHECK(count(lenient) == 4);
}

TEST_CASE("source: a shape of 2^60 rows without an entry costs nothing") {
  const TempDir folder;
  constexpr std::uint64_t huge = std::uint64_t{1} << 60;
  const auto path =
      folder.write("huge.dbdf", test::Image::matrix(huge, huge, ValueType::f64)
                                    .coo<double>({huge - 9, huge - 9}, 9, 9, {{8, 8, 1.5}})
                                    .bytes());
  ConvertOptions options;
  options.absent = Absent::zero;
  const Source source(Matrix::open(path).share(), {}, options);
  std::vector<StoredCell> cells;
  source.entries({{0, huge}, {0, huge}}, [&](const StoredCell& cell) { cells.push_back(cell); });
  REQUIRE(cells.size() == 1);
  CHECK(cells[0].row == huge - 1);
  CHECK(cells[0].col == huge - 1);
}

TEST_CASE("source: an entry stored twice is corrupt") {
  const TempDir folder;
  const auto path = folder.write(
      "twice.dbdf", test::Image::matrix(100, 100, ValueType::u8, 2)
                        .coo<std::uint8_t>({0, 0}, 100, 100, {{3, 3, 1}, {4, 4, 1}, {3, 3, 2}})
                        .bytes());
  const Source source(Matrix::open(path).share(), {}, {});
  CHECK_THROWS_AS(source.entries({{0, 100}, {0, 100}}, [](const StoredCell&) {}), Error);
}
