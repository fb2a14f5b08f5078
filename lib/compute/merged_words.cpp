#include "lib/compute/merged_words.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace dapple::detail {

std::uint32_t MergedWords::next_code() const {
  if (word_of_.size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
    throw Error(Errc::invalid_argument, "more than 2^32 - 2 words in all");
  }
  return static_cast<std::uint32_t>(word_of_.size() + 1);
}

std::vector<std::uint32_t> MergedWords::add(const Dictionary& words) {
  std::vector<std::uint32_t> codes{static_cast<std::uint32_t>(kMissingCode)};
  codes.reserve(words.size() + 1);
  std::vector<std::uint32_t> distinct;
  distinct_->add(words, &distinct);
  for (const std::uint32_t code : distinct) {
    const std::uint32_t word = code - 1;
    if (word == first_.size()) {
      first_.push_back(next_code());
      word_of_.push_back(word);
      seen_.push_back(0);
    }
    const std::uint64_t before = seen_[word]++;
    if (before == 0) {
      codes.push_back(first_[word]);
      continue;
    }
    const auto [place, fresh] = again_.try_emplace(before << 32 | word, 0);
    if (fresh) {
      place->second = next_code();
      word_of_.push_back(word);
    }
    codes.push_back(place->second);
  }
  for (const std::uint32_t code : distinct) seen_[code - 1] = 0;
  return codes;
}

void MergedWords::reorder(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> word_of;
  for (const std::uint32_t old : order) word_of.push_back(word_of_[old]);
  word_of_ = std::move(word_of);
  reordered_ = true;
}

std::shared_ptr<const Dictionary> MergedWords::words() const {
  if (again_.empty() && !reordered_) return distinct_;
  if (again_.empty()) {
    auto words = std::make_shared<WordTable>();
    for (const std::uint32_t word : word_of_) words->add((*distinct_)[word]);
    return words;
  }
  std::vector<std::string> words;
  for (const std::uint32_t word : word_of_) words.emplace_back((*distinct_)[word]);
  return listed_dictionary(std::move(words));
}

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

namespace {

/// Brings joined words into their one order, if they have one.
void put_in_order(std::span<const WordJoins::Part> parts, MergedWords& words,
                  std::vector<std::vector<std::uint32_t>>& codes, JoinedWords& joined) {
  std::vector<PartWords> orders;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    orders.push_back({{}, parts[i].second});
    for (std::size_t k = 1; k < codes[i].size(); ++k) orders[i].words.push_back(codes[i][k] - 1);
  }
  const auto order = merged_order(orders, words.size());
  joined.ordered = order.has_value();
  joined.disagrees = !order;
  if (!order) return;
  std::vector<std::uint32_t> places(order->size() + 1);
  for (std::uint32_t i = 0; i < order->size(); ++i) places[(*order)[i] + 1] = i + 1;
  for (auto& own : codes) {
    for (std::uint32_t& code : own) code = places[code];
  }
  words.reorder(*order);
}

}  // namespace

const JoinedWords& WordJoins::of(const std::vector<Part>& parts) {
  if (const auto known = known_.find(parts); known != known_.end()) return known->second;
  MergedWords words;
  std::vector<std::vector<std::uint32_t>> codes;
  for (const Part& part : parts) codes.push_back(words.add(*part.first));
  JoinedWords joined;
  const bool ordered =
      std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.second; });
  if (ordered) put_in_order(parts, words, codes, joined);
  joined.words = words.words();
  for (auto& own : codes) {
    joined.codes.push_back(std::make_shared<const std::vector<std::uint32_t>>(std::move(own)));
  }
  return known_.emplace(parts, std::move(joined)).first->second;
}

}  // namespace dapple::detail
