#include "lib/compute/row_sweep.h"

#include <algorithm>

namespace dapple::detail {

void RowSweep::move_to(std::uint64_t row) {
  std::erase_if(members_, [row](const auto& m) { return m.second.block->rows().end <= row; });
  size_ = 0;
  col_idx_.clear();
  values_.clear();
  covered_.clear();
  const Range here{row, row + 1};
  // Blocks of one row come in the order of their columns, unless they begin above it.
  std::vector<std::pair<std::uint64_t, Member*>> members;
  store_.for_each_block(
      {here, cols_}, {absent_, 1}, [&](std::uint64_t number, const Entry& entry, const Part& part) {
        covered_.push_back({entry.pos.cx + part.cols.begin, entry.pos.cx + part.cols.end});
        if (entry.kind == BlockKind::empty) return;
        Member& member = members_[number];
        if (member.block == nullptr) {
          const Range rows{row, store_.schema().rows};
          member.block = std::make_shared<StreamBlock>(store_, entry, rows, ColumnRun{cols_, 0},
                                                       std::optional(type_));
          member.cursor = member.block->cursor();
        }
        members.push_back({member.block->first_col(), &member});
      });
  std::sort(members.begin(), members.end());
  for (const auto& [first_col, member] : members) {
    std::uint64_t entries = 0;
    RowCursor start;
    if (member->block->has_cursor()) {
      member->block->skip({row, row}, member->cursor);
      start = member->cursor;
      entries = member->block->skip(here, member->cursor);
    }
    const RowPiece piece = member->block->decode(here, start, entries, arrays_);
    const std::uint64_t begin = piece.row_ptr[0], end = piece.row_ptr[1];
    for (std::uint64_t k = begin; k < end; ++k) {
      col_idx_.push_back(first_col + piece.col_idx[k]);
    }
    const std::size_t value = size_of(type_);
    values_.insert(values_.end(), piece.values + begin * value, piece.values + end * value);
  }
  size_ = col_idx_.size();
  find_gaps();
}

void RowSweep::find_gaps() {
  gaps_.clear();
  std::sort(covered_.begin(), covered_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t col = cols_.begin;
  for (const Range& part : covered_) {
    if (part.begin > col) gaps_.push_back({col, part.begin});
    col = part.end;
  }
  if (col < cols_.end) gaps_.push_back({col, cols_.end});
}

}  // namespace dapple::detail
