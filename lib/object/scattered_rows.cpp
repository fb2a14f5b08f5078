#include "lib/object/scattered_rows.h"

#include <algorithm>
#include <cstring>

#include "lib/object/fill.h"
#include "lib/object/stream_copy.h"

namespace dapple::detail {

namespace {

// Zeros that wait for their values, in bytes: with 16 KiB instead of 8 the other things that are
// read and written meanwhile push some of them out of a cache of 32 KiB (rows of 8000 bytes: two at
// once take 28 ms, one 24, four 36; in place three take 47, one 35).
constexpr std::uint64_t kNear = 8 << 10;
// Longer rows are not staged.
constexpr std::uint64_t kLongestStaged = 64 << 10;

}  // namespace

ScatteredRows::ScatteredRows(const Target& out, std::uint64_t rows, std::uint64_t cols)
    : out_(out), rows_(rows), cols_(cols) {
  const std::size_t size = size_of(out.type);
  const std::uint64_t row_bytes = std::max<std::uint64_t>(cols * size, 1);
  at_once_ = std::max<std::uint64_t>(kNear / row_bytes, 1);
  if (out.streamed && out.col_step == size && row_bytes <= kLongestStaged) {
    stage_.reset(at_once_ * row_bytes);
  }
}

void ScatteredRows::move_to(std::uint64_t row) noexcept {
  const std::size_t row_bytes = cols_ * size_of(out_.type);
  if (row >= done_) {
    leave_stage();
    if (staged()) {
      if (row - done_ >= at_once_) zero_to(row);
      begin_ = done_;
      done_ = std::min(rows_, begin_ + at_once_);
      std::memset(stage_.data(), 0, (done_ - begin_) * row_bytes);
    } else {
      zero_to(std::min(rows_, row + at_once_));
    }
  }
  row_ = row;
  first_ =
      staged() && row >= begin_ ? stage_.data() + (row - begin_) * row_bytes : out_.cell(row, 0);
}

void ScatteredRows::leave_stage() noexcept {
  if (!staged() || begin_ == done_) return;
  const std::size_t row_bytes = cols_ * size_of(out_.type);
  if (out_.row_step == row_bytes) {
    stream_copy(out_.cell(begin_, 0), stage_.data(), (done_ - begin_) * row_bytes);
    begin_ = done_;
  }
  for (const std::byte* row = stage_.data(); begin_ < done_; ++begin_, row += row_bytes) {
    stream_copy(out_.cell(begin_, 0), row, row_bytes);
  }
}

// REQUIRES that nothing is in the stage.
void ScatteredRows::zero_to(std::uint64_t end) noexcept {
  Target rest = out_;
  rest.data = out_.cell(done_, 0);
  fill_zero(rest, end - done_, cols_);
  begin_ = done_ = end;
}

void ScatteredRows::finish() noexcept {
  leave_stage();
  zero_to(rows_);
}

}  // namespace dapple::detail
