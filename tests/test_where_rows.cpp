// Searches of the columns of frames, held against loops over what their cells read like: columns of
// every type and meaning, some cells missing, in blocks of every shape and kind.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/every_column.h"
#include "tests/partition.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using test::column_meaning;
using test::every_column;
using test::Image;
using test::random_stored;
using test::Rng;
using test::Table;
using test::TempDir;
using Is = ColumnCondition;

namespace {

std::string shown_cell(const Column& column, std::uint64_t bits) {
  std::string text;
  append_text(column, bits, text);
  return text;
}

/// A time as one of the same width, so that earlier ones compare less.
std::string padded_time(std::string text) {
  if (text.size() == 10) text += "T00:00:00";
  if (text.size() == 19) text += ".";
  text.resize(29, '0');
  return text;
}

long double duration_seconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  long double seconds = 0;
  if (text.ends_with(" days")) {
    seconds = std::stold(std::string(text)) * 86400;
  } else {
    seconds = std::stold(std::string(text.substr(0, 2))) * 3600 +
              std::stold(std::string(text.substr(3, 2))) * 60 +
              std::stold(std::string(text.substr(6)));
  }
  return negative ? -seconds : seconds;
}

std::partial_ordering compare_cells(const Column& column, const std::string& cell,
                                    const std::string& bound) {
  const Meaning& meaning = column.meaning;
  if (meaning.kind == MeaningKind::timestamp) return padded_time(cell) <=> padded_time(bound);
  if (meaning.kind == MeaningKind::duration) {
    return duration_seconds(cell) <=> duration_seconds(bound);
  }
  if (meaning.kind == MeaningKind::number) {
    return std::stold(cell) <=> std::stold(bound);  // all of them small
  }
  if (meaning.ordered) {
    const auto rank = [&](const std::string& word) {
      std::uint64_t i = 0;
      while ((*meaning.words)[i] != word) ++i;
      return i;
    };
    return rank(cell) <=> rank(bound);
  }
  return cell <=> bound;
}

struct ColumnSearch {
  ColumnCondition condition;
  std::function<bool(const std::string&)> holds;  // for a cell that is not missing
};

template <class Bound, class Conditions>
ColumnSearch search_of(const Column& column, std::uint64_t how, const std::string& low,
                       const std::string& high, const Bound& bound) {
  const auto with_low = [=](const std::string& cell) { return compare_cells(column, cell, low); };
  switch (how) {
    case 0:
      return {Conditions::equal(bound(low)), [=](const auto& c) { return with_low(c) == 0; }};
    case 1:
      return {Conditions::above(bound(low)), [=](const auto& c) { return with_low(c) > 0; }};
    case 2:
      return {Conditions::at_least(bound(low)), [=](const auto& c) { return with_low(c) >= 0; }};
    case 3:
      return {Conditions::below(bound(low)), [=](const auto& c) { return with_low(c) < 0; }};
    case 4:
      return {Conditions::at_most(bound(low)), [=](const auto& c) { return with_low(c) <= 0; }};
    default:
      return {Conditions::between(bound(low), bound(high)), [=](const auto& c) {
                return with_low(c) >= 0 && compare_cells(column, c, high) <= 0;
              }};
  }
}

/// A condition that the column takes. Bounds of times are cells of any unit.
ColumnSearch random_search(const Column& column, const std::vector<Column>& columns, Rng& rng) {
  const Meaning& meaning = column.meaning;
  const Column* source = &column;
  while (meaning.has_time()) {
    source = &columns[rng.below(columns.size())];
    if (source->meaning.kind == meaning.kind) break;
  }
  std::string bounds[2];
  for (std::string& bound : bounds) {
    do {
      const std::uint64_t bits = random_stored(*source, rng);
      bound = is_missing(source->meaning, bits) ? "nan" : shown_cell(*source, bits);
    } while (bound == "nan");
  }
  const bool unordered = meaning.kind == MeaningKind::boolean ||
                         (meaning.kind == MeaningKind::category && !meaning.ordered);
  const std::uint64_t how = unordered ? 0 : rng.below(6);
  if (meaning.kind == MeaningKind::number) {
    return search_of<std::function<double(const std::string&)>, Condition>(
        column, how, bounds[0], bounds[1], [](const std::string& text) { return std::stod(text); });
  }
  return search_of<std::function<std::string(const std::string&)>, Is>(
      column, how, bounds[0], bounds[1], [](const std::string& text) { return text; });
}

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
        "column 'category' can only be searched for equal values: its words have no order");
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

namespace {

/// What a test makes of a cell: false, true, or neither of a missing one.
enum class Truth : std::uint8_t { no, yes, unknown };

/// A random condition, and what it makes of each row by SQL's rules.
struct RandomExpression {
  Expression expression;
  std::function<Truth(std::uint64_t)> of;
};

RandomExpression random_test(const Frame& frame, const Table& table,
                             const std::vector<Column>& columns, Rng& rng) {
  const std::uint64_t col = rng.below(table.cols());
  const Column& column = frame.column_info(col);
  const auto bits_of = [&table, col](std::uint64_t row) { return table.at(row, col); };
  const auto is_nan = [&column](std::uint64_t bits) {
    return column.meaning.kind == MeaningKind::number && shown_cell(column, bits) == "nan";
  };
  if (rng.chance(20)) {
    return {{col, Is::missing()}, [&column, bits_of](std::uint64_t row) {
              return is_missing(column.meaning, bits_of(row)) ? Truth::yes : Truth::no;
            }};
  }
  const bool number = column.meaning.kind == MeaningKind::number;
  if (rng.chance(30) && column.meaning.kind != MeaningKind::boolean) {
    std::vector<std::string> words;
    std::vector<Condition> numbers;
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t bits = random_stored(column, rng);
      if (is_missing(column.meaning, bits) || is_nan(bits)) continue;
      words.push_back(shown_cell(column, bits));
      if (number) numbers.push_back(Condition::equal(std::stod(words.back())));
    }
    return {{col, number ? Is::one_of(numbers) : Is::one_of(words)},
            [&column, bits_of, words, is_nan](std::uint64_t row) {
              const std::uint64_t bits = bits_of(row);
              if (is_missing(column.meaning, bits)) return Truth::unknown;
              if (is_nan(bits)) return Truth::no;
              const std::string cell = shown_cell(column, bits);
              return std::any_of(words.begin(), words.end(),
                                 [&](const std::string& word) {
                                   return compare_cells(column, cell, word) == 0;
                                 })
                         ? Truth::yes
                         : Truth::no;
            }};
  }
  const ColumnSearch search = random_search(column, columns, rng);
  return {{col, search.condition}, [&column, bits_of, search, is_nan](std::uint64_t row) {
            const std::uint64_t bits = bits_of(row);
            if (is_missing(column.meaning, bits)) return Truth::unknown;
            return !is_nan(bits) && search.holds(shown_cell(column, bits)) ? Truth::yes : Truth::no;
          }};
}

RandomExpression random_expression(const Frame& frame, const Table& table,
                                   const std::vector<Column>& columns, Rng& rng, int depth) {
  const std::uint64_t how = depth == 0 ? 0 : rng.below(4);
  if (how == 0) return random_test(frame, table, columns, rng);
  const RandomExpression a = random_expression(frame, table, columns, rng, depth - 1);
  if (how == 1) {
    return {!a.expression, [a](std::uint64_t row) {
              const Truth truth = a.of(row);
              return truth == Truth::unknown ? truth : truth == Truth::no ? Truth::yes : Truth::no;
            }};
  }
  const RandomExpression b = random_expression(frame, table, columns, rng, depth - 1);
  const bool all = how == 2;
  return {all ? a.expression && b.expression : a.expression || b.expression,
          [a, b, all](std::uint64_t row) {
            const Truth x = a.of(row), y = b.of(row), decisive = all ? Truth::no : Truth::yes;
            if (x == decisive || y == decisive) return decisive;
            if (x == Truth::unknown || y == Truth::unknown) return Truth::unknown;
            return all ? Truth::yes : Truth::no;
          }};
}

}  // namespace

TEST_CASE("where of rows: and, or, not of random tests find what SQL's logic finds") {
  Rng rng(77);
  const TempDir dir;
  std::uint64_t skipped = 0;
  for (int round = 0; round < 30; ++round) {
    std::vector<Column> columns = every_column();
    test::shuffle(columns, rng);
    Table table(detail::ObjectKind::frame, 1 + rng.below(60), columns);
    for (std::uint64_t r = 0; r < table.rows; ++r) {
      for (std::uint64_t c = 0; c < table.cols(); ++c) {
        table.at(r, c) = random_stored(columns[c], rng);
      }
    }
    WriteOptions writing;
    writing.overwrite = true;
    writing.kind = static_cast<KindChoice>(rng.below(4));
    writing.tile = {static_cast<std::uint32_t>(1 + rng.below(table.rows)),
                    static_cast<std::uint32_t>(1 + rng.below(4))};
    table.write(dir / "f.dbdf", writing);
    if (rng.chance(60)) write_sidecar(dir / "f.dbdf", {}, {.statistics = true});
    const Frame frame = Frame::open(dir / "f.dbdf");
    for (int k = 0; k < 20; ++k) {
      const RandomExpression wanted = random_expression(frame, table, columns, rng, 3);
      std::vector<std::uint64_t> want, got;
      for (std::uint64_t r = 0; r < table.rows; ++r) {
        if (wanted.of(r) == Truth::yes) want.push_back(r);
      }
      where(frame, wanted.expression, [&](std::span<const std::uint64_t> rows) {
        got.insert(got.end(), rows.begin(), rows.end());
      });
      CHECK(got == want);
      CHECK(count_where(frame, wanted.expression, {.threads = 3}) == want.size());
      for (const BlockVerdict& verdict : explain_where(frame, wanted.expression)) {
        skipped += verdict.skipped == Skipped::no ? 0 : 1;
      }
    }
  }
  CHECK(skipped > 0);
}

TEST_CASE("where of rows: statistics decide and, or and not") {
  const TempDir dir;
  constexpr std::uint64_t kTile = 2000;
  Table table(detail::ObjectKind::frame, 4 * kTile, {{"n", ValueType::i64}, {"m", ValueType::f64}});
  for (std::uint64_t r = 0; r < 4 * kTile; ++r) {
    table.set<std::int64_t>(r, 0, static_cast<std::int64_t>(r));
    table.set<double>(r, 1, static_cast<double>(r % 10));
  }
  table.write(dir / "f.dbdf", {.tile = TileShape{kTile, 1}, .kind = KindChoice::dense});
  write_sidecar(dir / "f.dbdf", {}, {.statistics = true});
  const Frame frame = Frame::open(dir / "f.dbdf");
  const auto read = [&](const char* text) {
    std::string which;
    for (const BlockVerdict& verdict : explain_where(frame, Expression::parse(text))) {
      if (verdict.skipped != Skipped::no) continue;
      which += (which.empty() ? "" : " ") + std::to_string(verdict.pos.rx / kTile) +
               (verdict.pos.cx == 0 ? "n" : "m");
    }
    return which;
  };
  CHECK(read("n < 3000") == "1n");
  CHECK(read("not n < 3000") == "1n");
  CHECK(read("n < 3000 and m > 3") == "0m 1n 1m");
  CHECK(read("n >= 4000 or m > 3") == "0m 1m");
  CHECK(read("n >= 4000 or m >= 0") == "");
  CHECK(read("n in (103, 104) and not m = 3") == "0n 0m");
  CHECK(read("n >= 0 and n < 9000") == "");
  CHECK(read("n > 15000 and m = 3") == "");
  CHECK(count_where(frame, Expression::parse("n >= 4000 or m >= 0")) == 4 * kTile);
  CHECK(count_where(frame, Expression::parse("n < 3000 and m > 3")) == 1800);
}

TEST_CASE("expressions: text is read as it says, and errors tell where") {
  const TempDir dir;
  test::write_text(dir / "p.csv",
                   "name,first name,age,x,born,ok,name\n"
                   "Ann,A,30,1.5,2001-02-03,true,q\n"
                   "Bo \"B\",B,,nan,1999-01-01,false,r\n"
                   "Cy's,C,-4,0.25,,true,s\n"
                   ",D,9007199254740991,-inf,2020-12-31,,t\n");
  const Frame frame = Frame::open(dir / "p.csv");
  const auto rows = [&](std::string_view text) {
    std::string found;
    where(frame, Expression::parse(text), [&](std::span<const std::uint64_t> some) {
      for (const std::uint64_t row : some) found += std::to_string(row);
    });
    return found;
  };
  CHECK(rows("age > 0") == "03");
  CHECK(rows("age = 9007199254740991") == "3");
  CHECK(rows("not age > 0") == "2");
  CHECK(rows("age is missing OR age < 0") == "12");
  CHECK(rows("age not missing") == "023");
  CHECK(rows("-5 < age <= 30") == "02");
  CHECK(rows("30 == age") == "0");
  CHECK(rows("x != 1.5") == "123");
  CHECK(rows("x nan or x < -1e300 or x = -inf") == "13");
  CHECK(rows("x is not nan and x <= 1.5") == "023");
  CHECK(rows("`first name` in (\"A\", 'D', 'Z')") == "03");
  CHECK(rows("name in ()") == "");
  CHECK(rows("name not in ('Ann')") == "12");
  CHECK(rows("name = 'Bo \"B\"' or name = \"Cy's\" or name = 'Cy''s'") == "12");
  CHECK(rows("name prefix 'B' and not ok == true") == "1");
  CHECK(rows("born >= '2001-02-03'") == "03");
  CHECK(rows("born = \"1999-01-01\" or ok = false") == "1");
  CHECK(rows("#6 > 'q' and #0 > 'A'") == "12");
  CHECK(rows("((age > 0) and (age < 99)) or (not (not (name = 'Ann')))") == "0");
  CHECK(Expression::parse("a > 1 and b < 2 or not a = 3").labels() ==
        std::vector<std::string>{"a", "b"});
  const auto told = [&](const std::string& text) {
    const Error error = test::required_error(test::error_of([&] { Expression::parse(text); }));
    CHECK(error.code() == Errc::invalid_argument);
    return error.detail();
  };
  CHECK(told("age >") ==
        "in the condition 'age >': a number, true, false, or a text in quotes was expected, not "
        "the end, at character 6");
  CHECK(told("age > Oslo") ==
        "in the condition 'age > Oslo': a number, true, false, or a text in quotes was expected, "
        "not 'Oslo', at character 7");
  CHECK(told("(age > 3") ==
        "in the condition '(age > 3': and, or, or ) was expected, not the end, "
        "at character 9");
  CHECK(told("age > 3 age") ==
        "in the condition 'age > 3 age': and, or, or the end was expected, not 'age', at "
        "character 9");
  CHECK(told("name = 'Ann").find("has no end") != std::string::npos);
  CHECK(told("age in (1, 'x')").find("numbers or texts, not both") != std::string::npos);
  CHECK(told("age ~ 3").find("has no meaning there") != std::string::npos);
  CHECK(told("") != "");
  CHECK(told("5abc > 3").find("backquotes") != std::string::npos);
  CHECK(told(std::string(1000, '(') + "a > 1").find("nested too deeply") != std::string::npos);
  CHECK(test::required_error(test::error_of([&] { rows("agee > 3"); })).code() == Errc::absent);
  CHECK(test::required_error(test::error_of([&] { rows("#7 > 3"); })).code() == Errc::out_of_range);
  CHECK(test::required_error(test::error_of([&] { rows("age prefix 'x'"); })).code() ==
        Errc::invalid_argument);
}

TEST_CASE("expressions: 200,000 tests are joined at once") {
  std::string text = "#0 = 1";
  for (int i = 0; i < 200'000; ++i) text += i % 2 == 0 ? " or #0 = 2" : " or #1 = 3";
  CHECK(Expression::parse(text).labels().empty());
}
