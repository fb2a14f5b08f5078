// In which types the cells of a block are read.
#pragma once

#include "scan.h"

namespace dapple::picture {

/// Calls f(tag, columns) for runs of these columns of a block, whose cells are values of tag's
/// type: that of the block. But text has no stored type: where a block of a frame has the one that
/// most of its columns share, f64, columns of 64-bit integers and times have their own.
template <class F>
void each_type(const Object& object, const BlockInfo& block, Range cols, const F& f) {
  const auto* frame = std::get_if<Frame>(&object);
  const auto type_of = [&](std::uint64_t col) {
    if (frame == nullptr || block.kind != BlockKind::dense || !is_float(block.value_type)) {
      return block.value_type;
    }
    const ValueType own = frame->column_info(col).value_type;
    return size_of(own) == 8 ? own : block.value_type;
  };
  while (!cols.empty()) {
    const ValueType type = type_of(cols.begin);
    Range run{cols.begin, cols.begin + 1};
    while (run.end < cols.end && type_of(run.end) == type) ++run.end;
    visit_type(type, [&](auto tag) { f(tag, run); });
    cols.begin = run.end;
  }
}

}  // namespace dapple::picture
