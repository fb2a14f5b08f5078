#include "lib/foreign/csv/csv_rows.h"

#include <algorithm>

namespace dapple::detail::csv {

namespace {

/// Of text, so that it and what is found in it stay in a processor's cache.
constexpr std::ptrdiff_t kCachedBytes = std::ptrdiff_t{16} << 10;

}  // namespace

RowTable::RowTable(const ScanInput& input) : in_(input), cols_(input.cols()) {}

const char* RowTable::find(const char* p, const char* limit) {
  rows_ = 0;
  last_ = false;
  fault_.reset();
  const char* const end = in_.end;
  limit = limit - p > kCachedBytes ? p + kCachedBytes : limit;
  FieldWindow window(end, in_.dialect.delimiter);
  while (p < limit) {
    if (rows_ > 0 && in_.dialect.is_comment(p, end)) break;
    if (at_line_end(p, end) || (cols_ > 1 && in_.dialect.only_blanks(p, end))) {
      last_ = in_.dialect.only_blanks(p, end);
      if (!last_) fault_ = {p, 0};
      break;
    }
    const char* const next = find_row(p, window);
    if (next == nullptr) break;
    ++rows_;
    p = next;
  }
  return p;
}

/// Finds the fields of the next row; returns its end, or null where it is wrong.
const char* RowTable::find_row(const char* p, FieldWindow& shared) {
  const std::size_t at = rows_ * (cols_ + 1);
  if (starts_.size() - at < cols_ + 1) starts_.resize(std::max(2 * starts_.size(), at + cols_ + 1));
  const char** starts = starts_.data() + at;
  const char* const end = in_.end;
  const char delimiter = in_.dialect.delimiter;
  const auto fail = [this](const char* where, std::size_t fields) {
    fault_ = {where, fields};
    return nullptr;
  };
  FieldWindow window = shared;  // a copy, which can be in registers
  window.seek(p);
  *starts = p;
  const char* stop = nullptr;
  for (std::size_t c = 0;;) {
    stop = window.end_of(p);
    if (stop == nullptr) return fail(p, c);
    *++starts = stop + 1;
    if (++c == cols_) break;
    if (stop == end || *stop != delimiter) return fail(stop, c);
    p = stop + 1;
  }
  shared = window;
  const bool ends_in_one = stop != end && *stop == delimiter;
  if (in_.trailing_delimiter && ends_in_one && at_line_end(stop + 1, end)) ++stop;
  return at_line_end(stop, end) ? past_line_end(stop, end) : fail(stop, cols_);
}

}  // namespace dapple::detail::csv
