#include "lib/compute/dense_products.h"

#include <array>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/base/value_types.h"
#include "lib/base/vectors.h"

namespace dapple::detail {

template <Value T>
DAPPLE_VECTORS double dot(const std::byte* values, const double* x, std::size_t n) noexcept {
  constexpr std::size_t kLanes = 32;
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      sums[k] += static_cast<double>(load_le<T>(values + (i + k) * sizeof(T))) * x[i + k];
    }
  }
  for (std::size_t k = 0; i + k < n; ++k) {
    sums[k] += static_cast<double>(load_le<T>(values + (i + k) * sizeof(T))) * x[i + k];
  }
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

template <Value T>
DAPPLE_VECTORS void add_scaled(const std::byte* values, double factor, double* y,
                               std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    y[i] += factor * static_cast<double>(load_le<T>(values + i * sizeof(T)));
  }
}

template <Value T>
DAPPLE_VECTORS void to_doubles(const std::byte* values, double* out, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<double>(load_le<T>(values + i * sizeof(T)));
  }
}

DAPPLE_VECTORS void multiply_panel(const double* a, std::size_t n, const double* x, std::size_t k,
                                   double* y) noexcept {
  Eight sum0{}, sum1{}, sum2{}, sum3{}, row;
  for (std::size_t c = 0; c < n; ++c) {
    load(row, x + c * k);
    sum0 += a[c] * row;
    sum1 += a[n + c] * row;
    sum2 += a[2 * n + c] * row;
    sum3 += a[3 * n + c] * row;
  }
  for (const Eight* sum : {&sum0, &sum1, &sum2, &sum3}) {
    std::memcpy(y, sum, sizeof *sum);
    y += kFewColumns;
  }
}

DAPPLE_VECTORS void multiply_panel_transposed(const double* a, std::size_t n, const double* x,
                                              double* y, std::size_t k) noexcept {
  Eight x0, x1, x2, x3, sum;
  load(x0, x);
  load(x1, x + kFewColumns);
  load(x2, x + 2 * kFewColumns);
  load(x3, x + 3 * kFewColumns);
  for (std::size_t c = 0; c < n; ++c) {
    double* const to = y + c * k;
    load(sum, to);
    sum += a[c] * x0 + a[n + c] * x1 + (a[2 * n + c] * x2 + a[3 * n + c] * x3);
    std::memcpy(to, &sum, sizeof sum);
  }
}

#define DAPPLE_INSTANTIATE(T)                                                           \
  template double dot<T>(const std::byte*, const double*, std::size_t) noexcept;        \
  template void add_scaled<T>(const std::byte*, double, double*, std::size_t) noexcept; \
  template void to_doubles<T>(const std::byte*, double*, std::size_t) noexcept;
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple::detail
