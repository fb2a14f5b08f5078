#include "lib/dbdf/codes.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

/// The greatest number that stands for something. REQUIRES a column of codes or truth values, whose
/// numbers are unsigned.
std::uint64_t greatest_code(const Meaning& meaning) {
  if (meaning.has_words()) return meaning.words->size();
  return meaning.missing == kMissingBoolean ? kMissingBoolean : 1;
}

bool holds_codes(const Schema& schema, std::uint64_t col) noexcept {
  if (schema.kind != ObjectKind::frame) return false;
  const Column& column = schema.columns[col];
  const Meaning& meaning = column.meaning;
  return meaning.kind == MeaningKind::boolean || (meaning.has_words() && meaning.words != nullptr);
}

std::string told(const Column& column, std::uint64_t bits, std::uint64_t row) {
  const Meaning& meaning = column.meaning;
  const std::string words = meaning.has_words()
                                ? "code " + std::to_string(bits) + ", but its dictionary has " +
                                      counted(meaning.words->size(), "word") + ""
                                : std::to_string(bits) + ", which is neither true nor false";
  return "column " + shown(column.label) + " holds in row " + std::to_string(row) + " " + words;
}

/// The first of `rows` values of a column that is above `greatest`.
template <class T>
std::uint64_t first_above(const std::byte* cells, std::size_t step, std::uint32_t rows,
                          std::uint64_t greatest) {
  T most = 0;  // almost always within bounds, which this finds without a branch for each cell
  for (std::uint32_t r = 0; r < rows; ++r) most = std::max(most, load_le<T>(cells + r * step));
  std::uint32_t r = most > greatest ? 0 : rows;
  while (r < rows && load_le<T>(cells + r * step) <= greatest) ++r;
  return r;
}

std::uint64_t first_above(ValueType type, const std::byte* cells, std::size_t step,
                          std::uint32_t rows, std::uint64_t greatest) {
  switch (size_of(type)) {
    case 1:
      return first_above<std::uint8_t>(cells, step, rows, greatest);
    case 2:
      return first_above<std::uint16_t>(cells, step, rows, greatest);
    case 4:
      return first_above<std::uint32_t>(cells, step, rows, greatest);
    default:
      return first_above<std::uint64_t>(cells, step, rows, greatest);
  }
}

}  // namespace

bool hold_codes(const Schema& schema, Range cols) noexcept {
  for (std::uint64_t col = cols.begin; col < cols.end; ++col) {
    if (holds_codes(schema, col)) return true;
  }
  return false;
}

std::optional<std::string> find_bad_code(const Schema& schema, BlockPos pos,
                                         const DenseCells& cells) {
  for (std::uint32_t c = 0; c < cells.cols; ++c) {
    if (!holds_codes(schema, pos.cx + c)) continue;
    const Column& column = schema.columns[pos.cx + c];
    const std::byte* const first = cells.data + c * size_of(cells.type);
    const std::uint64_t r =
        first_above(cells.type, first, cells.row_step, cells.rows, greatest_code(column.meaning));
    if (r == cells.rows) continue;
    return told(column, load_bits(cells.type, first + r * cells.row_step), pos.rx + r);
  }
  return std::nullopt;
}

std::optional<std::string> find_bad_code(const Schema& schema, BlockPos pos,
                                         const CsrCells& cells) {
  if (!hold_codes(schema, {pos.cx, pos.cx + cells.cols})) return std::nullopt;
  std::vector<std::uint64_t> greatest(cells.cols, kAny);
  for (std::uint32_t c = 0; c < cells.cols; ++c) {
    if (!holds_codes(schema, pos.cx + c)) continue;
    greatest[c] = greatest_code(schema.columns[pos.cx + c].meaning);
  }
  for (std::uint32_t i = 0; i < cells.row_count(); ++i) {
    for (std::uint64_t k = cells.row_ptr[i]; k < cells.row_ptr[i + 1]; ++k) {
      const std::uint32_t col = cells.col_idx[k];
      const std::uint64_t bits = load_bits(cells.type, cells.value(k));
      if (col >= cells.cols || bits <= greatest[col]) continue;
      return told(schema.columns[pos.cx + col], bits, pos.rx + cells.row(i));
    }
  }
  return std::nullopt;
}

}  // namespace dapple::detail::dbdf
