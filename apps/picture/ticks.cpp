#include "ticks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
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

constexpr int kFewDigits = 4;

std::string number_text(double value, int digits) {
  char text[32];
  const double number = value == 0 ? 0.0 : value;  // no minus zero
  // As printf's %g, which has the decimal mark of the locale.
  const auto end =
      std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits);
  return {text, end.ptr};
}

/// Digits that tell numbers of a scale apart that differ by `step`.
int digits_for(const Scale& scale, double step) {
  constexpr int kAllDigits = 17;
  const double largest = std::max(std::abs(scale.low), std::abs(scale.high));
  const double digits = std::floor(std::log10(largest)) - std::floor(std::log10(step) + 1e-9) + 1;
  return digits > kFewDigits ? static_cast<int>(std::min<double>(digits, kAllDigits)) : kFewDigits;
}

std::vector<Tick<double>> log_ticks(const Scale& scale, std::size_t most) {
  std::vector<Tick<double>> ticks;
  const auto add = [&](double value) { ticks.push_back({value, number_text(value, kFewDigits)}); };
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
  if (ticks.size() >= 2) return ticks;
  const auto [low, high] = end_texts(scale);
  return {{scale.low, low}, {scale.high, high}};
}

/// Multiples of `step`, at most `most`.
std::vector<double> multiples(const Scale& scale, double step, std::size_t most) {
  std::vector<double> values;
  // A step may be too small to get from one of these numbers to the next.
  const double first = std::ceil(scale.low / step - 1e-9);
  while (values.size() < most) {
    const double value = (first + static_cast<double>(values.size())) * step;
    if (value > scale.high + step * 1e-9) break;
    if (!values.empty() && value <= values.back()) break;
    values.push_back(value);
  }
  return values;
}

ValueTicks linear_ticks(const Scale& scale, std::size_t most) {
  const double span = scale.high - scale.low;
  if (!std::isfinite(span)) {
    return {{{scale.low, number_text(scale.low, kFewDigits)},
             {scale.high, number_text(scale.high, kFewDigits)}},
            {}};
  }
  const double rough = span / static_cast<double>(most);
  const double exponent = std::floor(std::log10(rough));
  double step = std::pow(10, exponent + 1);
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * std::pow(10, exponent) >= rough) step = factor * std::pow(10, exponent);
  }
  std::vector<double> values = multiples(scale, step, most + 2);
  for (double finer = exponent; values.size() < 2 && finer > exponent - 3; --finer) {
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (values.size() >= 2 || factor * std::pow(10, finer) >= step) continue;
      step = factor * std::pow(10, finer);
      values = multiples(scale, step, most + 2);
    }
  }
  if (values.size() < 2) values = {scale.low, scale.high};
  const int digits = digits_for(scale, step);
  constexpr std::size_t kLongest = 9;
  ValueTicks found;
  for (const double value : values) {
    found.ticks.push_back({value, number_text(value, digits)});
    if (found.ticks.back().text.size() > kLongest) found.offset = found.ticks.front().text;
  }
  if (!found.offset.empty()) {
    for (auto& [at, text] : found.ticks) {
      text = '+' + number_text(at - values.front(), kFewDigits);
    }
  }
  return found;
}

}  // namespace

std::vector<Tick<std::uint64_t>> cell_ticks(Range cells, std::size_t most) {
  if (cells.empty()) return {};
  std::vector<std::uint64_t> at{cells.begin};
  const std::uint64_t gaps = std::max<std::size_t>(most, 2) - 1;
  const std::uint64_t step = round_step(cells.size() / gaps + (cells.size() % gaps != 0 ? 1 : 0));
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

std::pair<std::string, std::string> end_texts(const Scale& scale) {
  const int digits = scale.log ? kFewDigits : digits_for(scale, (scale.high - scale.low) / 100);
  return {number_text(scale.low, digits), number_text(scale.high, digits)};
}

ValueTicks value_ticks(const Scale& scale, std::size_t most) {
  most = std::max<std::size_t>(most, 2);
  return scale.log ? ValueTicks{log_ticks(scale, most), {}} : linear_ticks(scale, most);
}

}  // namespace dapple::picture
