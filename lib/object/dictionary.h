// Dictionaries: words and their codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/column.h"

namespace dapple::detail {

/// A growing dictionary in memory: each new word gets the next code. Codes count from 1, because 0
/// is a missing word. One thread adds; afterwards any number of threads may call const functions.
class WordTable final : public Dictionary {
 public:
  /// The code of `word`, which is added if it is new. Throws invalid_argument beyond 2^32 - 2
  /// words.
  std::uint32_t add(std::string_view word);
  /// The code of a word that was added, or nothing.
  std::optional<std::uint32_t> find(std::string_view word) const noexcept;

  std::uint64_t size() const noexcept override { return ends_.size(); }
  std::string_view operator[](std::uint64_t i) const override;

 private:
  static constexpr std::uint32_t kFree = 0;
  std::string_view word(std::uint32_t code) const noexcept;
  std::size_t slot_of(std::string_view word, std::uint64_t hash) const noexcept;
  void grow();

  std::string bytes_;                 // all words, one after the other
  std::vector<std::uint64_t> ends_;   // of each word in `bytes_`
  std::vector<std::uint32_t> slots_;  // open addressing by hash: a code, or kFree
};

/// A dictionary of words stored elsewhere: `size + 1` u64 offsets into `bytes`, and the hash of
/// both, which is checked when the first word is read. `owner` keeps them alive; `at` is the byte
/// of `file` to blame.
std::shared_ptr<const Dictionary> stored_dictionary(std::shared_ptr<const void> owner,
                                                    std::span<const std::byte> offsets,
                                                    std::span<const std::byte> bytes,
                                                    std::uint64_t hash, std::string file,
                                                    std::uint64_t at);

/// The hash that `stored_dictionary` compares with.
std::uint64_t dictionary_hash(std::span<const std::byte> offsets,
                              std::span<const std::byte> bytes) noexcept;

/// The smallest unsigned type that holds codes 0 to `words`.
ValueType code_type(std::uint64_t words) noexcept;

}  // namespace dapple::detail
