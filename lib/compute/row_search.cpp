#include "lib/compute/row_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lib/base/vectors.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/column_codes.h"

namespace dapple::detail {

namespace {

using Kind = ExpressionNode::Kind;

const ColumnCondition kMissing = ColumnCondition::missing();

/// Marks the values that match, so that the loop vectorises.
template <Value T>
DAPPLE_VECTORS void mark_run(const std::byte* values, std::size_t n, const Matching<T>& match,
                             std::uint8_t* found) {
  const T low = match.low, high = match.high;
  if (match.nan) {
    for (std::size_t i = 0; i < n; ++i) {
      const T v = load_le<T>(values + i * sizeof(T));
      found[i] = v != v ? 1 : 0;
    }
    return;
  }
  const bool nonzero = match.excludes_zero();
  for (std::size_t i = 0; i < n; ++i) {
    const T v = load_le<T>(values + i * sizeof(T));
    found[i] = ((v >= low) & (v <= high) & !(nonzero & (v == 0))) ? 1 : 0;
  }
}

/// Marks the rows in which a column matches.
struct Marker {
  const Store& store;
  const ColumnMatch& match;
  std::uint64_t first;  // row
  std::span<std::uint8_t> found;

  template <Value T>
  void dense(const DenseRows<T>& cells) const {
    const Matching<T> wanted = match.interval().of<T>();
    std::uint8_t* const out = found.data() + (cells.row - first);
    if (cells.row_step == sizeof(T)) {
      mark_run<T>(cells.data, cells.rows, wanted, out);
    } else {
      for (std::uint64_t r = 0; r < cells.rows; ++r) {
        out[r] = wanted(load_le<T>(cells.data + r * cells.row_step)) ? 1 : 0;
      }
    }
    if (!match.doubtful()) return;
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      if (out[r] == 0) continue;
      out[r] = confirms(cells.row + r, cells.col, load_le<T>(cells.data + r * cells.row_step));
    }
  }
  template <AnyRow Row>
  void row(const Row& row) const {
    row.each([&](std::uint32_t col, auto value) { cell(row.row, row.col + col, value); });
  }
  template <Value T>
  void cell(std::uint64_t row, std::uint64_t col, T value) const {
    if (match.interval().of<T>()(value)) mark(row, col, value);
  }

 private:
  /// Large, and called for few of the cells: no part of the kernels.
  template <Value T>
  [[gnu::noinline]] void mark(std::uint64_t row, std::uint64_t col, T value) const {
    found[row - first] = confirms(row, col, value);
  }
  template <Value T>
  std::uint8_t confirms(std::uint64_t row, std::uint64_t col, T value) const {
    const ValueType type = store.schema().type_of(col), stored = value_type_of<T>();
    std::uint64_t bits = std::bit_cast<BitsOf<T>>(value);
    if (stored != type) {
      const StoredCell given{row, col, bits};
      if (!convert_cell(stored, given.bits, type, bits)) fail_fit(store, given, stored, type);
    }
    return match.confirms(bits) ? 1 : 0;
  }
};

/// Throws corrupt at the first number that means no word and no truth value.
struct MeantCheck {
  const std::string& file;
  const Column& column;
  const Interval& meaningless;

  template <Value T>
  void dense(const DenseRows<T>& cells) const {
    if (cells.row_step == sizeof(T) &&
        count_run<T>(cells.data, cells.rows, meaningless.of<T>()) == 0) {
      return;
    }
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      cell(cells.row + r, cells.col, load_le<T>(cells.data + r * cells.row_step));
    }
  }
  template <AnyRow Row>
  void row(const Row& row) const {
    row.each([&](std::uint32_t col, auto value) { cell(row.row, row.col + col, value); });
  }
  template <Value T>
  void cell(std::uint64_t row, std::uint64_t, T value) const {
    if (meaningless.of<T>()(value)) {
      fail_code(file, column, std::bit_cast<BitsOf<T>>(value), row);
    }
  }
};

}  // namespace

class RowSearch::Verdicts {
 public:
  void add(BlockPos pos, Skipped skipped) {
    const auto [at, added] = known_.try_emplace({pos.rx, pos.cx}, skipped);
    if (skipped == Skipped::no) at->second = skipped;  // one reason to read it is enough
  }
  std::vector<BlockVerdict> list() const {
    std::vector<BlockVerdict> all;
    for (const auto& [pos, skipped] : known_) all.push_back({{pos.first, pos.second}, skipped});
    return all;
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, Skipped> known_;
};

RowSearch::RowSearch(const Frame& frame, const Expression& expression, const WhereOptions& options)
    : frame_(frame),
      store_(frame.store()),
      expression_(expression),
      absent_(options.absent),
      root_(bind(*expression_.node_, false, options)) {
  std::set<std::uint64_t> cols;
  for (const Test& test : tests_) cols.insert(test.col);
  cols_.assign(cols.begin(), cols.end());
  for (const std::uint64_t col : cols_) {
    const auto greatest = greatest_code(frame_.column_info(col).meaning);
    if (greatest) codes_.push_back({col, Condition::above(*greatest)});
  }
  if (absent_ == Absent::zero) return;
  for (const Test& test : tests_) {
    store_.require_covered({{0, frame.rows()}, {test.col, test.col + 1}}, absent_);
  }
}

RowSearch::Node RowSearch::bind(const ExpressionNode& node, bool negated,
                                const WhereOptions& options) {
  if (node.kind == Kind::negation) return bind(*node.of.front(), !negated, options);
  if (node.kind == Kind::test) {
    const std::uint64_t col = column_of(frame_, node);
    const Column& column = frame_.column_info(col);
    const std::string& file = store_.known_as();
    const auto bound = [&](const ColumnCondition& condition, bool nonzero) {
      return std::make_unique<ColumnMatch>(column, condition, nonzero, file);
    };
    Test test{col, bound(node.condition, options.nonzero), negated};
    if (negated && mark_of(column.meaning) && !test.match->finds_missing()) {
      test.missing = bound(kMissing, false);
    }
    tests_.push_back(std::move(test));
    return {Kind::test, tests_.size() - 1};
  }
  Node made{(node.kind == Kind::all) != negated ? Kind::all : Kind::any};
  for (const auto* part : parts_of(node)) made.of.push_back(bind(*part, negated, options));
  return made;
}

/// The rows of a block of the tested columns, which pieces end with where statistics may decide.
std::uint64_t RowSearch::block_rows() const {
  const BlockIndex& index = store_.index();
  std::uint64_t most = 1;
  if (frame_.rows() == 0) return most;
  store_.watched([&] {
    for (const Test& test : tests_) {
      // Not compared with their blocks: whatever they say, other pieces find the same rows.
      for (const std::uint64_t number : index.touching({{0, 1}, {test.col, test.col + 1}})) {
        most = std::max<std::uint64_t>(most, index.entry(number).rows);
      }
    }
  });
  return most;
}

std::vector<Range> RowSearch::pieces(Range rows) const {
  constexpr std::uint64_t kFew = 1 << 10, kMany = 1 << 16, kMost = 1 << 21;
  const std::uint64_t wanted = store_.block_stats() != nullptr ? kFew : kMany;
  const std::uint64_t block = std::min(block_rows(), kMost);
  std::uint64_t blocks = std::max<std::uint64_t>(wanted / block, 1);
  // What follows each other is read several times, while its file is open.
  if (const std::uint64_t files = store_.blocks().files_kept_open(); files != 0) {
    blocks = std::min(blocks, files);
  }
  const std::uint64_t step = blocks * block;
  std::vector<Range> made;
  for (std::uint64_t begin = rows.begin; begin < rows.end;) {
    const std::uint64_t end = begin + std::min(rows.end - begin, step - begin % step);
    made.push_back({begin, end});
    begin = end;
  }
  return made;
}

std::size_t RowSearch::ask_for_some(std::span<const Range> pieces) const {
  if (!store_.blocks().fetches()) return pieces.size();
  constexpr std::size_t kMost = 256;  // pieces, of which later ones may turn out not to be needed
  std::vector<Region> regions;
  for (const Range& rows : pieces.first(std::min(kMost, pieces.size()))) {
    for (const std::uint64_t col : cols_) regions.push_back({rows, {col, col + 1}});
  }
  return std::max<std::size_t>(1, store_.ask_for_some(regions) / cols_.size());
}

/// Why a block need not be looked at. Dense blocks have statistics of all of their cells; of
/// others, zeros are not stored.
Skipped RowSearch::verdict_on(ValueType type, const ColumnMatch& match, std::uint64_t number,
                              const Entry& entry) const {
  const Interval& interval = match.interval();
  if (entry.kind != BlockKind::dense && interval.holds_for_zero()) return Skipped::no;
  return verdict(interval, store_, number, entry, type);
}

/// Whether all cells of a block match, as far as its statistics tell.
bool RowSearch::all_match(const ColumnMatch& match, std::uint64_t number,
                          const Entry& entry) const {
  const BlockStatsTable* const known = store_.block_stats();
  if (known == nullptr || entry.kind != BlockKind::dense || match.doubtful()) return false;
  const BlockStats& stats = (*known)[number];
  const auto type = stats.type();
  return type && stats.nans() == 0 && visit_type(*type, [&](auto tag) {
           using T = decltype(tag);
           const Matching<T>& wanted = match.interval().of<T>();
           const TallyOf<T> tally = stats.tally<T>();
           return !wanted.nan && !wanted.excludes_zero() && tally.min >= wanted.low &&
                  tally.max <= wanted.high && tally.min <= tally.max;
         });
}

RowSearch::Truth RowSearch::judge(const Test& test, Range rows) const {
  bool none = true, all = true;
  std::uint64_t covered = 0;
  store_.for_each_block({rows, {test.col, test.col + 1}}, {absent_},
                        [&](std::uint64_t number, const Entry& e, const Part& part) {
                          covered += part.rows.size();
                          none = none && verdict_on(store_.schema().type_of(test.col), *test.match,
                                                    number, e) != Skipped::no;
                          all = all && all_match(*test.match, number, e);
                        });
  if (covered < rows.size()) {  // the others are zeros
    all = false;
    none = none && !test.match->interval().holds_for_zero();
  }
  if (none && (!test.negated || !test.missing)) return test.negated ? Truth::yes : Truth::no;
  if (all) return test.negated ? Truth::no : Truth::yes;
  return Truth::unknown;
}

RowSearch::Truth RowSearch::judge(const Node& node, Range rows) const {
  if (node.kind == Kind::test) return judge(tests_[node.test], rows);
  const Truth decisive = node.kind == Kind::all ? Truth::no : Truth::yes;
  bool unknown = false;
  for (const Node& part : node.of) {
    const Truth truth = judge(part, rows);
    if (truth == decisive) return decisive;
    unknown = unknown || truth == Truth::unknown;
  }
  if (unknown) return Truth::unknown;
  return decisive == Truth::no ? Truth::yes : Truth::no;
}

/// Throws corrupt when a cell of these rows means no word and no truth value, whatever is
/// searched for. Blocks whose statistics rule that out are not read.
void RowSearch::require_meant(const Codes& codes, Range rows) const {
  const Interval meaningless(codes.meaningless, false);
  const MeantCheck check{store_.known_as(), frame_.column_info(codes.col), meaningless};
  const ValueType type = store_.schema().type_of(codes.col);
  Band band;
  store_.for_each_block({rows, {codes.col, codes.col + 1}}, {absent_},
                        [&](std::uint64_t number, const Entry& e, const Part& part) {
                          if (verdict(meaningless, store_, number, e, type) == Skipped::no) {
                            visit_cells(store_, e, part, band, check);
                          }
                        });
}

void RowSearch::find(Range rows, std::span<std::uint8_t> found) const {
  for (const Codes& codes : codes_) require_meant(codes, rows);
  find(root_, rows, found);
}

void RowSearch::find(const Node& node, Range rows, std::span<std::uint8_t> found) const {
  if (const Truth truth = judge(node, rows); truth != Truth::unknown) {
    std::fill(found.begin(), found.end(), truth == Truth::yes ? 1 : 0);
    return;
  }
  if (node.kind == Kind::test) return find(tests_[node.test], rows, found);
  find(node.of.front(), rows, found);
  const bool all = node.kind == Kind::all;
  std::vector<std::uint8_t> part(node.of.size() > 1 ? found.size() : 0);
  for (std::size_t k = 1; k < node.of.size(); ++k) {
    // What the rest finds makes no difference once no row, or every one, is left.
    if (std::find(found.begin(), found.end(), all ? 1 : 0) == found.end()) return;
    find(node.of[k], rows, part);
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i] = static_cast<std::uint8_t>(all ? found[i] & part[i] : found[i] | part[i]);
    }
  }
}

void RowSearch::find(const Test& test, Range rows, std::span<std::uint8_t> found) const {
  mark(test.col, *test.match, rows, found);
  if (!test.negated) return;
  for (std::uint8_t& one : found) one ^= 1;
  if (!test.missing) return;
  std::vector<std::uint8_t> missing(found.size());
  mark(test.col, *test.missing, rows, missing);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = static_cast<std::uint8_t>(found[i] & ~missing[i]);
  }
}

/// Marks the rows in which a column matches. Blocks that hold no match are not read.
void RowSearch::mark(std::uint64_t col, const ColumnMatch& match, Range rows,
                     std::span<std::uint8_t> found) const {
  std::fill(found.begin(), found.end(), std::uint8_t{0});
  const Range cols{col, col + 1};
  const bool zeros = match.interval().holds_for_zero();
  Marker marker{store_, match, rows.begin, found};
  Band band;
  std::uint64_t next = rows.begin;  // the rows before were looked at
  const auto scan_before = [&](std::uint64_t row) {
    if (zeros && next < row) scan(store_, {{next, row}, cols}, absent_, marker);
  };
  store_.for_each_block(
      {rows, cols}, {absent_}, [&](std::uint64_t number, const Entry& e, const Part& part) {
        if (zeros && e.kind != BlockKind::dense) {
          return;  // scanned, with absent cells
        }
        scan_before(e.pos.rx + part.rows.begin);
        next = e.pos.rx + part.rows.end;
        if (verdict_on(store_.schema().type_of(col), match, number, e) != Skipped::no) return;
        if (all_match(match, number, e)) {
          const auto here =
              found.subspan(e.pos.rx + part.rows.begin - rows.begin, part.rows.size());
          std::fill(here.begin(), here.end(), std::uint8_t{1});
          return;
        }
        visit_cells(store_, e, part, band, marker);
      });
  scan_before(rows.end);
}

void RowSearch::explain(const Node& node, Range rows, bool decided, Verdicts& verdicts) const {
  decided = decided || judge(node, rows) != Truth::unknown;
  for (const Node& part : node.of) explain(part, rows, decided, verdicts);
  if (node.kind != Kind::test) return;
  const Test& test = tests_[node.test];
  store_.for_each_block(
      {rows, {test.col, test.col + 1}}, {absent_},
      [&](std::uint64_t number, const Entry& e, const Part&) {
        const Skipped own = verdict_on(store_.schema().type_of(test.col), *test.match, number, e);
        const bool skipped = decided || all_match(*test.match, number, e);
        verdicts.add(e.pos, own == Skipped::no && skipped ? Skipped::statistics : own);
      });
}

std::vector<BlockVerdict> RowSearch::explain() const {
  Verdicts verdicts;
  for (const Range& piece : pieces({0, frame_.rows()})) explain(root_, piece, false, verdicts);
  return verdicts.list();
}

}  // namespace dapple::detail
