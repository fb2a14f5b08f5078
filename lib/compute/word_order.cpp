#include "lib/compute/word_order.h"

namespace dapple::detail {

std::optional<std::vector<std::uint32_t>> merged_order(std::span<const PartWords> parts,
                                                       std::size_t words) {
  std::vector<std::vector<std::uint32_t>> after(words);  // which words follow each next
  std::vector<std::uint32_t> before(words);              // how many come right before it
  std::vector<bool> placed(words);                       // a part says where
  for (const PartWords& part : parts) {
    if (!part.ordered) continue;
    for (std::size_t i = 0; i < part.words.size(); ++i) {
      placed[part.words[i]] = true;
      if (i == 0) continue;
      after[part.words[i - 1]].push_back(part.words[i]);
      ++before[part.words[i]];
    }
  }
  std::vector<std::uint32_t> first;  // that nothing comes before
  for (std::uint32_t word = 0; word < words; ++word) {
    if (!placed[word]) return std::nullopt;
    if (before[word] == 0) first.push_back(word);
  }
  std::vector<std::uint32_t> order;
  while (first.size() == 1) {
    const std::uint32_t word = first.back();
    first.pop_back();
    order.push_back(word);
    for (const std::uint32_t next : after[word]) {
      if (--before[next] == 0) first.push_back(next);
    }
  }
  return order.size() == words ? std::optional(std::move(order)) : std::nullopt;
}

}  // namespace dapple::detail
