// Implementation details that public headers share; not part of the API.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "dapple/region.h"
#include "dapple/value_type.h"

namespace dapple {

enum class Copy : std::uint8_t;

namespace detail {

class Store;
struct ObjectMaker;
struct Target;

/// A value of type T from little-endian bytes at any address.
template <class T>
T load(const std::byte* p) noexcept {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// Random-access iterator over the elements of a small view. It holds a copy of the view, and so
/// may outlive the original.
template <class View>
class IndexIterator {
 public:
  using value_type = decltype(std::declval<const View&>()[0]);
  using reference = value_type;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;  // gives values, not references
  using iterator_concept = std::random_access_iterator_tag;

  IndexIterator() = default;
  IndexIterator(const View& view, difference_type i) noexcept : view_(view), i_(i) {}

  // A view may throw where an index is damaged.
  value_type operator*() const noexcept(noexcept(std::declval<const View&>()[0])) {
    return view_[static_cast<std::size_t>(i_)];
  }
  value_type operator[](difference_type n) const
      noexcept(noexcept(std::declval<const View&>()[0])) {
    return *(*this + n);
  }
  IndexIterator& operator+=(difference_type n) noexcept {
    i_ += n;
    return *this;
  }
  IndexIterator& operator-=(difference_type n) noexcept { return *this += -n; }
  IndexIterator& operator++() noexcept { return *this += 1; }
  IndexIterator& operator--() noexcept { return *this -= 1; }
  IndexIterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
  IndexIterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }

  friend IndexIterator operator+(IndexIterator a, difference_type n) noexcept { return a += n; }
  friend IndexIterator operator+(difference_type n, IndexIterator a) noexcept { return a += n; }
  friend IndexIterator operator-(IndexIterator a, difference_type n) noexcept { return a -= n; }
  friend difference_type operator-(const IndexIterator& a, const IndexIterator& b) noexcept {
    return a.i_ - b.i_;
  }
  friend bool operator==(const IndexIterator& a, const IndexIterator& b) noexcept {
    return a.i_ == b.i_;
  }
  friend auto operator<=>(const IndexIterator& a, const IndexIterator& b) noexcept {
    return a.i_ <=> b.i_;
  }

 private:
  View view_;
  difference_type i_ = 0;
};

/// The fast path to tiles that were fetched before and are at regular distances in the file.
struct TileTable {
  const Store* store = nullptr;
  /// One per tile: the code of its value type, once it was found to be a dense tile of the grid's
  /// full shape at `values + number * step`; until then another value.
  const std::atomic<std::uint8_t>* tags = nullptr;
  const std::byte* values = nullptr;
  std::uint64_t step = 0;
  std::uint64_t rows = 0, cols = 0;  // of the grid; rows is 0 when there is no fast path
  TileShape tile;
};

/// The cells of a block: borrowed, or in `owned` memory that the caller frees.
struct FetchedCells {
  const std::byte* data = nullptr;
  std::uint64_t rows = 0, cols = 0;
  std::size_t row_bytes = 0;
  void* owned = nullptr;
};
// These take no reference to the caller's accessor, so that it can stay in registers.
[[gnu::cold]] FetchedCells fetch_tile(const Store* store, std::uint64_t i, std::uint64_t j,
                                      ValueType type, Copy copy);
FetchedCells fetch_cells(const Store* store, std::uint64_t number, ValueType type, Copy copy);
/// A contiguous copy, for values of `size` bytes. Throws type_mismatch when copies are forbidden.
FetchedCells copy_cells(const FetchedCells& cells, std::size_t size, Copy copy);
void free_cells(void* owned) noexcept;

}  // namespace detail

}  // namespace dapple
