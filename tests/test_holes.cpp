// Lists of rows and columns of objects with holes: what is between those that are wanted is of no
// account, whether it is absent or does not fit the type that is asked for.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Rng;
using test::TempDir;

namespace {

/// What a cell is, by the blocks of the partition and a read of everything.
struct Truth {
  std::uint64_t cols = 0;
  std::vector<bool> covered;
  std::vector<long double> values;  // all of their types are exact in it

  bool has(std::uint64_t row, std::uint64_t col) const { return covered[row * cols + col]; }
  long double at(std::uint64_t row, std::uint64_t col) const { return values[row * cols + col]; }
};

Truth truth_of(const BlockedObject& object, const test::Partition& partition) {
  Truth truth{object.cols(), std::vector<bool>(object.rows() * object.cols()), {}};
  truth.values.resize(truth.covered.size());
  for (const Region& block : partition.blocks) {
    for (std::uint64_t r = block.rows.begin; r < block.rows.end; ++r) {
      for (std::uint64_t c = block.cols.begin; c < block.cols.end; ++c) {
        truth.covered[r * truth.cols + c] = true;
      }
    }
  }
  for (std::uint64_t c = 0; c < object.cols(); ++c) {
    visit_type(object.column_type(c), [&](auto tag) {
      std::vector<decltype(tag)> column(object.rows());
      object.read({{0, object.rows()}, {c, c + 1}}, value_type_of<decltype(tag)>(),
                  std::as_writable_bytes(std::span(column)), {}, {Absent::zero});
      for (std::uint64_t r = 0; r < column.size(); ++r) {
        truth.values[r * truth.cols + c] = static_cast<long double>(column[r]);
      }
    });
  }
  return truth;
}

template <Value T>
bool fits(long double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value) || static_cast<long double>(static_cast<T>(value)) == value;
  } else {
    return value >= static_cast<long double>(std::numeric_limits<T>::min()) &&
           value <= static_cast<long double>(std::numeric_limits<T>::max()) &&
           std::trunc(value) == value && !(value == 0 && std::signbit(value));
  }
}

bool same(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// What is wrong with the cells that are wanted; none of it: nothing.
struct Wrong {
  bool absent = false, misfit = false;

  template <Value T>
  void look(const Truth& truth, std::uint64_t row, std::uint64_t col) {
    if (!truth.has(row, col)) {
      absent = true;
    } else {
      misfit |= !fits<T>(truth.at(row, col));
    }
  }
  /// An error is of a wanted cell, and names it.
  void check(const Error& error, const Truth& truth, std::span<const std::uint64_t> rows,
             std::span<const std::uint64_t> cols) const {
    CHECK((error.code() == Errc::absent || error.code() == Errc::type_mismatch));
    CHECK((error.code() == Errc::absent ? absent : misfit));
    bool named = false;
    for (const std::uint64_t row : rows) {
      for (const std::uint64_t col : cols) {
        const std::string cell = "cell (" + std::to_string(row) + ", " + std::to_string(col) + ")";
        const bool is_absent = !truth.has(row, col);
        named |= is_absent == (error.code() == Errc::absent) &&
                 std::string(error.what()).find(cell) != std::string::npos;
      }
    }
    CHECK(named);
  }
};

std::vector<std::uint64_t> some(Rng& rng, std::uint64_t limit, std::uint64_t most) {
  std::vector<std::uint64_t> list(1 + rng.below(most));
  for (auto& item : list) item = rng.below(limit);
  return list;
}

std::vector<std::uint64_t> all(std::uint64_t n) {
  std::vector<std::uint64_t> list(n);
  for (std::uint64_t i = 0; i < n; ++i) list[i] = i;
  return list;
}

/// Columns of a matrix as T. Returns whether there was an answer.
template <Value T>
bool check_columns(Rng& rng, const Matrix& m, const Truth& truth) {
  const auto cols = some(rng, m.cols(), 3), rows = all(m.rows());
  Wrong wrong;
  for (const std::uint64_t row : rows) {
    for (const std::uint64_t col : cols) wrong.look<T>(truth, row, col);
  }
  Csr<T> out;
  const auto error = error_of([&] { gather_columns<T>(m, cols, out, {.threads = 2}); });
  REQUIRE(error.has_value() == (wrong.absent || wrong.misfit));
  if (error) {
    wrong.check(*error, truth, rows, cols);
    return false;
  }
  for (std::size_t k = 0; k < cols.size(); ++k) {
    std::vector<long double> column(m.rows());
    for (std::uint64_t i = out.row_ptr[k]; i < out.row_ptr[k + 1]; ++i) {
      column[out.col_idx[i]] = static_cast<long double>(out.values[i]);
    }
    for (std::uint64_t r = 0; r < m.rows(); ++r) REQUIRE(same(column[r], truth.at(r, cols[k])));
  }
  return true;
}

/// Whether blocks cover columns that ascend.
void check_covers(Rng& rng, const BlockedObject& object, const Truth& truth) {
  auto cols = some(rng, object.cols(), 4);
  std::sort(cols.begin(), cols.end());
  const Range rows = rng.range(object.rows());
  bool whole = true;
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    for (const std::uint64_t col : cols) whole &= truth.has(row, col);
  }
  REQUIRE(covers(object, rows, cols) == whole);
}

template <Value T>
std::vector<ColumnBuffer> buffers_of(std::span<const std::uint64_t> cols, std::vector<T>& cells,
                                     std::size_t rows) {
  cells.assign(cols.size() * rows, T{7});
  std::vector<ColumnBuffer> buffers;
  for (std::size_t k = 0; k < cols.size(); ++k) {
    buffers.push_back({cols[k], value_type_of<T>(),
                       reinterpret_cast<std::byte*>(cells.data() + k * rows), sizeof(T)});
  }
  return buffers;
}

/// Rows of columns of a frame as T. Returns whether there was an answer.
template <Value T>
bool check_rows(Rng& rng, const Frame& frame, const Truth& truth, Absent absent) {
  const auto rows = some(rng, frame.rows(), 5), cols = some(rng, frame.cols(), 3);
  Wrong wrong;
  for (const std::uint64_t row : rows) {
    for (const std::uint64_t col : cols) {
      const bool filled = absent == Absent::nan && std::is_floating_point_v<T>;
      if (!filled || truth.has(row, col)) wrong.look<T>(truth, row, col);
    }
  }
  std::vector<T> cells;
  const auto buffers = buffers_of<T>(cols, cells, rows.size());
  const auto error = error_of([&] { gather_rows(frame, rows, buffers, {absent}); });
  REQUIRE(error.has_value() == (wrong.absent || wrong.misfit));
  if (error) {
    if (absent == Absent::error) wrong.check(*error, truth, rows, cols);
    if (absent == Absent::nan) CHECK(error->code() == Errc::type_mismatch);
    return false;
  }
  for (std::size_t k = 0; k < cols.size(); ++k) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const long double wanted =
          truth.has(rows[i], cols[k]) ? truth.at(rows[i], cols[k]) : std::nanl("");
      REQUIRE(same(static_cast<long double>(cells[k * rows.size() + i]), wanted));
    }
  }
  return true;
}

std::vector<test::Partition> holed(Rng& rng) {
  std::vector<test::Partition> partitions = test::partitions(rng, 16);
  for (const unsigned gaps : {10U, 30U}) {
    for (int i = 0; i < 4; ++i) {
      partitions.push_back(test::guillotine(rng, 12 + rng.below(20), 2 + rng.below(20), gaps));
    }
  }
  return partitions;
}

}  // namespace

TEST_CASE("holes: columns between those that are wanted are of no account") {
  Rng rng(2801);
  const TempDir dir;
  std::size_t answers = 0, errors = 0;
  for (const ValueType type : {ValueType::i16, ValueType::f64, ValueType::u8}) {
    for (const test::Partition& partition : holed(rng)) {
      CAPTURE(partition.name);
      const Matrix m =
          Matrix::open(dir.write("m.dbdf", test::random_matrix(rng, partition, type).bytes()));
      const Truth truth = truth_of(m, partition);
      for (int i = 0; i < 12; ++i) {
        check_covers(rng, m, truth);
        for (const bool answered :
             {check_columns<std::uint8_t>(rng, m, truth), check_columns<float>(rng, m, truth),
              check_columns<double>(rng, m, truth)}) {
          ++(answered ? answers : errors);
        }
      }
    }
  }
  CHECK(answers > 100);
  CHECK(errors > 100);
}

TEST_CASE("holes: rows of frames between those that are wanted are of no account") {
  Rng rng(2802);
  const TempDir dir;
  std::size_t answers = 0, errors = 0;
  for (int round = 0; round < 3; ++round) {
    for (const test::Partition& partition : holed(rng)) {
      CAPTURE(partition.name);
      const Frame frame =
          Frame::open(dir.write("f.dbdf", test::random_frame(rng, partition).bytes()));
      const Truth truth = truth_of(frame, partition);
      for (int i = 0; i < 12; ++i) {
        for (const Absent absent : {Absent::error, Absent::nan}) {
          for (const bool answered : {check_rows<std::uint8_t>(rng, frame, truth, absent),
                                      check_rows<float>(rng, frame, truth, absent),
                                      check_rows<double>(rng, frame, truth, absent)}) {
            ++(answered ? answers : errors);
          }
        }
      }
    }
  }
  CHECK(answers > 100);
  CHECK(errors > 100);
}

TEST_CASE("holes: columns that do not ascend, or leave the object, are refused") {
  const TempDir dir;
  const Matrix m =
      Matrix::open(dir.write("m", test::Image::matrix(3, 3, ValueType::u8)
                                      .dense<std::uint8_t>({0, 0}, 1, 3, {1, 2, 3})
                                      .bytes()));
  const auto code = [&](Range rows, std::vector<std::uint64_t> cols) {
    return test::required_error(error_of([&] { covers(m, rows, cols); })).code();
  };
  CHECK(code({0, 1}, {2, 1}) == Errc::invalid_argument);
  CHECK(code({0, 4}, {0}) == Errc::out_of_range);
  CHECK(code({0, 1}, {~std::uint64_t{0}}) == Errc::out_of_range);
  CHECK(covers(m, {0, 1}, std::vector<std::uint64_t>{0, 0, 2}));
  CHECK(!covers(m, {0, 2}, std::vector<std::uint64_t>{1}));
  CHECK(covers(m, {0, 3}, {}));
  CHECK(covers(m, {1, 1}, std::vector<std::uint64_t>{1}));
}

TEST_CASE("holes: values become those of another type as far as they fit") {
  const std::vector<std::int16_t> values{1, -2, 255, 256, 3};
  std::vector<std::uint8_t> bytes(5, 9);
  const auto from = std::as_bytes(std::span(values));
  const auto convert = [&](std::size_t first, std::size_t room) {
    return convert_values(ValueType::i16, from.subspan(2 * first), ValueType::u8,
                          std::as_writable_bytes(std::span(bytes).first(room)));
  };
  CHECK(convert(0, 5) == 1);
  CHECK(convert(2, 3) == 1);
  CHECK(convert(4, 1) == 1);
  CHECK(bytes[0] == 3);
  CHECK(test::required_error(error_of([&] { convert(0, 4); })).code() == Errc::invalid_argument);
}
