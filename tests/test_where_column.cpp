// Searches of the columns of frames, held against loops over what their cells read like: columns of
// every type and meaning, some cells missing, in blocks of every shape and kind.

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/every_column.h"
#include "tests/partition.h"
#include "tests/random_search.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using test::column_meaning;
using test::ColumnSearch;
using test::every_column;
using test::Image;
using test::random_search;
using test::random_stored;
using test::Rng;
using test::shown_cell;
using test::Table;
using test::TempDir;
using Is = ColumnCondition;

namespace {

void require_hits(const Frame& frame, std::uint64_t col, const ColumnCondition& condition,
                  const std::function<bool(std::uint64_t)>& holds, const Table& table,
                  const WhereOptions& options) {
  std::vector<std::uint64_t> want, got;
  std::vector<std::uint8_t> mask(frame.rows());
  for (std::uint64_t r = 0; r < table.rows; ++r) {
    if (!holds(table.at(r, col))) continue;
    want.push_back(r);
    mask[r] = 1;
  }
  where(
      frame, {col, condition},
      [&](std::span<const std::uint64_t> rows) { got.insert(got.end(), rows.begin(), rows.end()); },
      options);
  CHECK(got == want);
  CHECK(count_where(frame, {col, condition}, options) == want.size());
  CHECK(rows_where(frame, {col, condition}, options) == mask);
  for (const BlockVerdict& verdict : explain_where(frame, {col, condition}, options)) {
    if (verdict.skipped == Skipped::no) continue;
    const Range rows = frame.block(verdict.pos).info().cells().rows;
    const auto here = std::count_if(
        want.begin(), want.end(), [&](std::uint64_t r) { return r >= rows.begin && r < rows.end; });
    CHECK((here == 0 || here == static_cast<std::ptrdiff_t>(rows.size())));
  }
}

}  // namespace

TEST_CASE("where of a column: it finds the rows that a loop over its cells finds") {
  Rng rng(4242);
  const TempDir dir;
  const std::vector<Column> all = every_column();
  for (int round = 0; round < 24; ++round) {
    std::vector<Column> columns = all;
    test::shuffle(columns, rng);
    Table table(detail::ObjectKind::frame, 1 + rng.below(40), columns);
    for (std::uint64_t r = 0; r < table.rows; ++r) {
      for (std::uint64_t c = 0; c < table.cols(); ++c) {
        table.at(r, c) = random_stored(columns[c], rng);
      }
    }
    WriteOptions writing;
    writing.overwrite = true;
    writing.kind = static_cast<KindChoice>(rng.below(4));
    writing.narrow = rng.chance(70);
    writing.tile = {static_cast<std::uint32_t>(1 + rng.below(table.rows)),
                    static_cast<std::uint32_t>(1 + rng.below(4))};
    const auto path = dir / "f.dbdf";
    table.write(path, writing);
    if (rng.chance(60)) write_sidecar(path, {}, {.statistics = true});
    const Frame frame = Frame::open(path);
    for (std::uint64_t col = 0; col < table.cols(); ++col) {
      const Column& column = columns[col];
      CAPTURE(column.label);
      CAPTURE(name(column.meaning.unit));
      const WhereOptions options{.threads = rng.chance(50) ? 1U : 3U};
      const ColumnSearch search = random_search(column, columns, rng);
      const auto is_nan = [&](std::uint64_t bits) {
        return column.meaning.kind == MeaningKind::number && shown_cell(column, bits) == "nan";
      };
      const auto holds = [&](std::uint64_t bits) {
        return !is_missing(column.meaning, bits) && !is_nan(bits) &&
               search.holds(shown_cell(column, bits));
      };
      require_hits(frame, col, search.condition, holds, table, options);
      require_hits(
          frame, col, Is::missing(),
          [&](std::uint64_t bits) { return is_missing(column.meaning, bits); }, table, options);
      require_hits(
          frame, col, Condition::nan(),
          [&](std::uint64_t bits) { return !is_missing(column.meaning, bits) && is_nan(bits); },
          table, options);
    }
  }
}

TEST_CASE("where of a column: a CSV file answers as the file that it is converted to") {
  const TempDir dir;
  std::string csv = "who,born,since,member,age\n";
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t n = rng.below(50);
    csv += (n == 0 ? "" : "w" + std::to_string(n)) + ",19" + std::to_string(10 + n) + "-03-04,";
    csv += "2020-01-01T10:00:" + std::to_string(10 + n) + "Z," + (n % 3 == 0 ? "true" : "false");
    csv += "," + (n % 5 == 0 ? "" : std::to_string(n)) + "\n";
  }
  dir.write("p.csv", std::as_bytes(std::span(csv.data(), csv.size())));
  convert(open(dir / "p.csv"), {}, dir / "p.dbdf", {});
  const Frame text = Frame::open(dir / "p.csv"), stored = Frame::open(dir / "p.dbdf");
  const auto check = [&](const char* label, const ColumnCondition& condition) {
    CAPTURE(label);
    const auto mask = rows_where(text, {text.column(label), condition});
    const auto found = std::count(mask.begin(), mask.end(), 1);
    CHECK(found > 0);
    CHECK(found < 2000);
    CHECK(mask == rows_where(stored, {stored.column(label), condition}, {.threads = 2}));
    CHECK(count_where(text, {text.column(label), condition}, {.threads = 2}) ==
          static_cast<std::uint64_t>(found));
  };
  check("who", Is::equal("w7"));
  check("who", Is::missing());
  check("born", Is::at_least("1950-01-01"));
  check("born", Is::between("1912-03-04", "1913-03-03T23:00"));
  check("since", Is::below("2020-01-01T12:00:31+02:00"));
  check("member", Is::equal("false"));
  check("age", Condition::above(30));
  check("age", Is::missing());
}

TEST_CASE("where of a column: cells that no block covers are zeros if wanted") {
  const TempDir dir;
  const auto path =
      dir.write("f.dbdf", Image::frame(6, {{"a", ValueType::i32}, {"b", ValueType::i32}})
                              .dense<std::int32_t>({4, 0}, 1, 2, {0, 5})
                              .dense<std::int32_t>({1, 0}, 2, 1, {7, 0})
                              .empty({1, 1}, 2, 1)
                              .bytes());
  const Frame frame = Frame::open(path);
  const WhereOptions zero{.absent = Absent::zero, .threads = 2};
  using Mask = std::vector<std::uint8_t>;
  CHECK(rows_where(frame, {0, Condition::equal(0)}, zero) == Mask{1, 0, 1, 1, 1, 1});
  CHECK(rows_where(frame, {0, Condition::above(-1)}, zero) == Mask{1, 1, 1, 1, 1, 1});
  CHECK(rows_where(frame, {0, Condition::above(0)}, zero) == Mask{0, 1, 0, 0, 0, 0});
  CHECK(rows_where(frame, {1, Condition::at_most(4)}, zero) == Mask{1, 1, 1, 1, 0, 1});
  CHECK(count_where(frame, {1, Condition::at_most(4)}, zero) == 5);
  const WhereOptions nonzero{.absent = Absent::zero, .nonzero = true};
  CHECK(rows_where(frame, {0, Condition::above(-1)}, nonzero) == Mask{0, 1, 0, 0, 0, 0});
  CHECK(test::required_error(test::error_of([&] {
          count_where(frame, {0, Condition::above(0)});
        })).code() == Errc::absent);
}

template <class T>
concept CanBeEqual = requires(T value) {
  ColumnCondition::equal(value);
};
static_assert(CanBeEqual<long long> && CanBeEqual<const char*> && !CanBeEqual<std::nullptr_t>);

TEST_CASE("where of a column: numbers may be given as numbers, zero among them") {
  const TempDir dir;
  Table table(detail::ObjectKind::frame, 4, {{"n", ValueType::i32}});
  for (std::uint64_t r = 0; r < 4; ++r) table.set<std::int32_t>(r, 0, static_cast<int>(r) - 1);
  table.write(dir / "f.dbdf", {});  // -1, 0, 1, 2
  const Frame frame = Frame::open(dir / "f.dbdf");
  const auto count = [&](ColumnCondition condition) {
    return count_where(frame, {0, std::move(condition)});
  };
  CHECK(count(ColumnCondition::above(0)) == 2);
  CHECK(count(ColumnCondition::at_least(0)) == 3);
  CHECK(count(ColumnCondition::below(0)) == 1);
  CHECK(count(ColumnCondition::at_most(0)) == 2);
  CHECK(count(ColumnCondition::equal(0)) == 1);
  CHECK(count(ColumnCondition::equal(0.5)) == 0);
  CHECK(count(ColumnCondition::above(0LL)) == 2);
  CHECK(count(ColumnCondition::at_most(0ULL)) == 2);
  CHECK(count(ColumnCondition::equal(-1L)) == 1);
  CHECK(count(ColumnCondition::between(0LL, 1)) == 2);
  CHECK(count(ColumnCondition::between(0, 1.5)) == 2);
  CHECK(count(ColumnCondition::between(0, 0)) == 1);
}

TEST_CASE("where of a column: statistics rule out blocks, also when zero meets the condition") {
  const TempDir dir;
  Table table(detail::ObjectKind::frame, 40, {{"n", ValueType::i64}});
  for (std::uint64_t r = 0; r < 40; ++r) table.set<std::int64_t>(r, 0, 100 + r);
  table.write(dir / "f.dbdf", {.tile = TileShape{10, 1}, .kind = KindChoice::dense});
  write_sidecar(dir / "f.dbdf", {}, {.statistics = true});
  const Frame frame = Frame::open(dir / "f.dbdf");
  const auto verdicts = explain_where(frame, {0, Condition::below(105)});
  REQUIRE(verdicts.size() == 4);
  CHECK(verdicts[0].skipped == Skipped::no);
  for (std::size_t i = 1; i < 4; ++i) CHECK(verdicts[i].skipped == Skipped::statistics);
}

TEST_CASE("where of a column: a condition that is none for the column says what it holds") {
  const TempDir dir;
  const Table table(detail::ObjectKind::frame, 0, every_column());
  table.write(dir / "f.dbdf", {});
  const Frame frame = Frame::open(dir / "f.dbdf");
  const auto told = [&](const char* label, const ColumnCondition& condition,
                        const WhereOptions& options = {}) {
    const Error error = test::required_error(test::error_of([&] {
      rows_where(frame, {frame.column(label), condition}, options);
    }));
    CHECK(error.code() == Errc::invalid_argument);
    return error.detail();
  };
  CHECK(told("i32?", Is::equal("Ann")) ==
        "column 'i32?' holds numbers; it cannot be compared with 'Ann'");
  CHECK(told("text", Condition::above(3)) ==
        "column 'text' holds words; it cannot be compared with a number");
  CHECK(told("boolean", Is::equal("yes")) ==
        "column 'boolean' holds true and false; it cannot be compared with 'yes'");
  CHECK(told("boolean", Is::above("false")) ==
        "column 'boolean' can only be searched for equal values: truth values have no order");
  CHECK(told("category", Is::below("large")) ==
        "column 'category' can only be searched for equal values, or by prefix: its words have no "
        "order");
  CHECK(told("ordered", Is::at_most("larg")) ==
        "column 'ordered' has no word 'larg'; did you mean 'large'?");
  CHECK(told("timestamp", Is::above("2024-02-30")) ==
        "column 'timestamp' holds times such as 2024-01-31 or 2024-01-31T12:30:00; it cannot be "
        "compared with '2024-02-30'");
  CHECK(told("timestamp", Is::above("2024-02-01T10:00Z")) ==
        "the times of column 'timestamp' have no zone; they cannot be compared with "
        "'2024-02-01T10:00Z'");
  CHECK(told("duration", Is::above("soon")) ==
        "column 'duration' holds durations such as 36:00:00 or 3 days; it cannot be compared with "
        "'soon'");
  CHECK(told("text", Is::equal("large"), {.nonzero = true}) ==
        "column 'text' holds no numbers, of which some are zero");
  CHECK(rows_where(frame, {frame.column("text"), Is::equal("none")}).empty());
}

TEST_CASE("where of a column: times beyond the unit's range are before or after all") {
  const TempDir dir;
  Column column = column_meaning(MeaningKind::timestamp, ValueType::i64, "t");
  column.meaning.unit = TimeUnit::nanosecond;
  Table table(detail::ObjectKind::frame, 2, {column});
  table.set<std::int64_t>(0, 0, std::numeric_limits<std::int64_t>::min());
  table.set<std::int64_t>(1, 0, std::numeric_limits<std::int64_t>::max());
  table.write(dir / "f.dbdf", {});
  const Frame frame = Frame::open(dir / "f.dbdf");
  CHECK(count_where(frame, {0, Is::above("1600-01-01")}) == 2);
  CHECK(count_where(frame, {0, Is::below("1600-01-01")}) == 0);
  CHECK(count_where(frame, {0, Is::equal("1600-01-01")}) == 0);
  CHECK(count_where(frame, {0, Is::at_most("9999-12-31")}) == 2);
  CHECK(count_where(frame, {0, Is::at_least("9999-12-31")}) == 0);
  CHECK(count_where(frame, {0, Is::between("0000-01-01", "1970-01-01")}) == 1);
}
