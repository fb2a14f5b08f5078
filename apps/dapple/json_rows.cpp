#include "json_rows.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "found_rows.h"
#include "input.h"
#include "report.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::uint64_t kCellsAtOnce = std::uint64_t{1} << 20;

/// The selected columns of a matrix are adjacent.
template <Value T>
void print_rows(const Matrix& matrix, Range rows, Range cols, const TextOptions& options,
                Output& out) {
  const std::uint64_t step =
      std::max<std::uint64_t>(1, kCellsAtOnce / std::max<std::uint64_t>(1, cols.size()));
  std::string text;
  while (!rows.empty()) {
    const Range some{rows.begin, rows.begin + std::min(step, rows.size())};
    const auto values = matrix.read<T>({some, cols}, options.reading);
    text.clear();
    for (std::uint64_t r = 0; r < some.size(); ++r) {
      for (std::uint64_t c = 0; c < cols.size(); ++c) {
        text += c == 0 ? "[" : ",";
        text += json_number(cell_text(values[r * cols.size() + c], options.short_floats));
      }
      text += cols.empty() ? "[]\n" : "]\n";
    }
    out.write(text);
    rows.begin = some.end;
  }
}

}  // namespace

void print_json_rows(const std::variant<Matrix, Frame>& object, const Selection& part,
                     const TextOptions& options, Console& console) {
  Range rows = part.rows.value_or(Range{0, base(object).rows()});
  if (const auto* const matrix = std::get_if<Matrix>(&object)) {
    Range cols{0, matrix->cols()};
    if (part.cols) cols = {0, 0};
    if (part.cols && !part.cols->empty()) cols = {part.cols->front(), part.cols->back() + 1};
    visit_type(matrix->value_type(), [&](auto tag) {
      print_rows<decltype(tag)>(*matrix, rows, cols, options, console.out);
    });
    return;
  }
  const auto& frame = std::get<Frame>(object);
  FoundRows found(frame, part.cols ? shown_columns(*part.cols) : shown_columns(frame),
                  RowNumbers::no, console, options.reading.absent);
  std::vector<std::uint64_t> numbers;
  for (; !rows.empty(); rows.begin += numbers.size()) {
    numbers.resize(std::min<std::uint64_t>(rows.size(), 1 << 16));
    std::iota(numbers.begin(), numbers.end(), rows.begin);
    found.print(numbers);
  }
}

}  // namespace dapple::cli
