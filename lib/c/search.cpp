// Statistics, and searches of rows and cells.
#include <cstring>

#include "dapple/stats.h"
#include "dapple/where.h"
#include "dapple/where_rows.h"
#include "lib/c/handles.h"
#include "lib/c/options.h"

namespace dapple::detail::c {

namespace {

dapple_stats stats_of(const Stats& s) {
  return {s.count, s.nnz, s.nans, s.min, s.max, s.sum, s.mean(), s.variance()};
}

std::vector<Stats> all_stats(const BlockedObject& object, std::int32_t axis,
                             const ReadOptions& options) {
  switch (axis) {
    case DAPPLE_ALL:
      return {matrix_stats(object, options)};
    case DAPPLE_ROWS:
      return row_stats(object, options);
    case DAPPLE_COLUMNS:
      return column_stats(object, options);
    default:
      fail_argument("there is no axis " + std::to_string(axis));
  }
}

WhereOptions where_options(const dapple_read_options* options) {
  const ReadOptions read = read_options(options);
  return {.absent = read.absent, .threads = read.threads};
}

/// Calls `f` with a value of the type that `dapple_value` has for it.
template <class F>
auto visit_wide(std::int32_t type, const F& f) {
  switch (type) {
    case DAPPLE_F64:
      return f(double{});
    case DAPPLE_I64:
      return f(std::int64_t{});
    case DAPPLE_U64:
      return f(std::uint64_t{});
    default:
      fail_argument("values to look for are f64, i64 or u64");
  }
}

template <Value T>
T value_as(const dapple_value& value) {
  T out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

template <Value T>
Condition condition_of(std::int32_t test, T low, T high) {
  switch (test) {
    case DAPPLE_ABOVE:
      return Condition::above(low);
    case DAPPLE_AT_LEAST:
      return Condition::at_least(low);
    case DAPPLE_BELOW:
      return Condition::below(high);
    case DAPPLE_AT_MOST:
      return Condition::at_most(high);
    case DAPPLE_EQUAL:
      return Condition::equal(low);
    case DAPPLE_BETWEEN:
      return Condition::between(low, high);
    case DAPPLE_IS_NAN:
      return Condition::nan();
    default:
      fail_argument("there is no test " + std::to_string(test));
  }
}

/// Passes on what a search finds.
template <Value T>
class Hits {
 public:
  Hits(dapple_take_hits take, void* context) : take_(take), context_(context) {}
  void operator()(std::span<const Hit<T>> found) {
    count_ += found.size();
    if (take_ == nullptr) return;
    hits_.resize(found.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      hits_[k].row = found[k].row;
      hits_[k].col = found[k].col;
      std::memcpy(&hits_[k].value, &found[k].value, sizeof(T));
    }
    if (take_(context_, hits_.data(), hits_.size()) != 0) throw Stopped();
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  dapple_take_hits take_;
  void* context_;
  std::vector<dapple_hit> hits_;
  std::uint64_t count_ = 0;
};

const Matrix& matrix_of(const dapple_object& object) {
  const auto* const matrix = std::get_if<Matrix>(&object.held);
  if (matrix == nullptr) throw Error(Errc::type_mismatch, "this is a frame, not a matrix");
  return *matrix;
}

}  // namespace

extern "C" {

int32_t dapple_get_stats(const dapple_object* object, int32_t axis, dapple_stats* stats, size_t n,
                         const dapple_read_options* options, dapple_error* error) {
  return guarded(error, [&] {
    const ReadOptions read = read_options(options);
    const BlockedObject& any = *checked(object).any;
    const std::uint64_t wanted = axis == DAPPLE_ALL    ? 1
                                 : axis == DAPPLE_ROWS ? any.rows()
                                                       : any.cols();
    if (n != wanted)
      fail_argument("there is room for " + std::to_string(n) + " statistics, not for " +
                    std::to_string(wanted));
    array(stats, n, "stats");
    const auto all = all_stats(any, axis, {.absent = read.absent, .threads = read.threads});
    std::transform(all.begin(), all.end(), stats, stats_of);
  });
}

int32_t dapple_where_rows(const dapple_object* object, const char* expression,
                          dapple_take_rows take, void* context, uint64_t* count,
                          const dapple_read_options* options, dapple_error* error) {
  return guarded(error, [&] {
    const Frame& frame = frame_of(checked(object));
    const Expression wanted = Expression::parse(&needed(expression, "expression"));
    std::uint64_t found = 0;
    if (take == nullptr) {
      found = count_where(frame, wanted, where_options(options));
    } else {
      where(
          frame, wanted,
          [&](std::span<const std::uint64_t> rows) {
            found += rows.size();
            if (take(context, rows.data(), rows.size()) != 0) throw Stopped();
          },
          where_options(options));
    }
    if (count != nullptr) *count = found;
  });
}

int32_t dapple_where_cells(const dapple_object* object, const dapple_condition* condition,
                           int32_t type, dapple_take_hits take, void* context, uint64_t* count,
                           const dapple_read_options* options, dapple_error* error) {
  return guarded(error, [&] {
    const Matrix& matrix = matrix_of(checked(object));
    const dapple_condition& given = needed(condition, "condition");
    const Condition wanted = visit_wide(given.type, [&]<Value T>(T) {
      return condition_of(given.test, value_as<T>(given.low), value_as<T>(given.high));
    });
    WhereOptions how = where_options(options);
    how.nonzero = given.nonzero != 0;
    const std::uint64_t found = visit_wide(type, [&]<Value T>(T) -> std::uint64_t {
      if (take == nullptr) return count_where(matrix, wanted, how);
      Hits<T> hits(take, context);
      where<T>(matrix, wanted, std::ref(hits), how);
      return hits.count();
    });
    if (count != nullptr) *count = found;
  });
}

}  // extern "C"

}  // namespace dapple::detail::c
