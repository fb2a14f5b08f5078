// A word per block, all zero at first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dapple::detail {

/// Zero pages that cost neither time nor memory until a word in them is written: of 10^7 blocks as
/// little as of ten. Memory of the C library would be cleared whenever it was used before.
class PlaceTable {
 public:
  /// `n` words; none when the system has no room for them.
  explicit PlaceTable(std::uint64_t n) noexcept;
  ~PlaceTable();
  PlaceTable(const PlaceTable&) = delete;
  PlaceTable& operator=(const PlaceTable&) = delete;

  std::uint64_t* data() const noexcept { return words_; }

 private:
  std::uint64_t* words_ = nullptr;
  std::size_t mapped_ = 0;  // bytes; 0: from the C library
};

}  // namespace dapple::detail
