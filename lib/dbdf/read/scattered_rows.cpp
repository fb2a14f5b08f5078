#include "lib/dbdf/read/scattered_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/cells/stream_copy.h"
#include "lib/object/fill.h"

namespace dapple::detail {

namespace {

// Bytes that are zeroed ahead of their values. With 16 KiB, some would leave an L1 cache of 32 KiB
// before their values are stored.
constexpr std::uint64_t kNear = 8 << 10;
// Longer rows are not staged.
constexpr std::uint64_t kLongestStaged = 64 << 10;

}  // namespace

ScatteredRows::ScatteredRows(const Target& out, const Part& part, ClearRows clear)
    : out_(out),
      part_(part),
      clear_(std::move(clear)),
      row_bytes_(std::max<std::uint64_t>(part.cols.size() * size_of(out.type), 1)),
      at_once_(std::max<std::uint64_t>(kNear / row_bytes_, 1)),
      begin_(part.rows.begin),
      done_(part.rows.begin) {
  if (out.streamed && out.col_step == size_of(out.type) && row_bytes_ <= kLongestStaged) {
    stage_.reset(at_once_ * row_bytes_ + kCopyLine);
    std::memset(stage_.data(), 0, stage_.size());
  }
}

void ScatteredRows::move_to(std::uint64_t row, const std::byte* at) noexcept {
  if (row >= done_ && staged()) {
    if (begin_ < done_) {
      const Part left{{begin_, done_}, part_.cols};
      leave_stage();
      clear_(left, cells_, stored_, at);
    }
    if (row - done_ >= at_once_) zero_to(row);
    begin_ = done_;
    done_ += std::min(part_.rows.end - begin_, at_once_);
    stored_ = at;
    cells_ = stage_.data() + place_in_line(target(begin_));
  } else if (row >= done_) {
    zero_to(row + std::min(part_.rows.end - row, at_once_));
  }
  row_ = row;
  first_ = staged() && row >= begin_ ? cells_ + (row - begin_) * row_bytes_ : target(row);
}

void ScatteredRows::leave_stage() noexcept {
  if (!staged() || begin_ == done_) return;
  if (out_.row_step == row_bytes_) {
    stream_copy(target(begin_), cells_, (done_ - begin_) * row_bytes_);
    begin_ = done_;
  }
  for (const std::byte* row = cells_; begin_ < done_; ++begin_, row += row_bytes_) {
    stream_copy(target(begin_), row, row_bytes_);
  }
}

// REQUIRES that nothing is in the stage.
void ScatteredRows::zero_to(std::uint64_t end) noexcept {
  Target rest = out_;
  rest.data = target(done_);
  fill_zero(rest, end - done_, part_.cols.size());
  begin_ = done_ = end;
}

void ScatteredRows::finish() noexcept {
  leave_stage();
  zero_to(part_.rows.end);
}

}  // namespace dapple::detail
