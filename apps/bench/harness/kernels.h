// What contenders do with cells once they have them: the same code for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

namespace dapple::bench {

inline double load_double(const std::byte* p) noexcept {
  double value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// Sum of `n` doubles at any address. Sixteen partial sums keep the additions from waiting for each
/// other, so that memory is the limit. Never inlined, because compilers make more of it in one
/// place than in another.
[[gnu::noinline]] inline double sum_doubles(const std::byte* p, std::size_t n) noexcept {
  constexpr std::size_t kLanes = 16;
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    std::array<double, kLanes> values;
    std::memcpy(values.data(), p + i * sizeof(double), sizeof values);
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += load_double(p + i * sizeof(double));
  for (const double lane : lanes) sum += lane;
  return sum;
}

inline double sum_doubles(std::span<const double> values) noexcept {
  return sum_doubles(reinterpret_cast<const std::byte*>(values.data()), values.size());
}

/// Calls f(k) for each k < n, each in a thread of its own, and adds up what they return.
template <class F>
double sum_in_threads(unsigned n, const F& f) {
  if (n == 1) return f(0U);
  std::vector<double> sums(n);
  {
    std::vector<std::jthread> threads;
    for (unsigned k = 0; k < n; ++k) threads.emplace_back([&, k] { sums[k] = f(k); });
  }
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

/// The k-th of `n` nearly equal parts of `items`.
template <class T>
std::span<const T> part(std::span<const T> items, unsigned k, unsigned n) {
  const std::size_t begin = items.size() * k / n, end = items.size() * (k + 1) / n;
  return items.subspan(begin, end - begin);
}

}  // namespace dapple::bench
