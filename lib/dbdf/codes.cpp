#include "lib/dbdf/codes.h"

#include <limits>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/column_codes.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> greatest_in(const Schema& schema, std::uint64_t col) {
  if (schema.kind != ObjectKind::frame) return std::nullopt;
  return greatest_code(schema.columns[col].meaning);
}

}  // namespace

bool hold_codes(const Schema& schema, Range cols) {
  if (schema.kind != ObjectKind::frame) return false;  // which may have 2^32 columns
  for (std::uint64_t col = cols.begin; col < cols.end; ++col) {
    if (greatest_in(schema, col)) return true;
  }
  return false;
}

std::optional<std::string> find_bad_code(const Schema& schema, BlockPos pos,
                                         const DenseCells& cells) {
  for (std::uint32_t c = 0; c < cells.cols; ++c) {
    if (!greatest_in(schema, pos.cx + c)) continue;
    const Column& column = schema.columns[pos.cx + c];
    const std::byte* const first = cells.data + c * size_of(cells.type);
    const std::uint64_t r = first_meaningless(column, first, cells.row_step, cells.rows);
    if (r == cells.rows) continue;
    return told_code(column, load_bits(cells.type, first + r * cells.row_step), pos.rx + r);
  }
  return std::nullopt;
}

std::optional<std::string> find_bad_code(const Schema& schema, BlockPos pos,
                                         const CsrCells& cells) {
  if (!hold_codes(schema, {pos.cx, pos.cx + cells.cols})) return std::nullopt;
  std::vector<std::uint64_t> greatest(cells.cols, kAny);
  for (std::uint32_t c = 0; c < cells.cols; ++c) {
    greatest[c] = greatest_in(schema, pos.cx + c).value_or(kAny);
  }
  for (std::uint32_t i = 0; i < cells.row_count(); ++i) {
    for (std::uint64_t k = cells.row_ptr[i]; k < cells.row_ptr[i + 1]; ++k) {
      const std::uint32_t col = cells.col_idx[k];
      const std::uint64_t bits = load_bits(cells.type, cells.value(k));
      if (col >= cells.cols || bits <= greatest[col]) continue;
      return told_code(schema.columns[pos.cx + col], bits, pos.rx + cells.row(i));
    }
  }
  return std::nullopt;
}

}  // namespace dapple::detail::dbdf
