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
  /// Reads nothing at or after `end`, the end of the text.
  explicit RecentWords(const char* end) noexcept : end_(end) {}

  /// Puts what was made of equal fields, up to one that is not known; returns how many these are.
  std::size_t find(const FieldColumn& fields, std::uint64_t* to) noexcept {
    if (off_ || fields.n == 0) return 0;
    std::size_t i = 0;
    const Slot* const slots = slots_.data();
    for (const unsigned shift = shift_; !slots_.empty() && i < fields.n; ++i) {
      const Field field = fields[i];
      if (field.text.size() > kLongest) break;
      const Key key = key_of(field);
      const Slot& slot = slots[place_of(key, shift)];
      if (!(slot.key == key)) break;
      to[i] = slot.value;
    }
    hits_ += i;
    if (i < fields.n) off_ = ++misses_ > hits_ + kPatience;
    return i;
  }

  /// REQUIRES that the field was just looked for in vain.
  void put(const Field& field, std::uint64_t value) {
    if (off_ || field.text.size() > kLongest || misses_ < kFew) return;
    if (left_ == 0 && shift_ > kLeastShift) {
      shift_ -= 2;
      slots_.assign(std::size_t{1} << (64 - shift_), {});
      left_ = slots_.size();
    }
    left_ -= left_ > 0 ? 1 : 0;
    const Key key = key_of(field);
    slots_[place_of(key, shift_)] = {key, value};
  }

 private:
  static constexpr std::size_t kLongest = 16;
  static constexpr unsigned kLeastShift = 52;       // 4096 places
  static constexpr std::uint64_t kFew = 16;         // misses, before memory is taken
  static constexpr std::uint64_t kPatience = 1024;  // more misses than hits

  struct Key {
    std::uint64_t head = 0, tail = 0;        // 16 characters, zeros after the field
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
  static std::size_t place_of(const Key& key, unsigned shift) noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U, kOther = 0xc2b2ae3d27d4eb4fU;
    return ((key.head * kOdd) ^ (key.tail * kOther)) >> shift;
  }

  const char* end_;
  std::vector<Slot> slots_;
  unsigned shift_ = 58;   // of a product, to a place
  std::size_t left_ = 0;  // words that may still be put before there are more places
  std::uint64_t hits_ = 0, misses_ = 0;
  bool off_ = false;
};

}  // namespace dapple::detail::csv
