#include "lib/object/copy_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/base/ask_ahead.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/stream_copy.h"
#include "lib/object/misfit.h"

namespace dapple::detail {

namespace {

// Streaming stores bypass the caches, but a row begins and ends inside a cache line. Ordinary
// stores write those parts, and wait until their lines are read. Prefetching them a few rows ahead
// halves the time of decoding 4096 x 4096 cells from tiles of 256 x 256.
constexpr std::uint64_t kRowsAhead = 4;

void ask_for_ends(const Target& out, std::uint64_t row, std::uint64_t cols) {
  __builtin_prefetch(out.cell(row, 0), 1);
  __builtin_prefetch(out.cell(row, cols - 1), 1);
}

// Converts values of a row with streaming stores; returns how many fit.
std::size_t stream_converted(ValueType type, const std::byte* from, ValueType to_type,
                             std::byte* to, std::size_t n) {
  const std::size_t size = size_of(type), wide = size_of(to_type);
  constexpr std::size_t kValues = 512;
  alignas(64) std::array<std::byte, kValues * 8> piece;
  for (std::size_t done = 0; done < n; done += kValues) {
    const std::size_t count = std::min(kValues, n - done);
    ask_ahead(from + done * size, count * size);
    const std::size_t fitting =
        convert_cells(type, from + done * size, size, to_type, piece.data(), wide, count);
    stream_copy(to + done * wide, piece.data(), fitting * wide);
    if (fitting < count) return done + fitting;
  }
  return n;
}

// Writes rows to packed columns: several rows at a time, so that each column is written in whole
// cache lines, which is two to three times as fast as row by row.
std::uint64_t copy_to_columns(const Target& out, ValueType type, const std::byte* from,
                              std::size_t row_step, std::uint64_t rows, std::uint64_t cols) {
  constexpr std::uint64_t kRows = 16, kCells = 256;
  const std::uint64_t at_once = std::max(kRows, kCells / std::max<std::uint64_t>(cols, 1));
  const std::size_t size = size_of(type);
  for (std::uint64_t r = 0; r < rows; r += at_once) {
    const std::uint64_t n = std::min(at_once, rows - r);
    const std::byte* const first = from + r * row_step;
    bool fits = true;
    for (std::uint64_t c = 0; c < cols && fits; ++c) {
      fits = convert_cells(type, first + c * size, row_step, out.type, out.cell(r, c), out.row_step,
                           n) == n;
    }
    // Find the first value that does not fit, row by row.
    for (std::uint64_t i = 0; i < n && !fits; ++i) {
      const std::size_t done = convert_cells(type, first + i * row_step, size, out.type,
                                             out.cell(r + i, 0), out.col_step, cols);
      if (done < cols) return (r + i) * cols + done;
    }
  }
  return rows * cols;
}

}  // namespace

std::uint64_t copy_rows(const Target& out, ValueType type, const std::byte* from,
                        std::size_t row_step, std::uint64_t rows, std::uint64_t cols) {
  const std::size_t size = size_of(type);
  if (row_step == cols * size && out.row_step == cols * out.col_step) {
    cols *= rows;  // contiguous on both sides: one run
    rows = 1;
  }
  if (cols == 1) {  // one run, though not a contiguous one
    return convert_cells(type, from, row_step, out.type, out.data, out.row_step, rows);
  }
  const bool packed = out.col_step == size_of(out.type), streamed = packed && out.streamed;
  if (packed && type == out.type) {
    if (streamed) {
      for (std::uint64_t r = 0; r < rows; ++r) {
        if (r + kRowsAhead < rows) ask_for_ends(out, r + kRowsAhead, cols);
        ask_ahead(from + r * row_step, cols * size);
        stream_copy(out.cell(r, 0), from + r * row_step, cols * size);
      }
    } else {
      const std::uint64_t rows_ahead = kAskAhead / std::max<std::size_t>(row_step, 1);
      for (std::uint64_t r = 0; r < rows; ++r) {
        if (r + rows_ahead < rows) ask_ahead(from + r * row_step, cols * size);
        std::memcpy(out.cell(r, 0), from + r * row_step, cols * size);
      }
    }
    return rows * cols;
  }
  if (!packed && out.row_step == size_of(out.type)) {
    return copy_to_columns(out, type, from, row_step, rows, cols);
  }
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::byte* const row = from + r * row_step;
    if (streamed && r + kRowsAhead < rows) ask_for_ends(out, r + kRowsAhead, cols);
    const std::size_t done =
        streamed ? stream_converted(type, row, out.type, out.cell(r, 0), cols)
                 : convert_cells(type, row, size, out.type, out.cell(r, 0), out.col_step, cols);
    if (done < cols) return r * cols + done;
  }
  return rows * cols;
}

void copy_part(const Store& store, const Entry& entry, const Part& part, const std::byte* from,
               std::size_t row_step, const Target& out) {
  const std::uint64_t rows = part.rows.size(), cols = part.cols.size();
  const std::uint64_t done = copy_rows(out, entry.value_type, from, row_step, rows, cols);
  if (done == rows * cols) return;
  const std::uint64_t row = done / cols, col = done % cols;
  fail_misfit(store, entry, {part.rows.begin + row, part.cols.begin + col},
              from + row * row_step + col * size_of(entry.value_type), out.type);
}

void read_in_place(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  if (part.rows.empty() || part.cols.empty()) return;
  const DensePlace place = store.driver().in_place(store, entry).value();
  copy_part(
      store, entry, part,
      place.data() + part.rows.begin * place.row_step + part.cols.begin * size_of(entry.value_type),
      place.row_step, out);
}

}  // namespace dapple::detail
