#include "ticks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace dapple::picture {

namespace {

/// The smallest of 1, 2, 5, 10, 20, ... that is not below `step`.
std::uint64_t round_step(std::uint64_t step) {
  std::uint64_t power = 1;
  while (step > power && power <= UINT64_MAX / 10) {
    for (const std::uint64_t factor : {1U, 2U, 5U}) {
      if (power * factor >= step) return power * factor;
    }
    power *= 10;
  }
  return power;
}

}  // namespace

std::vector<Tick<std::uint64_t>> cell_ticks(Range cells, std::size_t most) {
  if (cells.empty()) return {};
  std::vector<std::uint64_t> at{cells.begin};
  const std::uint64_t gaps = std::max<std::size_t>(most, 2) - 1;
  const std::uint64_t step =
      round_step(std::max<std::uint64_t>(1, (cells.size() + gaps - 1) / gaps));
  for (std::uint64_t next = cells.begin / step; next <= (cells.end - 1) / step; ++next) {
    const std::uint64_t cell = next * step;
    // Too near to the first one, which is not round, its text would not be read.
    if (cell > cells.begin && cell - cells.begin >= step / 2) at.push_back(cell);
  }
  struct Unit {
    std::uint64_t size;
    const char* name;
  };
  Unit unit{1, ""};
  for (const Unit larger : {Unit{1000, "k"}, Unit{1000000, "M"}, Unit{1000000000, "G"},
                            Unit{1000000000000, "T"}, Unit{1000000000000000, "P"}}) {
    const auto whole = [&](std::uint64_t cell) { return cell % larger.size == 0; };
    if (at.size() > 1 && std::all_of(at.begin(), at.end(), whole)) unit = larger;
  }
  std::vector<Tick<std::uint64_t>> ticks;
  for (const std::uint64_t cell : at) {
    const std::string text = std::to_string(cell / unit.size);
    ticks.push_back({cell, cell == 0 ? text : text + unit.name});
  }
  return ticks;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value == 0 ? 0.0 : value);  // no minus zero
  return text;
}

std::vector<Tick<double>> value_ticks(const Scale& scale, std::size_t most) {
  std::vector<Tick<double>> ticks;
  const auto add = [&](double value) { ticks.push_back({value, short_number(value)}); };
  most = std::max<std::size_t>(most, 2);
  if (scale.log) {
    const double first = std::ceil(std::log10(scale.low) - 1e-9);
    const double last = std::floor(std::log10(scale.high) + 1e-9);
    const double step = std::max(1.0, std::ceil((last - first + 1) / static_cast<double>(most)));
    for (double power = first; power <= last; power += step) add(std::pow(10, power));
    if (ticks.size() < 4 && last - first < 3) {  // few powers: 2 and 5 times them as well
      const auto powers = std::exchange(ticks, {});
      for (double power = first - 1; power <= last; ++power) {
        for (const double factor : {1.0, 2.0, 5.0}) {
          const double value = factor * std::pow(10, power);
          if (value >= scale.low * (1 - 1e-9) && value <= scale.high * (1 + 1e-9)) add(value);
        }
      }
      if (ticks.size() > 2 * most) ticks = powers;
    }
    if (ticks.size() < 2) {
      ticks.clear();
      add(scale.low);
      add(scale.high);
    }
    return ticks;
  }
  const double span = scale.high - scale.low;
  if (!std::isfinite(span)) {
    add(scale.low);
    add(scale.high);
    return ticks;
  }
  const double rough = span / static_cast<double>(most);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  // Counted, because a step that is too small for these numbers would never get anywhere.
  const double first = std::ceil(scale.low / step - 1e-9);
  for (std::size_t i = 0; i <= most + 1; ++i) {
    const double value = (first + static_cast<double>(i)) * step;
    if (value > scale.high + step * 1e-9) break;
    add(value);
  }
  return ticks;
}

}  // namespace dapple::picture
