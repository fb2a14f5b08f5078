// Regions as compressed sparse rows, block after block: what sparse formats are written from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dapple/array.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Rows in three arrays: columns ascend within a row, and no value is positive zero.
struct CsrRows {
  Array<std::uint64_t> row_ptr;  // rows + 1, from 0
  Array<std::uint32_t> col_idx;
  Array<std::byte> values;  // of one type
  std::uint64_t entries() const noexcept { return col_idx.size(); }
};

/// Makes rows of region after region, in memory that it keeps. Regions that follow each other
/// downwards go on in a block where the last one ended. One thread at a time.
class RowGatherer {
 public:
  /// Puts the cells of `region` that are stored and not positive zero into `rows()`, columns
  /// counted from the region's first, values as `type`. False, and nothing useful is there, when
  /// the format has no rows to give, nor values in place, when blocks overlap in rows without
  /// having the same ones, when there are more than `most` entries, or far more rows than entries.
  /// Throws as `Store::entries`. REQUIRES at most 2^32 columns.
  bool gather(const Store& store, const Region& region, ValueType type, Absent absent,
              std::uint64_t most);

  const CsrRows& rows() const noexcept { return rows_; }

 private:
  /// Blocks side by side; each has arrays of its own until the rows of all are put together.
  struct Member {
    std::uint64_t number = 0;  // of the block
    RowCursor cursor;
    std::uint32_t first_col = 0;
    CsrRows rows;
  };

  std::uint64_t room_for(const Store& store, const Region& region) const;
  bool add(const Store& store, const Region& region, std::uint64_t number, const Entry& entry,
           const Part& part);
  bool decode(const Store& store, const Entry& entry, const Part& part, std::uint32_t first_col,
              RowCursor& cursor, const CsrTarget& out) const;
  bool scan(const Store& store, const Entry& entry, const Part& part, std::uint32_t first_col,
            const CsrTarget& out) const;
  Member& next_member(std::uint64_t number);
  CsrTarget target_behind(std::uint64_t row);
  bool close_band();
  void end_rows(std::uint64_t row);

  ValueType type_ = ValueType::f64;
  std::uint64_t room_ = 0;  // entries that `rows_` can take
  CsrRows rows_;
  std::uint64_t size_ = 0;      // entries in it
  std::uint64_t rows_end_ = 0;  // rows in it
  Range band_{0, 0};            // rows of the members
  std::vector<Member> members_;
  std::size_t member_count_ = 0;
};

}  // namespace dapple::detail
