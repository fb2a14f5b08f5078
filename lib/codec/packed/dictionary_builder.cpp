#include "lib/codec/packed/dictionary_builder.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace dapple::detail::packed {

namespace {

/// Distinct words and how often they occurred, in order of their first occurrence. A hash table
/// with open addressing, at most half full.
template <Word W>
class Counted {
 public:
  Counted() : slots_(64) {}

  /// The number of the word.
  std::uint32_t add(W word) {
    if (words_.size() * 2 >= slots_.size()) grow();
    std::uint32_t& slot = find(word);
    if (slot == 0) {
      words_.push_back(word);
      counts_.push_back(0);
      slot = static_cast<std::uint32_t>(words_.size());
    }
    ++counts_[slot - 1];
    return slot - 1;
  }
  const std::vector<W>& words() const noexcept { return words_; }
  const std::vector<std::uint32_t>& counts() const noexcept { return counts_; }

 private:
  std::uint32_t& find(W word) noexcept {
    const std::uint64_t hash = std::uint64_t{word} * 0x9E3779B97F4A7C15U;
    for (std::size_t i = (hash >> 32) & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i] == 0 || words_[slots_[i] - 1] == word) return slots_[i];
    }
  }
  void grow() {
    slots_.assign(slots_.size() * 4, 0);
    for (std::uint32_t i = 0; i < words_.size(); ++i) find(words_[i]) = i + 1;
  }

  std::vector<std::uint32_t> slots_;  // a word's number plus 1; 0 where there is none
  std::vector<W> words_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

template <Word W>
std::optional<std::vector<W>> make_dictionary(std::span<const W> words, std::size_t most,
                                              W* codes) {
  Counted<W> counted;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t number = counted.add(words[i]);
    if (counted.words().size() > most) return std::nullopt;
    if (codes != nullptr) codes[i] = number;
  }
  std::vector<std::uint32_t> order(counted.words().size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return counted.counts()[a] > counted.counts()[b];
  });
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

template std::optional<std::vector<std::uint32_t>> make_dictionary(std::span<const std::uint32_t>,
                                                                   std::size_t, std::uint32_t*);
template std::optional<std::vector<std::uint64_t>> make_dictionary(std::span<const std::uint64_t>,
                                                                   std::size_t, std::uint64_t*);

}  // namespace dapple::detail::packed
