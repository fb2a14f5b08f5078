// Entries of some lines of a sparse block, checked as they are looked at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/foreign/arrays/sparse_arrays.h"

namespace dapple::detail::arrays {

/// Loads the pointer of a line.
inline std::uint64_t pointer(const Items& pointers, std::uint64_t line) noexcept {
  const std::byte* const p = pointers.data + line * pointers.width;
  return pointers.width == 4 ? load_le<std::uint32_t>(p) : load_le<std::uint64_t>(p);
}

/// `Index` is the unsigned type of an index; a negative one is far outside any matrix.
template <class Index>
class Lines {
 public:
  /// Lines [lines.begin, lines.end) of the block; `extent` is how long a line is. Throws corrupt.
  Lines(const Store& store, Range lines, std::uint64_t extent)
      : store_(store),
        arrays_(store.state<SparseArrays>()),
        extent_(extent),
        entries_(arrays_.entries_of(store.file(), lines)),
        size_(arrays_.values.width),
        indices_(place(arrays_.indices, index_memory_)),
        values_(place(arrays_.values, value_memory_)) {}

  std::uint64_t size() const noexcept { return entries_.size(); }

  /// Which entries a line has, counted from the first of all lines. Throws corrupt unless their
  /// indices are inside the matrix, each once.
  Range line(std::uint64_t line) {
    const Range entries = unchecked_line(line);
    bool ascending = true;
    std::uint64_t least = 0;
    for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
      const std::uint64_t at = index(i);
      if (at >= extent_) fail_outside(i);
      ascending = ascending && at >= least;
      least = at + 1;
    }
    if (!ascending) check_unique(entries);
    return entries;
  }
  /// The same, without a look at the indices.
  Range unchecked_line(std::uint64_t line) const {
    const Range all = arrays_.entries_of(store_.file(), {line, line + 1});
    if (all.begin < entries_.begin || all.end > entries_.end) fail_pointer(line);
    return {all.begin - entries_.begin, all.end - entries_.begin};
  }

  Index index(std::uint64_t i) const noexcept {
    return load_le<Index>(indices_ + i * sizeof(Index));
  }
  const std::byte* value(std::uint64_t i) const noexcept { return values_ + i * size_; }

  /// Throws unsupported when an index is twice in these entries: SciPy means their sum.
  void check_unique(Range entries) {
    std::vector<std::uint64_t> order(entries.size());
    for (std::uint64_t i = 0; i < entries.size(); ++i) order[i] = entries.begin + i;
    std::sort(order.begin(), order.end(), [this](std::uint64_t a, std::uint64_t b) {
      return std::pair(index(a), a) < std::pair(index(b), b);
    });
    const auto twice = std::adjacent_find(
        order.begin(), order.end(),
        [this](std::uint64_t a, std::uint64_t b) { return index(a) == index(b); });
    if (twice != order.end()) {
      fail_index(Errc::unsupported, twice[1],
                 std::string(" is twice in a ") + (arrays_.by_columns ? "column" : "row"),
                 "; add such entries up first, as SciPy's sum_duplicates() does");
    }
  }

  [[noreturn]] void fail_outside(std::uint64_t i) const {
    fail_index(Errc::corrupt, i,
               " is outside a matrix of " + std::to_string(extent_) +
                   (arrays_.by_columns ? " rows" : " columns"));
  }

 private:
  const std::byte* place(const Items& items, Array<std::byte>& memory) const {
    if (items.data != nullptr) return items.data + entries_.begin * items.width;
    if (entries_.empty()) return nullptr;
    memory.reset(entries_.size() * items.width);
    items.load(entries_, memory.data());
    return memory.data();
  }

  [[noreturn]] void fail_index(Errc code, std::uint64_t i, const std::string& wrong,
                               const char* advice = "") const {
    store_.fail(
        code, arrays_.indices.byte_of(entries_.begin + i),
        (arrays_.by_columns ? "row " : "column ") + std::to_string(index(i)) + wrong + advice);
  }
  [[noreturn]] void fail_pointer(std::uint64_t line) const {
    store_.fail(
        Errc::corrupt, arrays_.pointers.byte_of(line),
        std::string(arrays_.by_columns ? "the columns" : "the rows") + " do not follow each other");
  }

  const Store& store_;
  const SparseArrays& arrays_;
  std::uint64_t extent_;
  Range entries_;
  std::size_t size_;
  Array<std::byte> index_memory_, value_memory_;
  const std::byte* indices_;
  const std::byte* values_;
};

/// Calls `f` with a zero of the type that indices of this width have.
template <class F>
decltype(auto) visit_width(std::size_t width, const F& f) {
  return width == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

}  // namespace dapple::detail::arrays
