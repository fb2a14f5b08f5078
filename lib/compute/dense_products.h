// Products of dense rows of any stored type with columns of f64, added to what is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dapple/value_type.h"

namespace dapple::detail {

/// Columns that kernels for several of them take at once.
inline constexpr std::size_t kFewColumns = 8, kManyColumns = 32;

/// Eight columns as one value, which compilers keep in registers; arrays of them they do not.
using Eight [[gnu::vector_size(kFewColumns * sizeof(double))]] = double;

[[gnu::always_inline]] inline void load(Eight& to, const double* p) noexcept {
  std::memcpy(&to, p, sizeof to);
}

/// The sum of values[i] * x[i], in an order that depends on `n` alone.
template <Value T>
double dot(const std::byte* values, const double* x, std::size_t n) noexcept;

/// y[i] += factor * values[i].
template <Value T>
void add_scaled(const std::byte* values, double factor, double* y, std::size_t n) noexcept;

/// Values as f64, the nearest where there are several.
template <Value T>
void to_doubles(const std::byte* values, double* out, std::size_t n) noexcept;

/// y[r * 8 + j] = sum over c < n of a[r * n + c] * x[c * k + j] for r < 4, j < 8.
void multiply_panel(const double* a, std::size_t n, const double* x, std::size_t k,
                    double* y) noexcept;
/// y[c * k + j] += sum over r < 4 of a[r * n + c] * x[r * 8 + j] for c < n, j < 8.
void multiply_panel_transposed(const double* a, std::size_t n, const double* x, double* y,
                               std::size_t k) noexcept;

}  // namespace dapple::detail
