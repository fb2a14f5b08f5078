// Where the rows of CSR blocks start, as a hint (FORMAT.md, "Row directory").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "lib/dbdf/write/block_plan.h"
#include "lib/index/block_index.h"
#include "lib/object/row_counts.h"

namespace dapple::detail {
class Store;
}

namespace dapple::detail::dbdf {

inline constexpr std::string_view kRowsTag = "DPL-ROWS";

/// The row counts of the blocks of a file that is being written. Any thread may add.
class RowDirectoryWriter {
 public:
  /// Of a CSR block that `entry` describes. Does nothing when they would not be small beside it.
  void add(const Entry& entry, const CsrCells& cells);
  /// Those of a block that is taken over from another file.
  void add(const Entry& entry, const RowCounts& counts);

  /// The content of the hint for the blocks of `index`; empty when no block has counts. One thread,
  /// after all blocks were added.
  std::vector<std::byte> emit(const BlockIndex& index);

 private:
  struct Counts {
    BlockPos pos;
    std::uint8_t shift = 0, width = 0;
    std::vector<std::byte> bytes;
  };
  void add(Counts counts);

  std::mutex mutex_;  // guards the following
  std::vector<Counts> blocks_;
};

/// `Driver::find_row_counts`. O(hints).
std::unique_ptr<const RowCountsTable> find_row_directory(const Store& store);

/// The same of an index at the end of the store's file, where hints may start at byte `first`.
std::unique_ptr<const RowCountsTable> find_row_directory(const Store& store, std::uint64_t first);

/// Adds a finding for each block whose rows do not have the stored counts. Reads those blocks.
void check_row_directory(const Store& store, std::vector<Error>& findings);

}  // namespace dapple::detail::dbdf
