#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "dapple/array.h"
#include "lib/codec/packed/dictionary_builder.h"
#include "lib/codec/packed/stream.h"

namespace dapple::detail::packed {

namespace {

/// One way to encode a stream.
struct Recipe {
  Kind kind = Kind::integers;
  IntegerPlan plan;  // of the integers, codes or the high part
  int exponent = 0;  // of decimal
  unsigned low = 0;  // of split
};

/// A sample of this number of runs, up to this long, shows which recipe is best.
constexpr std::size_t kSampleRun = 512, kSampleRuns = 4;

template <Word W>
std::vector<W> sample_of(std::span<const W> words) {
  // Whole groups, which begin anew: where runs meet, nothing is added up.
  const std::size_t groups = words.size() / (4 * kSampleRuns) / kGroup;
  const std::size_t length = std::clamp(groups * kGroup, kGroup, kSampleRun);
  if (words.size() <= length * kSampleRuns) return {words.begin(), words.end()};
  std::vector<W> sample;
  sample.reserve(length * kSampleRuns);
  for (std::size_t k = 0; k < kSampleRuns; ++k) {
    const auto run = words.subspan((words.size() - length) / (kSampleRuns - 1) * k, length);
    sample.insert(sample.end(), run.begin(), run.end());
  }
  return sample;
}

/// How far back the integer is that the next one differs from least: 3 in pixels of three colours.
template <Word W>
std::uint8_t find_lag(std::span<const W> sample, unsigned size) {
  const unsigned unused = static_cast<unsigned>(sizeof(W) - size) * 8;
  std::uint8_t best = 1;
  std::uint64_t best_cost = ~std::uint64_t{0};
  for (std::uint8_t lag = 1; lag <= kMostLag; ++lag) {
    std::uint64_t cost = 0;
    for (std::size_t i = kMostLag; i < sample.size(); ++i) {
      const W difference = (sample[i] - sample[i - lag]) << unused;
      const W top = W{0} - (difference >> (sizeof(W) * 8 - 1));
      cost += static_cast<std::uint64_t>(std::bit_width((difference ^ top) >> unused));
    }
    // A longer one must be worth it.
    if (lag == 1 || cost < best_cost - best_cost / 32) {
      best_cost = cost;
      best = lag;
    }
  }
  return best;
}

template <Word W>
double float_of(W word) noexcept {
  if constexpr (sizeof(W) == 4) {
    return static_cast<double>(std::bit_cast<float>(word));
  } else {
    return std::bit_cast<double>(word);
  }
}

/// The integer that `decimals_to_floats` turns into the value, or something else if there is none.
template <Word W>
W integer_of(W word, double scale, bool divide) noexcept {
  constexpr auto bias = static_cast<double>(sizeof(W) == 4 ? kBias32 : kBias64);
  const double value = float_of(word);
  const double scaled = divide ? value / scale : value * scale;
  // Adding and subtracting rounds to an integer. A NaN fails the comparison.
  const double magic = 0x1.8p52, integer = (scaled + magic) - magic;
  return integer > -bias && integer < bias
             ? static_cast<W>(static_cast<std::int64_t>(integer) + static_cast<std::int64_t>(bias))
             : W{0};
}

template <Word W>
void integers_of(std::span<const W> words, int exponent, W* out) noexcept {
  const double scale = std::pow(10.0, std::abs(exponent));  // exact up to 10^22
  for (std::size_t i = 0; i < words.size(); ++i) out[i] = integer_of(words[i], scale, exponent > 0);
}

/// The power of ten that makes most values small integers, if it makes half of them integers.
template <Word W>
std::optional<int> find_exponent(std::span<const W> sample) {
  std::array<W, 64> some, back;
  const std::size_t n = std::min(sample.size(), some.size());
  for (std::size_t i = 0; i < n; ++i) some[i] = sample[i * sample.size() / n];
  constexpr int lowest = sizeof(W) == 4 ? -10 : -16, highest = 6;
  std::size_t best_cost = n * sizeof(W) * 8 * 3 / 4;
  std::optional<int> best;
  for (int exponent = highest; exponent >= lowest; --exponent) {
    integers_of<W>({some.data(), n}, exponent, back.data());
    W most = 0, least = static_cast<W>(-1);
    for (std::size_t i = 0; i < n; ++i) {
      if (back[i] == 0) continue;
      most = std::max(most, back[i]);
      least = std::min(least, back[i]);
    }
    decimals_to_floats<W>(exponent, std::nullopt, n, back.data());
    std::size_t misses = 0;
    // The same NaN again and again costs as little as an integer.
    for (std::size_t i = 0; i < n; ++i) {
      misses += back[i] != some[i] && !std::isnan(float_of(some[i])) ? 1U : 0U;
    }
    if (misses > n / 2) continue;
    const std::size_t cost =
        n * static_cast<std::size_t>(std::bit_width(most - least)) + misses * (sizeof(W) * 8 + 32);
    if (cost < best_cost) {
      best_cost = cost;
      best = exponent;
    }
  }
  return best;
}

/// The bit to split floats at, so that the high parts are few; nothing if that makes them no
/// smaller than `most` of what they are.
template <Word W>
std::optional<unsigned> find_split(std::span<const W> sample, unsigned size, double most) {
  std::vector<W> some(std::min<std::size_t>(sample.size(), 512));
  for (std::size_t i = 0; i < some.size(); ++i) some[i] = sample[i * sample.size() / some.size()];
  std::sort(some.begin(), some.end());
  std::optional<unsigned> best;
  auto best_cost = static_cast<std::size_t>(static_cast<double>(some.size() * size * 8) * most);
  for (unsigned low = size * 8 - 1; low >= size * 8 - 16; --low) {
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (i == 0 || some[i] >> low != some[i - 1] >> low) counts.push_back(0);
      ++counts.back();
    }
    std::sort(counts.begin(), counts.end(), std::greater<>());
    std::array<std::uint16_t, 65> lengths{};
    for (std::size_t code = 0; code < counts.size(); ++code) {
      lengths[static_cast<std::size_t>(std::bit_width(code))] +=
          static_cast<std::uint16_t>(counts[code]);
    }
    const std::size_t cost =
        some.size() * low + counts.size() * 16 + best_width(lengths, some.size(), 1).bytes * 8;
    if (cost < best_cost) {
      best_cost = cost;
      best = low;
    }
  }
  return best;
}

template <Word W>
bool write_dictionary(std::span<const W> words, std::size_t size, IntegerPlan plan, Bytes& out) {
  Array<W> codes(words.size());
  const auto table = make_dictionary<W>(words, kMostWords, codes.data());
  if (!table) return false;
  append_le(out, static_cast<std::uint32_t>(table->size()));
  for (const W value : *table) append_word(out, value, size);
  return write_integers<W>({{codes.begin(), codes.end()}, 4}, plan, out);
}

/// The value that more exceptions have than have any other (a majority vote), if that is one value
/// in 64, and an integer that no other value has.
template <Word W>
std::optional<Mark<W>> find_mark(std::span<const W> words, std::span<const W> integers,
                                 std::span<const W> back) {
  constexpr std::size_t rare = 64;
  W value = 0, most = 0;
  std::size_t votes = 0, count = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (back[i] == words[i]) {
      most = std::max(most, integers[i]);
    } else if (votes == 0 || words[i] == value) {
      value = words[i];
      ++votes;
    } else {
      --votes;
    }
  }
  for (std::size_t i = 0; votes > 0 && i < words.size(); ++i) count += words[i] == value ? 1U : 0U;
  const bool fits = most < 2 * static_cast<W>(sizeof(W) == 4 ? kBias32 : kBias64) - 1;
  if (count < words.size() / rare + 1 || !fits) return std::nullopt;
  return Mark<W>{most + 1, value};
}

template <Word W>
bool write_decimals(std::span<const W> words, IntegerPlan plan, int exponent, Bytes& out) {
  Array<W> integers(words.size()), back(words.size());
  integers_of(words, exponent, integers.data());
  std::copy(integers.begin(), integers.end(), back.begin());
  decimals_to_floats<W>(exponent, std::nullopt, back.size(), back.data());
  const auto mark =
      find_mark<W>(words, {integers.begin(), integers.end()}, {back.begin(), back.end()});
  if (mark) out.back() = static_cast<std::byte>(Kind::marked);
  out.push_back(static_cast<std::byte>(exponent));
  if (mark) {
    append_word(out, mark->integer, sizeof(W));
    append_word(out, mark->value, sizeof(W));
  }
  Bytes exceptions;
  std::uint32_t count = 0;
  const std::size_t count_at = out.size();
  out.resize(count_at + 4);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (back[i] == words[i]) continue;
    if (mark && words[i] == mark->value) {
      integers[i] = mark->integer;
      continue;
    }
    // What precedes costs the fewest bits in its place.
    integers[i] = i > 0 ? integers[i - 1] : W{sizeof(W) == 4 ? kBias32 : kBias64};
    append_le(out, static_cast<std::uint32_t>(i));
    append_word(exceptions, words[i], sizeof(W));
    ++count;
  }
  store_le(out.data() + count_at, count);
  out.insert(out.end(), exceptions.begin(), exceptions.end());
  return write_integers<W>({{integers.begin(), integers.end()}, sizeof(W)}, plan, out);
}

template <Word W>
bool write_split(std::span<const W> words, IntegerPlan plan, unsigned low, Bytes& out) {
  Array<W> parts(words.size()), codes(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) parts[i] = words[i] >> low;
  const auto table = make_dictionary<W>({parts.begin(), parts.end()}, kMostWords, codes.data());
  if (!table) return false;
  out.push_back(static_cast<std::byte>(low));
  append_le(out, static_cast<std::uint32_t>(table->size()));
  for (const W value : *table) append_word(out, value, 2);
  const std::size_t size_at = out.size();
  out.resize(size_at + 4);
  if (!write_integers<W>({{codes.begin(), codes.end()}, 4}, plan, out)) return false;
  store_le(out.data() + size_at, static_cast<std::uint32_t>(out.size() - size_at - 4));
  const W mask = static_cast<W>(low_bits(low));
  for (std::size_t i = 0; i < words.size(); ++i) parts[i] = words[i] & mask;
  return write_integers<W>({{parts.begin(), parts.end()}, sizeof(W)}, {}, out);
}

/// False, and `out` is unspecified, if the recipe does not suit the values.
template <Word W>
bool write_as(const Recipe& recipe, std::span<const W> words, const Values& values, Bytes& out) {
  out.push_back(static_cast<std::byte>(recipe.kind));
  switch (recipe.kind) {
    case Kind::dictionary:
      return write_dictionary(words, values.size, recipe.plan, out);
    case Kind::decimal:
    case Kind::marked:
      return write_decimals(words, recipe.plan, recipe.exponent, out);
    case Kind::split:
      return write_split(words, recipe.plan, recipe.low, out);
    default:
      return write_integers<W>({words, values.size, values.is_signed}, recipe.plan, out);
  }
}

/// Floats whose high part takes little less are as well left alone: that costs no reader anything.
constexpr double kMostOfSplit = 0.8;

template <Word W>
std::vector<Recipe> recipes_for(std::span<const W> sample, const Values& values, Effort effort) {
  std::vector<Recipe> recipes;
  const auto add = [&](Recipe recipe) {
    recipes.push_back(recipe);
    if (effort == Effort::fast) return;
    recipe.plan.zstd = true;
    recipes.push_back(recipe);
  };
  if (make_dictionary<W>(sample, sample.size() / 2, nullptr)) add({Kind::dictionary, {}, 0, 0});
  const auto add_modes = [&](Kind kind, int exponent) {
    add({kind, {Mode::offsets}, exponent, 0});
    add({kind, {Mode::deltas}, exponent, 0});
    add({kind, {Mode::zigzag, find_lag(sample, values.size)}, exponent, 0});
  };
  if (!values.is_float) {
    add_modes(Kind::integers, 0);
    return recipes;
  }
  if (const auto exponent = find_exponent(sample)) add_modes(Kind::decimal, *exponent);
  const bool small = effort == Effort::small;
  if (const auto low = find_split(sample, values.size, small ? 1 : kMostOfSplit)) {
    add({Kind::split, {}, 0, *low});
  }
  if (small) recipes.push_back({Kind::integers, {.zstd = true}, 0, 0});
  return recipes;
}

/// The recipes that make the sample smaller, the one that makes it smallest first.
template <Word W>
std::vector<Recipe> ranked_recipes(std::span<const W> words, const Values& values, Effort effort) {
  if (words.empty()) return {};
  const std::vector<W> sample = sample_of(words);
  std::vector<std::pair<std::size_t, Recipe>> ranked;
  const auto add = [&](const Recipe& recipe, std::size_t most) {
    Bytes bytes;
    if (write_as<W>(recipe, sample, values, bytes) && bytes.size() <= most) {
      ranked.emplace_back(bytes.size(), recipe);
    }
  };
  // What saves little is not worth its decoding.
  const std::size_t most = sample.size() * values.size / 20 * 19;
  for (const Recipe& recipe : recipes_for<W>(sample, values, effort)) add(recipe, most);
  const auto sort = [&] {
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  };
  sort();
  Recipe recipe = ranked.empty() ? Recipe{} : ranked[0].second;
  const bool unordered = !values.is_float && recipe.plan.mode == Mode::offsets;
  if (effort == Effort::fast && values.is_column && unordered) {
    // Codes of words have no other way to take fewer bits.
    recipe.plan.zstd = true;
    recipe.plan.level = 1;
    add(recipe, (ranked.empty() ? most : ranked[0].first) / 5 * 4);
    sort();
  }
  std::vector<Recipe> recipes;
  for (const auto& [size, one] : ranked) recipes.push_back(one);
  return recipes;
}

}  // namespace

template <Word W>
void write_stream(std::span<const W> words, const Values& values, Effort effort, Bytes& out) {
  const std::size_t start = out.size();
  if (!words.empty() &&
      std::all_of(words.begin(), words.end(), [&](W word) { return word == words[0]; })) {
    out.push_back(static_cast<std::byte>(Kind::constant));
    append_word(out, words[0], values.size);
    return;
  }
  const std::size_t most = words.size() * values.size / 20 * 19;
  for (const Recipe& recipe : ranked_recipes(words, values, effort)) {
    if (write_as(recipe, words, values, out) && out.size() - start <= most) return;
    out.resize(start);
    // The sample has fewer distinct values than the whole: then the next recipe is better.
    if (recipe.kind != Kind::dictionary) break;
  }
  out.push_back(static_cast<std::byte>(Kind::raw));
  if (values.size == sizeof(W)) {
    const auto bytes = std::as_bytes(words);
    out.insert(out.end(), bytes.begin(), bytes.end());
  } else {
    for (const W word : words) append_word(out, word, values.size);
  }
}

template void write_stream(std::span<const std::uint32_t>, const Values&, Effort, Bytes&);
template void write_stream(std::span<const std::uint64_t>, const Values&, Effort, Bytes&);

}  // namespace dapple::detail::packed
