#include "dapple/product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/vectors.h"
#include "lib/compute/block_cells.h"
#include "lib/compute/dense_products.h"

namespace dapple {

namespace detail {

namespace {

/// Values that are converted at once, so that they stay in the nearest cache.
constexpr std::size_t kPanelRows = 4, kPanelCols = 256, kColsInCache = 1024;

/// sum += factor * p[0..8)
[[gnu::always_inline]] inline void add_product(Eight& sum, double factor,
                                               const double* p) noexcept {
  Eight v;
  load(v, p);
  sum += factor * v;
}

[[gnu::always_inline]] inline void add_to(double* p, const Eight& v) noexcept {
  Eight sum;
  load(sum, p);
  sum += v;
  std::memcpy(p, &sum, sizeof sum);
}

/// What both directions share: the arrays, and `k` columns of them, `step` values from row to row.
/// One column has a step of 1; of several, `k` is a multiple of eight. Where `x` is not finite, no
/// cell that is zero may meet it.
struct Columns {
  const double* x;
  double* y;
  std::size_t k, step;
  bool finite;
};

/// Hands out dense cells as panels of four rows of f64; missing rows are zeros.
template <Value T, class F>
void each_panel(const DenseRows<T>& cells, const F& f) {
  std::array<double, kPanelRows * kPanelCols> panel;
  for (std::uint64_t r = 0; r < cells.rows; r += kPanelRows) {
    const std::size_t rows = std::min<std::uint64_t>(kPanelRows, cells.rows - r);
    for (std::uint64_t c = 0; c < cells.cols; c += kPanelCols) {
      const std::size_t cols = std::min<std::uint64_t>(kPanelCols, cells.cols - c);
      if (rows < kPanelRows) panel.fill(0);
      for (std::size_t i = 0; i < rows; ++i) {
        to_doubles<T>(cells.data + (r + i) * cells.row_step + c * sizeof(T), &panel[i * cols],
                      cols);
      }
      f(panel.data(), cells.row + r, rows, cells.col + c, cols);
    }
  }
}

template <AnyRow Row>
double row_times_one(const Row& row, const double* x) {
  double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  row.each_in_lanes([&](int lane, std::uint32_t col, auto v) {
    (lane == 0   ? sum0
     : lane == 1 ? sum1
     : lane == 2 ? sum2
                 : sum3) += static_cast<double>(v) * x[col];
  });
  return (sum0 + sum1) + (sum2 + sum3);
}

template <AnyRow Row>
DAPPLE_VECTORS void row_times_few(const Row& row, const double* x, std::size_t step, double* y) {
  Eight sum0{}, sum1{};
  row.each_in_lanes([&](int lane, std::uint32_t col, auto v) {
    add_product(lane % 2 == 0 ? sum0 : sum1, static_cast<double>(v), x + col * step);
  });
  add_to(y, sum0 + sum1);
}

template <AnyRow Row>
DAPPLE_VECTORS void row_times_many(const Row& row, const double* x, std::size_t step, double* y) {
  Eight sum0{}, sum1{}, sum2{}, sum3{};
  row.each([&](std::uint32_t col, auto v) {
    const auto value = static_cast<double>(v);
    const double* const from = x + col * step;
    add_product(sum0, value, from);
    add_product(sum1, value, from + 8);
    add_product(sum2, value, from + 16);
    add_product(sum3, value, from + 24);
  });
  add_to(y, sum0);
  add_to(y + 8, sum1);
  add_to(y + 16, sum2);
  add_to(y + 24, sum3);
}

template <AnyRow Row>
DAPPLE_VECTORS void add_row_times_few(const Row& row, const double* x, std::size_t step,
                                      double* y) {
  Eight factor;
  load(factor, x);
  row.each(
      [&](std::uint32_t col, auto v) { add_to(y + col * step, static_cast<double>(v) * factor); });
}

template <AnyRow Row>
DAPPLE_VECTORS void add_row_times_many(const Row& row, const double* x, std::size_t step,
                                       double* y) {
  Eight x0, x1, x2, x3;
  load(x0, x);
  load(x1, x + 8);
  load(x2, x + 16);
  load(x3, x + 24);
  row.each([&](std::uint32_t col, auto v) {
    const auto value = static_cast<double>(v);
    double* const to = y + col * step;
    add_to(to, value * x0);
    add_to(to + 8, value * x1);
    add_to(to + 16, value * x2);
    add_to(to + 24, value * x3);
  });
}

/// Cell by cell, where `product.cell` leaves out zeros.
template <class Product>
void add_nonzero(const Product& product, const double* panel, std::uint64_t row, std::size_t rows,
                 std::uint64_t col, std::size_t cols) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) product.cell(row + i, col + j, panel[i * cols + j]);
  }
}
template <class Product, AnyRow Row>
void add_nonzero(const Product& product, const Row& row) {
  row.each([&](std::uint32_t col, auto v) { product.cell(row.row, row.col + col, v); });
}

/// y += A x.
struct Forward : Columns {
  template <Value T>
  void dense(const DenseRows<T>& cells) const {
    if (k == 1 && finite) {
      for (std::uint64_t r = 0; r < cells.rows; ++r) {
        y[cells.row + r] += dot<T>(cells.data + r * cells.row_step, x + cells.col, cells.cols);
      }
      return;
    }
    each_panel(cells, [this](const double* panel, std::uint64_t row, std::size_t rows,
                             std::uint64_t col, std::size_t cols) {
      if (!finite) return add_nonzero(*this, panel, row, rows, col, cols);
      std::array<double, kPanelRows * kFewColumns> sums;
      for (std::size_t j = 0; j < k; j += kFewColumns) {
        multiply_panel(panel, cols, x + col * step + j, step, sums.data());
        for (std::size_t i = 0; i < rows; ++i) {
          Eight sum;
          load(sum, &sums[i * kFewColumns]);
          add_to(y + (row + i) * step + j, sum);
        }
      }
    });
  }
  template <AnyRow Row>
  void row(const Row& row) const {
    if (!finite) return add_nonzero(*this, row);
    const double* const from = x + row.col * step;
    double* const to = y + row.row * step;
    if (k == 1) {
      *to += row_times_one(row, from);
      return;
    }
    std::size_t j = 0;
    for (; k - j >= kManyColumns; j += kManyColumns) row_times_many(row, from + j, step, to + j);
    for (; j < k; j += kFewColumns) row_times_few(row, from + j, step, to + j);
  }
  template <Value T>
  void cell(std::uint64_t row, std::uint64_t col, T value) const {
    if (!finite && value == 0) return;
    for (std::size_t j = 0; j < k; ++j) {
      y[row * step + j] += static_cast<double>(value) * x[col * step + j];
    }
  }
};

/// y += A^T x.
struct Transposed : Columns {
  template <Value T>
  void dense(const DenseRows<T>& cells) const {
    if (k == 1 && finite) {
      for (std::uint64_t c = 0; c < cells.cols; c += kColsInCache) {
        const std::size_t cols = std::min<std::uint64_t>(kColsInCache, cells.cols - c);
        for (std::uint64_t r = 0; r < cells.rows; ++r) {
          add_scaled<T>(cells.data + r * cells.row_step + c * sizeof(T), x[cells.row + r],
                        y + cells.col + c, cols);
        }
      }
      return;
    }
    each_panel(cells, [this](const double* panel, std::uint64_t row, std::size_t rows,
                             std::uint64_t col, std::size_t cols) {
      if (!finite) return add_nonzero(*this, panel, row, rows, col, cols);
      std::array<double, kPanelRows * kFewColumns> factors{};
      for (std::size_t j = 0; j < k; j += kFewColumns) {
        for (std::size_t i = 0; i < rows; ++i) {
          std::copy_n(x + (row + i) * step + j, kFewColumns, &factors[i * kFewColumns]);
        }
        multiply_panel_transposed(panel, cols, factors.data(), y + col * step + j, step);
      }
    });
  }
  template <AnyRow Row>
  void row(const Row& row) const {
    if (!finite) return add_nonzero(*this, row);
    const double* const from = x + row.row * step;
    double* const to = y + row.col * step;
    if (k == 1) {
      const double factor = *from;
      row.each([&](std::uint32_t col, auto v) { to[col] += factor * static_cast<double>(v); });
      return;
    }
    std::size_t j = 0;
    for (; k - j >= kManyColumns; j += kManyColumns) {
      add_row_times_many(row, from + j, step, to + j);
    }
    for (; j < k; j += kFewColumns) add_row_times_few(row, from + j, step, to + j);
  }
  template <Value T>
  void cell(std::uint64_t row, std::uint64_t col, T value) const {
    if (!finite && value == 0) return;
    for (std::size_t j = 0; j < k; ++j) {
      y[col * step + j] += static_cast<double>(value) * x[row * step + j];
    }
  }
};

bool all_finite(const double* x, std::size_t n) {
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) finite &= std::isfinite(x[i]);
  return finite;
}

/// Adds up strips of rows that each have their own part of `y`.
void add_forward(const Store& store, const Columns& columns, const ReadOptions& options) {
  const Range cols{0, store.schema().cols};
  const auto strips = row_strips(store, strips_for(options.threads));
  parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    Forward kernel{columns};
    Band band;
    visit_region(store, {strips[i], cols}, options, band, kernel);
  });
}

/// Adds up strips of columns likewise; where there are too few of them, strips of rows, each but
/// the first into memory of its own.
void add_transposed(const Store& store, const Columns& columns, const ReadOptions& options) {
  const Range rows{0, store.schema().rows}, cols{0, store.schema().cols};
  const std::uint64_t workers = worker_limit(options.threads);
  const auto& grid = store.index().grid();
  if (workers > 1 && grid && grid->cols >= workers) {
    const auto strips = column_strips(store, strips_for(options.threads));
    parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
      Transposed kernel{columns};
      Band band;
      visit_region(store, {rows, strips[i]}, options, band, kernel);
    });
    return;
  }
  const auto strips = row_strips(store, workers);
  std::vector<std::vector<double>> parts(strips.size());
  parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    Transposed kernel{columns};
    if (i > 0) {
      parts[i].resize(cols.size() * columns.step);
      kernel.y = parts[i].data();
    }
    Band band;
    visit_region(store, {strips[i], cols}, options, band, kernel);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (std::uint64_t c = 0; c < cols.size(); ++c) {
      for (std::size_t j = 0; j < columns.k; ++j) {
        columns.y[c * columns.step + j] += parts[i][c * columns.step + j];
      }
    }
  }
}

enum class Direction : bool { forward, transposed };

void add_columns(const Store& store, const Columns& columns, Direction direction,
                 const ReadOptions& options) {
  if (direction == Direction::forward) {
    add_forward(store, columns, options);
  } else {
    add_transposed(store, columns, options);
  }
}

/// Throws invalid_argument unless an array of `size` values holds `rows` x `k` of them.
std::size_t checked_size(std::string_view what, std::size_t size, std::uint64_t rows,
                         std::size_t k) {
  std::uint64_t needed;
  if (!multiply(rows, k, needed) || needed > size) {
    throw Error(Errc::invalid_argument, std::string(what) + " holds " + counted(size, "value") +
                                            ", too few for " + detail::extents_text(rows, k));
  }
  return needed;
}

void product(const Store& store, std::span<const double> x, std::span<double> y, std::size_t k,
             Direction direction, const ReadOptions& options) {
  std::uint64_t from = store.schema().cols, to = store.schema().rows;
  if (direction == Direction::transposed) std::swap(from, to);
  const std::size_t in = checked_size("x", x.size(), from, k);
  const std::size_t out = checked_size("y", y.size(), to, k);
  const auto first = [](const double* p) { return reinterpret_cast<std::uintptr_t>(p); };
  if (in > 0 && out > 0 && first(x.data()) < first(y.data() + out) &&
      first(y.data()) < first(x.data() + in)) {
    throw Error(Errc::invalid_argument, "x and y share memory; give y memory of its own");
  }
  require_covered(store, options.absent);
  std::fill_n(y.data(), out, 0.0);
  const bool finite = all_finite(x.data(), in);
  const std::size_t rest = k == 1 ? 0 : k % kFewColumns, whole = k - rest;
  if (whole > 0) add_columns(store, {x.data(), y.data(), whole, k, finite}, direction, options);
  if (rest == 0) return;
  // The last columns with zeros beside them, or the last one alone.
  const std::size_t width = rest == 1 ? 1 : kFewColumns;
  std::vector<double> last_x(from * width), last_y(to * width);
  for (std::uint64_t i = 0; i < from; ++i) {
    std::copy_n(x.data() + i * k + whole, rest, last_x.data() + i * width);
  }
  add_columns(store, {last_x.data(), last_y.data(), width, width, finite}, direction, options);
  for (std::uint64_t i = 0; i < to; ++i) {
    std::copy_n(last_y.data() + i * width, rest, y.data() + i * k + whole);
  }
}

}  // namespace

}  // namespace detail

void multiply(const Matrix& matrix, std::span<const double> x, std::span<double> y, std::size_t k,
              const ReadOptions& options) {
  detail::product(matrix.store(), x, y, k, detail::Direction::forward, options);
}

void multiply_transposed(const Matrix& matrix, std::span<const double> x, std::span<double> y,
                         std::size_t k, const ReadOptions& options) {
  detail::product(matrix.store(), x, y, k, detail::Direction::transposed, options);
}

}  // namespace dapple
