// Short words that a column had before, and what was made of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/csv/csv_text.h"

namespace dapple::detail::csv {

/// Remembers the last fields that fell to each of its places: most columns of words repeat a few,
/// and comparing two integers takes a fraction of hashing a word and comparing its bytes. It stops
/// looking where fields hardly repeat. One thread.
class RecentWords {
 public:
  /// Reads nothing at or after `end`, which is behind all fields.
  explicit RecentWords(const char* end) noexcept : end_(end) {}

  /// What was made of an equal field, or null.
  const std::uint64_t* find(const Field& field) noexcept {
    if (off_ || field.doubled || field.text.size() > kLongest) return nullptr;
    if (!slots_.empty()) {
      const Key key = key_of(field);
      const Slot& slot = slots_[place_of(key)];
      if (slot.key == key) {
        ++hits_;
        return &slot.value;
      }
    }
    off_ = ++misses_ > hits_ + kPatience;
    return nullptr;
  }

  /// REQUIRES that the field was just looked for in vain.
  void put(const Field& field, std::uint64_t value) {
    if (off_ || field.doubled || field.text.size() > kLongest || misses_ < kFew) return;
    if (slots_.empty()) slots_.resize(kSlots);
    const Key key = key_of(field);
    slots_[place_of(key)] = {key, value};
  }

 private:
  static constexpr std::size_t kLongest = 16, kSlots = 256;
  static constexpr std::uint64_t kFew = 16;         // misses, before memory is taken
  static constexpr std::uint64_t kPatience = 1024;  // more misses than hits

  struct Key {
    std::uint64_t head = 0, tail = 0;        // 16 characters, zeros behind the field
    std::uint64_t form = ~std::uint64_t{0};  // size and quotes
    bool operator==(const Key& other) const noexcept {
      return ((head ^ other.head) | (tail ^ other.tail) | (form ^ other.form)) == 0;
    }
  };
  struct Slot {
    Key key;
    std::uint64_t value = 0;
  };

  static std::uint64_t load(const char* p) noexcept {
    return load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(p));
  }
  /// Without a branch on the field's size, which no processor could foresee.
  Key key_of(const Field& field) const noexcept {
    static constexpr char kMasks[2 * kLongest + 1] =
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    const char* text = field.text.data();
    const std::size_t n = field.text.size();
    char copy[kLongest];
    if (static_cast<std::size_t>(end_ - text) < kLongest) {
      std::memset(copy, 0, kLongest);
      std::memcpy(copy, text, n);
      text = copy;
    }
    const char* const mask = kMasks + kLongest - n;
    return {load(text) & load(mask), load(text + 8) & load(mask + 8), n << 1 | field.quoted};
  }
  /// The highest bits of a product depend on all bits of its factors.
  static std::size_t place_of(const Key& key) noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U, kOther = 0xc2b2ae3d27d4eb4fU;
    return ((key.head * kOdd) ^ (key.tail * kOther)) >> 56;
  }

  const char* end_;
  std::vector<Slot> slots_;
  std::uint64_t hits_ = 0, misses_ = 0;
  bool off_ = false;
};

}  // namespace dapple::detail::csv
