// Searches that depend on how a file stores its cells: text whose columns are no f64, entries in
// any order, numbers that stand for nothing.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/object/dictionary.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Image;
using test::required_error;
using test::Rng;
using test::TempDir;

namespace {

constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // between two f64

std::vector<std::uint64_t> rows_of(const Frame& frame, const Expression& is) {
  std::vector<std::uint64_t> rows;
  where(frame, is, [&](std::span<const std::uint64_t> found) {
    rows.insert(rows.end(), found.begin(), found.end());
  });
  CHECK(count_where(frame, is) == rows.size());
  const auto mask = rows_where(frame, is);
  CHECK(static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 1)) == rows.size());
  return rows;
}

std::vector<std::uint64_t> rows_of(const Frame& frame, std::uint64_t col,
                                   const ColumnCondition& is) {
  return rows_of(frame, Expression(col, is));
}

/// A file of one frame column or a matrix of several, whose COO blocks have entries in any order.
struct Shuffled {
  struct Cell {
    std::uint64_t row, col;
    std::int32_t value;
    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> cells;  // not zero, in ascending order

  std::vector<std::byte> make(Rng& rng, bool frame, std::uint32_t rows, std::uint32_t cols) {
    Image image = frame ? Image::frame(rows, {{"a", ValueType::i32}})
                        : Image::matrix(rows, cols, ValueType::i32);
    std::vector<Triplet<std::int32_t>> entries;
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < cols; ++c) {
        if (!rng.chance(40)) continue;
        const auto value = static_cast<std::int32_t>(rng.below(9)) - 4;
        entries.push_back({r, c, value});
        cells.push_back({r, c, value});
      }
    }
    for (std::size_t i = entries.size(); i > 1; --i)
      std::swap(entries[i - 1], entries[rng.below(i)]);
    return image.coo<std::int32_t>({0, 0}, rows, cols, entries).bytes();
  }
};

}  // namespace

TEST_CASE("where: a block of text is asked about its columns' types, not about one for all") {
  const TempDir dir;
  const auto path = dir / "t.csv";
  test::write_text(path,
                   "id,price,at,big\n"
                   "9007199254740993,0.5,2001-01-01T00:00:00.123456789,18446744073709551615\n"
                   "7,1.5,2001-01-02T00:00:00.000000001,3\n");
  convert(open(path), {}, dir / "t.dbdf");
  for (const char* name : {"t.csv", "t.dbdf"}) {
    CAPTURE(name);
    const Frame f = std::get<Frame>(open(dir / name));
    CHECK(rows_of(f, 0, Condition::equal(kOdd)) == std::vector<std::uint64_t>{0});
    CHECK(rows_of(f, 0, Condition::equal(kOdd - 1)).empty());
    CHECK(rows_of(f, 0, Condition::above(kOdd - 1)) == std::vector<std::uint64_t>{0});
    CHECK(rows_of(f, 1, Condition::equal(0.5)) == std::vector<std::uint64_t>{0});
    CHECK(rows_of(f, 2, ColumnCondition::equal("2001-01-01T00:00:00.123456789")) ==
          std::vector<std::uint64_t>{0});
    CHECK(rows_of(f, 2, ColumnCondition::equal("2001-01-01T00:00:00.123456788")).empty());
    CHECK(rows_of(f, 3, Condition::equal(~std::uint64_t{0})) == std::vector<std::uint64_t>{0});
    CHECK(rows_of(f, 3, Condition::equal(0x1p64)).empty());
    for (const BlockVerdict& v : explain_where(f, Expression(0, Condition::equal(kOdd)))) {
      if (std::string_view(name) == "t.csv") CHECK(v.skipped == Skipped::no);
    }
    for (const BlockVerdict& v : explain_where(f, Expression(0, Condition::equal(0.5)))) {
      CHECK(v.skipped == Skipped::value_type);
    }
  }
}

TEST_CASE("where: entries in any order give answers in ascending order") {
  Rng rng(31);
  const TempDir dir;
  for (int round = 0; round < 30; ++round) {
    Shuffled column, matrix;
    const auto rows = static_cast<std::uint32_t>(rng.between(1, 3000));
    const auto f = dir.write("f.dbdf", column.make(rng, true, rows, 1));
    std::vector<std::uint64_t> want;
    for (const auto& cell : column.cells) {
      if (cell.value > 1) want.push_back(cell.row);
    }
    CHECK(rows_of(Frame::open(f), 0, Condition::above(1)) == want);

    const auto m = dir.write("m.dbdf", matrix.make(rng, false, 60, 40));
    std::vector<Shuffled::Cell> found;
    where<std::int32_t>(Matrix::open(m), Condition::below(-1),
                        [&](std::span<const Hit<std::int32_t>> hits) {
                          for (const auto& hit : hits)
                            found.push_back({hit.row, hit.col, hit.value});
                        });
    std::erase_if(matrix.cells, [](const auto& cell) { return cell.value >= -1; });
    CHECK(found == matrix.cells);
  }
}

TEST_CASE("where: CSR rows in any order, too") {
  const TempDir dir;
  const auto path =
      dir.write("m.dbdf", Image::matrix(2, 5, ValueType::i32)
                              .csr<std::int32_t>({0, 0}, 5, {{{4, 1}, {0, 2}, {2, 3}}, {{3, 4}}})
                              .bytes());
  std::vector<std::pair<std::uint64_t, std::int32_t>> found;
  where<std::int32_t>(Matrix::open(path), Condition::above(0),
                      [&](std::span<const Hit<std::int32_t>> hits) {
                        for (const auto& hit : hits) found.emplace_back(hit.col, hit.value);
                      });
  CHECK(found ==
        std::vector<std::pair<std::uint64_t, std::int32_t>>{{0, 2}, {2, 3}, {4, 1}, {3, 4}});
}

TEST_CASE("codes: numbers that stand for nothing are corrupt, however they are asked for") {
  const TempDir dir;
  for (const bool words : {false, true}) {
    for (const KindChoice kind : {KindChoice::dense, KindChoice::coo}) {
      CAPTURE(words);
      Column column{"b", ValueType::u8};
      if (words) {
        column.meaning.kind = MeaningKind::category;
        auto table = std::make_shared<detail::WordTable>();
        table->add("x");
        table->add("y");
        column.meaning.words = table;
      } else {
        column.meaning.kind = MeaningKind::boolean;
        column.meaning.missing = kMissingBoolean;
      }
      WriteOptions options;
      options.kind = kind;
      options.overwrite = true;
      auto writer = FrameWriter::create(dir / "f.dbdf", 40, {column}, options);
      std::vector<std::uint8_t> cells(40);
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<std::uint8_t>(i % 3);
      cells[7] = 1;
      writer.put<std::uint8_t>({0, 0}, {cells.data(), 40, 1});
      writer.finish();
      auto bytes = test::read_bytes(dir / "f.dbdf");
      const Frame sound = Frame::open(dir / "f.dbdf");
      const BlockInfo block = *sound.blocks().begin();
      // Row 7 holds 1 in a dense block; in a COO block it is one of the stored entries.
      std::size_t at = block.offset + 10 + 7;
      if (block.kind == BlockKind::coo) {
        at = block.offset + 14;
        while (detail::load_le<std::uint32_t>(&bytes[at]) != 7) at += 5;
        at += 4;
      }
      REQUIRE(bytes[at] == std::byte{1});
      bytes[at] = std::byte{9};
      const auto path = dir.write("g.dbdf", bytes);
      const Frame f = Frame::open(path);
      const auto refused = [&](auto&& call) {
        const auto error = error_of(call);
        CHECK(error);
        if (error) CHECK(error->code() == Errc::corrupt);
      };
      for (const char* wanted : {"true", "false"}) {
        const auto is = ColumnCondition::equal(words ? "x" : wanted);
        const Expression expression(0, is);
        refused([&] { where(f, expression, [](std::span<const std::uint64_t>) {}); });
        refused([&] { count_where(f, expression); });
        refused([&] { rows_where(f, expression); });
        refused([&] { count_where(f, !expression); });
      }
      refused([&] { count_where(f, Expression(0, ColumnCondition::missing())); });
      refused([&] { column_stats(f); });
      for (const char* out : {"o.csv", "o.dbdf", "o.npy", "o.idv"}) {
        CAPTURE(out);
        if (std::string_view(out) == "o.npy" || std::string_view(out) == "o.idv") {
          // Missing cells are refused there for what they are, in rows before.
          CHECK(error_of([&] { convert(f, {}, dir / out); }));
        } else {
          refused([&] { convert(f, {}, dir / out); });
        }
      }
      std::string text;
      refused([&] { append_text(f.column_info(0), 9, text); });
      CHECK(f.read_column<std::uint8_t>(0, {7, 8})[0] == 9);  // the stored number
      CHECK(!verify(path, Level::payload).findings.empty());
    }
  }
}

TEST_CASE("where: integers of any size in a text are compared exactly") {
  __extension__ using Wide = __int128;
  const TempDir dir;
  test::write_text(dir / "f.csv",
                   "u,i,x\n0,-9223372036854775808,-18446744073709551616\n"
                   "9223372036854775808,-1,0\n18446744073709551614,0,9223372036854775808\n"
                   "18446744073709551615,9223372036854775807,18446744073709551616\n");
  const Frame frame = Frame::open(dir / "f.csv", {.format_options = {{"csv.type", "x=f64"}}});
  constexpr Wide kU = Wide{1} << 64, kI = Wide{1} << 63;
  const std::vector<Wide> cells[] = {
      {0, kI, kU - 2, kU - 1}, {-kI, -1, 0, kI - 1}, {-kU, 0, kI, kU}};
  const std::pair<const char*, Wide> bounds[] = {
      {"18446744073709551615", kU - 1},   {"18446744073709551616", kU},
      {"18446744073709551617", kU + 1},   {"+000018446744073709551618", kU + 2},
      {"-18446744073709551617", -kU - 1}, {"-9223372036854775808", -kI},
      {"-9223372036854775809", -kI - 1},  {"1000000000000000000000000000000", kU << 40}};
  for (std::uint64_t col = 0; col < 3; ++col) {
    for (const auto& [text, bound] : bounds) {
      std::vector<std::uint64_t> below, at_most, equal;
      for (std::uint64_t row = 0; row < 4; ++row) {
        if (cells[col][row] < bound) below.push_back(row);
        if (cells[col][row] <= bound) at_most.push_back(row);
        if (cells[col][row] == bound) equal.push_back(row);
      }
      const std::string name = "#" + std::to_string(col), number = text;
      CAPTURE(name + " " + number);
      CHECK(rows_of(frame, Expression::parse(name + " < " + number)) == below);
      CHECK(rows_of(frame, Expression::parse(name + " <= " + number)) == at_most);
      CHECK(rows_of(frame, Expression::parse(name + " in (" + number + ")")) == equal);
      CHECK(count_where(frame, Expression::parse(name + " > " + number)) == 4 - at_most.size());
      CHECK(count_where(frame, Expression::parse(number + " <= " + name)) == 4 - below.size());
    }
    const std::string name = "#" + std::to_string(col), far(400, '9');
    CHECK(count_where(frame, Expression::parse(name + " < " + far)) == 4);
    CHECK(count_where(frame, Expression::parse(name + " < -" + far)) == 0);
    CHECK(error_of([&] { Expression::parse(name + " < 1e999"); })->code() ==
          Errc::invalid_argument);
  }
}
