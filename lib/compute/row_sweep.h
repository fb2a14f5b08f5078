// Rows of an ascending list, of any object, each block decoded at most once (row_stream.h walks
// over whole regions).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lib/compute/stream_block.h"

namespace dapple::detail {

/// One thread.
class RowSweep {
 public:
  /// Of columns `cols`, as values of `type`.
  RowSweep(const Store& store, Range cols, ValueType type, Absent absent)
      : store_(store), cols_(cols), type_(type), absent_(absent) {}

  /// Decodes a row. REQUIRES that rows ascend. Throws as `RowStream`.
  void move_to(std::uint64_t row);

  /// Which of its columns no block covers, in ascending order.
  const std::vector<Range>& gaps() const noexcept { return gaps_; }
  /// Its cells that are not positive zero; columns count from the first wanted one.
  std::uint64_t size() const noexcept { return size_; }
  const std::uint64_t* cols() const noexcept { return col_idx_.data(); }
  const std::byte* values() const noexcept { return values_.data(); }

 private:
  void find_gaps();

  /// A block that has rows to come.
  struct Member {
    std::shared_ptr<StreamBlock> block;
    RowCursor cursor;
  };

  const Store& store_;
  const Range cols_;
  const ValueType type_;
  const Absent absent_;
  std::unordered_map<std::uint64_t, Member> members_;  // by number
  RowArrays arrays_;                                   // of one block
  std::vector<Range> covered_, gaps_;
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> col_idx_;
  std::vector<std::byte> values_;
};

}  // namespace dapple::detail
