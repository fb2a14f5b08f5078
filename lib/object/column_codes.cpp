#include "lib/object/column_codes.h"

#include <algorithm>

#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail {

std::optional<std::uint64_t> greatest_code(const Meaning& meaning) {
  if (meaning.has_words()) {
    return meaning.words != nullptr ? std::optional(meaning.words->size()) : std::nullopt;
  }
  if (meaning.kind != MeaningKind::boolean) return std::nullopt;
  return meaning.missing == kMissingBoolean ? kMissingBoolean : 1;
}

namespace {

/// The first of `rows` values that is above `greatest`.
template <class T>
std::uint64_t first_above(const std::byte* cells, std::size_t step, std::uint64_t rows,
                          std::uint64_t greatest) {
  T most = 0;  // almost always within bounds, which this finds without a branch for each cell
  for (std::uint64_t r = 0; r < rows; ++r) most = std::max(most, load_le<T>(cells + r * step));
  std::uint64_t r = most > greatest ? 0 : rows;
  while (r < rows && load_le<T>(cells + r * step) <= greatest) ++r;
  return r;
}

}  // namespace

std::uint64_t first_meaningless(const Column& column, const std::byte* cells, std::size_t step,
                                std::uint64_t rows) {
  const auto greatest = greatest_code(column.meaning);
  if (!greatest) return rows;
  return visit_bits(column.value_type, [&](auto bits) {
    return first_above<decltype(bits)>(cells, step, rows, *greatest);
  });
}

std::string told_code(const Column& column, std::uint64_t bits, std::optional<std::uint64_t> row) {
  const Meaning& meaning = column.meaning;
  return "column " + shown(column.label) + " holds " +
         (row ? "in row " + std::to_string(*row) + " " : "") +
         (meaning.has_words() ? "code " + std::to_string(bits) + ", but its dictionary has " +
                                    counted(meaning.words->size(), "word")
                              : std::to_string(bits) + ", which is neither true nor false");
}

void fail_code(const std::string& file, const Column& column, std::uint64_t bits,
               std::uint64_t row) {
  throw Error(Errc::corrupt, file, std::nullopt, told_code(column, bits, row));
}

}  // namespace dapple::detail
