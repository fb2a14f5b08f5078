// Searches of rows by several columns: and, or, not, held against loops by SQL's rules; and the
// text that conditions are read from.

#include <algorithm>
#include <array>
#include <functional>
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
using test::ColumnSearch;
using test::compare_cells;
using test::every_column;
using test::random_search;
using test::random_stored;
using test::Rng;
using test::shown_cell;
using test::Table;
using test::TempDir;
using Is = ColumnCondition;

namespace {

/// What a test makes of a cell: false, true, or neither of a missing one.
enum class Verdict : std::uint8_t { no, yes, unknown };

/// A random condition, and what it makes of each row by SQL's rules.
struct RandomExpression {
  Expression expression;
  std::function<Verdict(std::uint64_t)> of;
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
              return is_missing(column.meaning, bits_of(row)) ? Verdict::yes : Verdict::no;
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
              if (is_missing(column.meaning, bits)) return Verdict::unknown;
              if (is_nan(bits)) return Verdict::no;
              const std::string cell = shown_cell(column, bits);
              return std::any_of(words.begin(), words.end(),
                                 [&](const std::string& word) {
                                   return compare_cells(column, cell, word) == 0;
                                 })
                         ? Verdict::yes
                         : Verdict::no;
            }};
  }
  const ColumnSearch search = random_search(column, columns, rng);
  return {{col, search.condition}, [&column, bits_of, search, is_nan](std::uint64_t row) {
            const std::uint64_t bits = bits_of(row);
            if (is_missing(column.meaning, bits)) return Verdict::unknown;
            return !is_nan(bits) && search.holds(shown_cell(column, bits)) ? Verdict::yes
                                                                           : Verdict::no;
          }};
}

RandomExpression random_expression(const Frame& frame, const Table& table,
                                   const std::vector<Column>& columns, Rng& rng, int depth) {
  const std::uint64_t how = depth == 0 ? 0 : rng.below(4);
  if (how == 0) return random_test(frame, table, columns, rng);
  const RandomExpression a = random_expression(frame, table, columns, rng, depth - 1);
  if (how == 1) {
    return {!a.expression, [a](std::uint64_t row) {
              const Verdict truth = a.of(row);
              return truth == Verdict::unknown ? truth
                     : truth == Verdict::no    ? Verdict::yes
                                               : Verdict::no;
            }};
  }
  const RandomExpression b = random_expression(frame, table, columns, rng, depth - 1);
  const bool all = how == 2;
  return {all ? a.expression && b.expression : a.expression || b.expression,
          [a, b, all](std::uint64_t row) {
            const Verdict x = a.of(row), y = b.of(row), decisive = all ? Verdict::no : Verdict::yes;
            if (x == decisive || y == decisive) return decisive;
            if (x == Verdict::unknown || y == Verdict::unknown) return Verdict::unknown;
            return all ? Verdict::yes : Verdict::no;
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
        if (wanted.of(r) == Verdict::yes) want.push_back(r);
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
  const auto named =
      Expression::parse("name.1 in ('q', 's') and (age > 0 or not x < 1)")
          .numbered([](const std::string& label) {
            return label == "name.1" ? std::optional<std::uint64_t>(6) : std::nullopt;
          });
  CHECK(named.labels() == std::vector<std::string>{"age", "x"});
  CHECK(count_where(frame, named) == 1);
  CHECK(count_where(frame, !named) == 3);
  CHECK(rows("age is missing OR age < 0") == "12");
  CHECK(rows("age not missing") == "023");
  CHECK(rows("-5 < age <= 30") == "02");
  CHECK(rows("30 == age") == "0");
  CHECK(rows("x != 1.5") == "123");
  CHECK(rows("x nan or x < -1e300 or x = -inf") == "13");
  CHECK(rows("x is not nan and x <= 1.5") == "023");
  CHECK(rows("`first name` in (\"A\", 'D', 'Z')") == "03");
  CHECK(rows("name IN ('Ann') OR born MISSING") == "02");
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

TEST_CASE("expressions: many tests are joined one by one, from either side") {
  const TempDir dir;
  const auto path = dir / "f.dbdf";
  FrameWriter writer = FrameWriter::create(path, 3, {{"a", ValueType::u32}});
  writer.put<std::uint32_t>({0, 0}, {std::array{1u, 2u, 3u}.data(), 3, 1});
  writer.finish();
  const Frame frame = Frame::open(path);
  const Expression one("a", Condition::equal(1)), three("a", Condition::equal(3));
  Expression left = one, right = one, negated = one, mixed = one;
  constexpr int kMany = 200'000;  // for which no stack has the room, were each a call in another
  for (int i = 0; i < kMany; ++i) {
    left = left || three;
    right = three && right;
    negated = !negated;
  }
  CHECK(left.labels() == std::vector<std::string>{"a"});
  CHECK(right.columns(frame) == std::vector<std::uint64_t>{0});
  CHECK(count_where(frame, negated) == 1);
  CHECK(count_where(frame, left) == 2);
  CHECK(count_where(frame, right) == 0);
  CHECK(count_where(frame, !left) == 1);
  const auto deepen = [&](int times) {
    for (int i = 0; i < times; ++i) mixed = i % 2 == 0 ? mixed && !three : mixed || three;
  };
  deepen(998);
  CHECK(count_where(frame, mixed) == 2);
  CHECK(test::required_error(test::error_of([&] { deepen(kMany); })).code() ==
        Errc::invalid_argument);
}
