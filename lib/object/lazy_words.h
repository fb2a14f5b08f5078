// A column of texts in a file that has no dictionary: its words and codes are made when they are
// first asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "lib/object/dictionary.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Any thread. What reading throws is thrown to whoever asks: damage to all of them, while after
/// other errors the next one reads again.
class LazyWords : public Dictionary {
 public:
  std::uint64_t size() const final;
  std::string_view operator[](std::uint64_t i) const final;
  /// One for each row; 0 where the text is missing.
  std::span<const std::uint32_t> codes() const;

 protected:
  /// Adds the code of every row, and all words. Throws corrupt, io.
  virtual void read_all(WordTable& words, std::vector<std::uint32_t>& codes) const = 0;

 private:
  struct Loaded {
    WordTable words;
    std::vector<std::uint32_t> codes;
  };
  const Loaded& loaded() const;

  mutable std::mutex mutex_;
  mutable std::exception_ptr damage_;
  mutable std::unique_ptr<const Loaded> kept_;
  mutable std::atomic<const Loaded*> loaded_{nullptr};
};

/// Decodes a part of a block of that column.
void read_codes(const Store& store, const Entry& entry, const LazyWords& words, const Part& part,
                const Target& out);

/// The meaning of a column of such texts, of value type u32.
Meaning meaning_of_text(std::shared_ptr<const LazyWords> words);

}  // namespace dapple::detail
