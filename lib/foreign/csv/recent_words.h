// Short words that a column had before, and what was made of them.
#pragma once

#include <cstdint>
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
    std::uint64_t head = 0, tail = 0;  // which overlap
    std::uint32_t size = ~std::uint32_t{0};
    bool quoted = false;
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    std::uint64_t value = 0;
  };

  template <class T>
  static std::uint64_t load(const char* p) noexcept {
    return load_le<T>(reinterpret_cast<const std::byte*>(p));
  }
  static Key key_of(const Field& field) noexcept {
    const char* const text = field.text.data();
    const std::size_t n = field.text.size();
    Key key{0, 0, static_cast<std::uint32_t>(n), field.quoted};
    if (n >= 8) {
      key.head = load<std::uint64_t>(text);
      key.tail = load<std::uint64_t>(text + n - 8);
    } else if (n >= 4) {
      key.head = load<std::uint32_t>(text);
      key.tail = load<std::uint32_t>(text + n - 4);
    } else if (n > 0) {
      key.head = load<std::uint8_t>(text) | load<std::uint8_t>(text + n / 2) << 8;
      key.tail = load<std::uint8_t>(text + n - 1);
    }
    return key;
  }
  /// The highest bits of a product depend on all bits of its factors.
  static std::size_t place_of(const Key& key) noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U, kOther = 0xc2b2ae3d27d4eb4fU;
    return ((key.head * kOdd) ^ (key.tail * kOther) ^ (key.size * kOdd)) >> 56;
  }

  std::vector<Slot> slots_;
  std::uint64_t hits_ = 0, misses_ = 0;
  bool off_ = false;
};

}  // namespace dapple::detail::csv
