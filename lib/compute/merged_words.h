// The words of several dictionaries as one, in an order that agrees with all of theirs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/object/dictionary.h"

namespace dapple::detail {

/// Each word is there as often as in the dictionary that has it most often: keys of a file may have
/// equal values, as buckets of a hash have, and stay apart. Of equal dictionaries the result is one
/// of them, and whatever is added later, codes stay until `reorder`. One thread.
class MergedWords {
 public:
  /// What the codes of a dictionary become; its word i has code i + 1, and 0 stays 0.
  std::vector<std::uint32_t> add(const Dictionary& words);

  std::uint64_t size() const noexcept { return word_of_.size(); }

  /// Word order[i] comes to place i. REQUIRES a permutation.
  void reorder(const std::vector<std::uint32_t>& order);

  /// All of them. Those that are added later may join it.
  std::shared_ptr<const Dictionary> words() const;

 private:
  std::uint32_t next_code() const;

  std::shared_ptr<WordTable> distinct_ = std::make_shared<WordTable>();
  std::vector<std::uint32_t> first_;    // code of each distinct word
  std::vector<std::uint32_t> seen_;     // how often, in the dictionary that is added
  std::vector<std::uint32_t> word_of_;  // number of the distinct word of each code
  std::unordered_map<std::uint64_t, std::uint32_t> again_;  // codes by word and how often before
  bool reordered_ = false;
};

/// The words of one part, as numbers in all of them together.
struct PartWords {
  std::vector<std::uint32_t> words{};
  bool ordered = false;  // they are in a meaningful order
};

/// All words, in the only order that agrees with that of every ordered part. Nothing when two parts
/// contradict each other, or when two words may come in either order. O(words).
std::optional<std::vector<std::uint32_t>> merged_order(std::span<const PartWords> parts,
                                                       std::size_t words);

/// What the codes of a dictionary become. Columns that share the dictionary share it, too.
using NewCodes = std::shared_ptr<const std::vector<std::uint32_t>>;

/// What dictionaries become that are put together.
struct JoinedWords {
  std::shared_ptr<const Dictionary> words{};
  std::vector<NewCodes> codes{};  // of each dictionary
  bool ordered = false;           // in the one order that they tell together
  bool disagrees = false;         // some have an order, but there is none of all
};

/// Puts the dictionaries of columns together. Columns that have the same ones in each part, as a
/// file shares them, get the same words: a copy for each column could be far more than all files.
class WordJoins {
 public:
  /// A dictionary, which has to live on, and whether it is in a meaningful order.
  using Part = std::pair<const Dictionary*, bool>;

  const JoinedWords& of(const std::vector<Part>& parts);

 private:
  std::map<std::vector<Part>, JoinedWords> known_;
};

}  // namespace dapple::detail
