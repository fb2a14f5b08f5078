// How many entries the rows of CSR blocks have, as stored beside the blocks (lib/dbdf/FORMAT.md,
// "Row directory"). With them, row_access.h finds a
// row without a walk over those before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lib/base/bytes.h"
#include "lib/index/entry.h"

namespace dapple::detail {

class Store;

/// The counts of one block, each the sum over 2^shift rows; the last group may be shorter.
struct RowCounts {
  unsigned shift = 0;
  unsigned width = 1;  // bytes of a count: 1, 2, 4 or 8
  std::span<const std::byte> bytes;

  std::size_t size() const noexcept { return bytes.size() / width; }

  /// Calls f(count) for each of them, in order, until it returns false; false if it did.
  template <class F>
  bool each(const F& f) const {
    return visit_size(width, [&](auto count) {
      for (std::size_t i = 0; i < bytes.size(); i += sizeof count) {
        if (!f(std::uint64_t{load_le<decltype(count)>(bytes.data() + i)})) return false;
      }
      return true;
    });
  }
  /// The sum of counts [begin, end). REQUIRES end <= size().
  std::uint64_t sum(std::size_t begin, std::size_t end) const {
    return visit_size(width, [&](auto count) {
      std::uint64_t sum = 0;
      for (std::size_t i = begin; i < end; ++i) {
        sum += load_le<decltype(count)>(bytes.data() + i * sizeof count);
      }
      return sum;
    });
  }
};

/// Throws corrupt: the counts that the file has of a block are not those of its rows.
[[noreturn]] void fail_row_counts(const Store& store, const Entry& entry);

/// The counts of all blocks that have them. Any thread.
class RowCountsTable {
 public:
  virtual ~RowCountsTable() = default;
  /// Nothing when block `number` has none, or they do not match their hash. Counts are used in
  /// place, so they may change if somebody writes to the file. O(log blocks + rows).
  virtual std::optional<RowCounts> find(std::uint64_t number, const Entry& entry) const = 0;
};

}  // namespace dapple::detail
