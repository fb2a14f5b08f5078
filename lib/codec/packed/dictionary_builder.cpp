#include "lib/codec/packed/dictionary_builder.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "lib/base/vectors.h"

namespace dapple::detail::packed {

namespace {

/// Distinct words and how often they occurred, in order of their first occurrence.
template <Word W>
class Counts {
 public:
  const std::vector<W>& words() const noexcept { return words_; }
  const std::vector<std::uint32_t>& counts() const noexcept { return counts_; }

 protected:
  /// The number of the word; in `slot` it is one more, or 0 for a new word.
  std::uint32_t count(std::uint32_t& slot, W word) {
    if (slot == 0) {
      words_.push_back(word);
      counts_.push_back(0);
      slot = static_cast<std::uint32_t>(words_.size());
    }
    ++counts_[slot - 1];
    return slot - 1;
  }

  std::vector<W> words_;
  std::vector<std::uint32_t> counts_;
};

/// Of any words, by a hash table with open addressing, at most half full.
template <Word W>
class Counted : public Counts<W> {
 public:
  Counted() : slots_(64) {}
  std::uint32_t add(W word) {
    if (this->words_.size() * 2 >= slots_.size()) grow();
    return this->count(find(word), word);
  }

 private:
  std::uint32_t& find(W word) noexcept {
    const std::uint64_t hash = std::uint64_t{word} * 0x9E3779B97F4A7C15U;
    for (std::size_t i = (hash >> 32) & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i] == 0 || this->words_[slots_[i] - 1] == word) return slots_[i];
    }
  }
  void grow() {
    slots_.assign(slots_.size() * 4, 0);
    for (std::uint32_t i = 0; i < this->words_.size(); ++i) find(this->words_[i]) = i + 1;
  }

  std::vector<std::uint32_t> slots_;
};

/// Of small words, each of which has a place of its own: four times as fast.
template <Word W>
class CountedSmall : public Counts<W> {
 public:
  explicit CountedSmall(W most) : slots_(static_cast<std::size_t>(most) + 1) {}
  std::uint32_t add(W word) { return this->count(slots_[static_cast<std::size_t>(word)], word); }

 private:
  std::vector<std::uint32_t> slots_;
};

template <Word W>
DAPPLE_VECTORS W bits_of_all(const W* words, std::size_t n) noexcept {
  W all = 0;
  for (std::size_t i = 0; i < n; ++i) all |= words[i];
  return all;
}

template <Word W, class Counter>
std::optional<std::vector<W>> dictionary_of(Counter counted, std::span<const W> words,
                                            std::size_t most, W* codes) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t number = counted.add(words[i]);
    if (counted.words().size() > most) return std::nullopt;
    if (codes != nullptr) codes[i] = number;
  }
  const std::vector<std::uint32_t>& counts = counted.counts();
  std::vector<std::uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  std::vector<W> table(order.size());
  std::vector<std::uint32_t> rank(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    table[i] = counted.words()[order[i]];
    rank[order[i]] = i;
  }
  for (std::size_t i = 0; codes != nullptr && i < words.size(); ++i) {
    codes[i] = rank[static_cast<std::size_t>(codes[i])];
  }
  return table;
}

}  // namespace

template <Word W>
std::optional<std::vector<W>> make_dictionary(std::span<const W> words, std::size_t most,
                                              W* codes) {
  // A table that is cleared for few words costs more than it saves.
  const W all = bits_of_all(words.data(), words.size());
  if (all < 65536 && all / 4 <= words.size()) {
    return dictionary_of(CountedSmall<W>(all), words, most, codes);
  }
  return dictionary_of(Counted<W>(), words, most, codes);
}

template std::optional<std::vector<std::uint32_t>> make_dictionary(std::span<const std::uint32_t>,
                                                                   std::size_t, std::uint32_t*);
template std::optional<std::vector<std::uint64_t>> make_dictionary(std::span<const std::uint64_t>,
                                                                   std::size_t, std::uint64_t*);

}  // namespace dapple::detail::packed
