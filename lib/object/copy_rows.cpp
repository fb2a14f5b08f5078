#include "lib/object/copy_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/base/ask_ahead.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/stream_copy.h"

namespace dapple::detail {

namespace {

// What is read and written past the caches comes from pages whose addresses the processor has to
// look up. And a row begins and ends within a line: those parts are stored in the ordinary way, for
// which the line is read first, and no store behind it is done before that. The processor is told
// of them in time (4096 x 4096 cells in tiles of 256 x 256, read as f64: u8 28 ms, of where rows
// begin 25, of their ends too 15.5; i16 34, 26 and 16; f32 35, 29 and 20; Xeon of family 6, model
// 167).
constexpr std::uint64_t kRowsAhead = 4;

void ask_for_ends(const Target& out, std::uint64_t row, std::uint64_t cols) {
  __builtin_prefetch(out.cell(row, 0), 1);
  __builtin_prefetch(out.cell(row, cols - 1), 1);
}

// Values of a row past the caches, as values of another type; returns how many fit.
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

// Rows to columns whose cells are packed: some rows at a time, so that each column gets whole lines
// (f64 of 65536 x 16 cells, row by row 6.2 ns a cell, 2.3 so; of 1024 x 1024, 15 and 4 to 8; Xeon
// of family 6, model 167), and the more rows the fewer columns (of one, 1.3 and 0.4).
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
    // The first one that does not fit is asked for row by row.
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
    cols *= rows;  // whole rows to whole rows: one run
    rows = 1;
  }
  const bool packed = out.col_step == size_of(out.type), streamed = packed && out.streamed;
  if (packed && type == out.type) {
    // Which way is asked once, not for each row: pieces of 256 cells come 10 % faster.
    if (streamed) {
      for (std::uint64_t r = 0; r < rows; ++r) {
        if (r + kRowsAhead < rows) ask_for_ends(out, r + kRowsAhead, cols);
        ask_ahead(from + r * row_step, cols * size);
        stream_copy(out.cell(r, 0), from + r * row_step, cols * size);
      }
    } else {
      // Rows of a tile are short, or begin on pages of their own (2000 warm regions of 100 x 1000
      // f64 in tiles of 256 x 256: 1.03 times a plain memcpy of the rows, so 0.98).
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

}  // namespace dapple::detail
