// Dictionaries: words and their codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/array.h"
#include "dapple/column.h"
#include "dapple/error.h"

namespace dapple::detail {

/// A place in the hash table of a dictionary, which probes linearly from the lowest bits of the
/// tag.
struct WordSlot {
  std::uint32_t code;  // 0: free
  std::uint32_t tag;
};

/// The lowest 32 bits of the word's XXH3-64.
std::uint32_t word_tag(std::string_view word) noexcept;

/// A growing dictionary in memory: each new word gets the next code, from 1, because 0 is a missing
/// word. One thread adds; afterwards any number of threads may call const functions.
class WordTable final : public Dictionary {
 public:
  /// The code of `word`, which is added if it is new. Throws invalid_argument beyond 2^32 - 2
  /// words.
  std::uint32_t add(std::string_view word) { return add(word, word_tag(word)); }
  std::uint32_t add(std::string_view word, std::uint32_t tag);
  /// All words of another dictionary, and their codes after those in `codes`, if it is given. Large
  /// tables wait for their memory once for many words.
  void add(const Dictionary& words, std::vector<std::uint32_t>* codes = nullptr);
  /// Loads the place of a word that is soon added: a large table is in no cache.
  void prefetch(std::uint32_t tag) const noexcept {
    if (!slots_.empty()) __builtin_prefetch(&slots_[tag & (slots_.size() - 1)]);
  }

  std::uint64_t size() const noexcept override { return size_; }
  std::string_view operator[](std::uint64_t i) const override;

  /// All words, one after the other.
  std::string_view bytes() const noexcept {
    return {bytes_.data(), size_ == 0 ? 0 : ends_[size_ - 1]};
  }

 private:
  std::string_view word(std::uint32_t code) const noexcept;
  std::size_t slot_of(std::string_view word, std::uint32_t tag) const noexcept;
  void grow(std::size_t slots);

  // Arrays, for their huge pages: a table of many words spends its time on fresh memory.
  Array<char> bytes_;
  Array<std::uint64_t> ends_;
  std::uint64_t size_ = 0;  // words; what the arrays have after them is free
  Array<WordSlot> slots_;
};

/// A dictionary of words stored elsewhere: `size + 1` u64 offsets into `bytes`, and the hash of
/// both, which is checked when the first word is read. `owner` keeps them alive; `at` is the byte
/// of `file` to blame.
std::shared_ptr<const Dictionary> stored_dictionary(std::shared_ptr<const void> owner,
                                                    std::span<const std::byte> offsets,
                                                    std::span<const std::byte> bytes,
                                                    std::uint64_t hash, std::string file,
                                                    std::uint64_t at);

/// A dictionary of `size` words of `file`, made when the first one is read: they are packed or far
/// away. What `make` throws is thrown to whoever reads one, and tried again by the next.
using MakeDictionary = std::function<std::shared_ptr<const Dictionary>()>;
std::shared_ptr<const Dictionary> late_dictionary(std::uint64_t size, std::string file,
                                                  MakeDictionary make);

/// A dictionary of these words, the same one any number of times.
std::shared_ptr<const Dictionary> listed_dictionary(std::vector<std::string> words);

/// The hash that `stored_dictionary` compares with.
std::uint64_t dictionary_hash(std::span<const std::byte> offsets,
                              std::span<const std::byte> bytes) noexcept;

/// The number of the first word that is not UTF-8, or nothing. Throws corrupt. O(bytes).
std::optional<std::uint64_t> find_not_utf8(const Dictionary& words);

/// The error for a word of `file` that is not UTF-8. `holder` is who has it, as in "column 'x'
/// holds the word ".
Error not_utf8(const std::string& file, const std::string& holder, std::string_view word);

/// The mark of a missing cell in a column of this kind that has no other yet.
std::uint64_t missing_mark(MeaningKind kind) noexcept;

/// The smallest unsigned type that holds codes 0 to `words`.
ValueType code_type(std::uint64_t words) noexcept;

}  // namespace dapple::detail
