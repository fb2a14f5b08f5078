// Where the blocks of an object lie that were touched before: a word and a byte per block, all zero
// at first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/block.h"

namespace dapple::detail {

/// Zero pages that cost neither time nor memory until something in them is written: of 10^7 blocks
/// as little as of ten. Memory of the C library would be cleared whenever it was used before.
class PlaceTable {
 public:
  /// For `n` blocks; none when the system has no room for them.
  explicit PlaceTable(std::uint64_t n) noexcept;
  ~PlaceTable();
  PlaceTable(const PlaceTable&) = delete;
  PlaceTable& operator=(const PlaceTable&) = delete;

  /// A place per block, in a word; nullptr when there was no room.
  std::uint64_t* words() const noexcept { return words_; }
  /// A tag that stays zero, and one per block, for those whose place is known otherwise. REQUIRES
  /// words.
  Place::Tag* tags() const noexcept { return reinterpret_cast<Place::Tag*>(words_ + n_); }

 private:
  std::uint64_t n_;
  std::uint64_t* words_ = nullptr;
  std::size_t mapped_ = 0;  // bytes; 0: from the C library
};

}  // namespace dapple::detail
