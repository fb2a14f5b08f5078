#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/npy/npy_values.h"
#include "lib/foreign/npz/scipy_matrix.h"

namespace dapple::detail::npz {

namespace {

struct Diagonal {
  std::int64_t offset;  // of columns from rows
  std::uint64_t line;   // of the values
};

/// The cells of diagonals, counted row by row.
struct Diagonals {
  std::vector<Diagonal> all;  // that have cells, by offset
  std::vector<std::uint64_t> pointers;
  Numbers values;

  /// Calls f(diagonal, column) for the cells with these numbers.
  template <class F>
  void each(Range which, const F& f) const {
    const auto after = std::upper_bound(pointers.begin(), pointers.end(), which.begin);
    auto row = static_cast<std::uint64_t>(after - pointers.begin() - 1);
    for (std::uint64_t k = which.begin; k < which.end; ++row) {
      const auto down = static_cast<std::int64_t>(row);
      auto one = std::lower_bound(all.begin(), all.end(), -down,
                                  [](const Diagonal& d, std::int64_t o) { return d.offset < o; });
      for (one += static_cast<std::ptrdiff_t>(k - pointers[row]);
           k < std::min(pointers[row + 1], which.end); ++k, ++one) {
        f(*one, static_cast<std::uint64_t>(down + one->offset));
      }
    }
  }
  void load_columns(Range which, std::byte* out) const {
    each(which, [&](const Diagonal&, std::uint64_t col) {
      store_le(out, col);
      out += sizeof col;
    });
  }
  void load_values(Range which, std::byte* out) const {
    const npy::Field& field = values.field;
    each(which, [&](const Diagonal& d, std::uint64_t col) {
      const std::uint64_t at =
          values.fortran ? d.line + col * values.shape[0] : d.line * values.shape[1] + col;
      npy::copy_values(field, values.data + at * field.size, 0, field.type, out, 0, 1);
      out += size_of(field.type);
    });
  }
};

/// Those that have cells in these rows and columns, by offset.
std::vector<Diagonal> sort_diagonals(const arrays::Items& offsets, const ByteSource& file,
                                     std::uint64_t rows, std::uint64_t width) {
  std::vector<Diagonal> sorted;
  sorted.reserve(offsets.size);
  for (std::uint64_t i = 0; i < offsets.size; ++i) sorted.push_back({signed_item(offsets, i), i});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Diagonal& a, const Diagonal& b) { return a.offset < b.offset; });
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const Diagonal& a, const Diagonal& b) { return a.offset == b.offset; });
  if (twice != sorted.end()) {
    throw Error(Errc::corrupt, file.name(), offsets.byte_of(twice[1].line),
                "the diagonal " + std::to_string(twice->offset) + " is there twice");
  }
  const auto below = [](std::int64_t n, std::uint64_t most) {
    return n < 0 || static_cast<std::uint64_t>(n) < most;
  };
  std::erase_if(sorted, [&](const Diagonal& d) {
    return !below(d.offset, width) || d.offset == std::numeric_limits<std::int64_t>::min() ||
           !below(-d.offset, rows);
  });
  return sorted;
}

}  // namespace

std::unique_ptr<arrays::SparseArrays> rows_of_diagonals(const ByteSource& file,
                                                        const Schema& schema, arrays::Items offsets,
                                                        Numbers values) {
  const auto owner = arrays::load_all(offsets);
  if (offsets.size != values.shape[0]) {
    throw Error(Errc::corrupt, file.name(), offsets.offset,
                counted(offsets.size, "offset") + " do not fit values of " +
                    counted(values.shape[0], "diagonal"));
  }
  const std::uint64_t width = std::min(schema.cols, values.shape[1]);
  arrays::require_few_rows(schema.rows, values.shape[0] * values.shape[1], file, offsets.offset);
  auto from = std::make_shared<Diagonals>();
  from->all = sort_diagonals(offsets, file, schema.rows, width);
  from->values = std::move(values);
  // Each row's cells beyond those of the row above it, then the cells before each row.
  std::vector<std::uint64_t>& pointers = from->pointers;
  pointers.assign(schema.rows + 2, 0);
  for (const Diagonal& d : from->all) {
    const auto first = static_cast<std::uint64_t>(std::max<std::int64_t>(-d.offset, 0));
    const std::uint64_t end = width - static_cast<std::uint64_t>(d.offset);
    ++pointers[first + 1];
    --pointers[std::min(schema.rows, end) + 1];
  }
  for (std::uint64_t row = 1, cells = 0; row < pointers.size(); ++row) {
    cells += pointers[row];
    pointers[row] = pointers[row - 1] + cells;
  }
  pointers.pop_back();
  auto matrix = made_rows<Diagonals>(from, pointers.back(), offsets.offset, offsets.offset);
  matrix->shown.push_back({"diagonals", std::to_string(from->all.size())});
  return matrix;
}

}  // namespace dapple::detail::npz
