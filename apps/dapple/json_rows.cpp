#include "json_rows.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "found_rows.h"
#include "input.h"
#include "report.h"
#include "selection.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::uint64_t kCellsAtOnce = std::uint64_t{1} << 20;

/// Columns by ranges of them.
template <Value T>
void print_rows(const Matrix& matrix, Range rows, const std::vector<Range>& cols,
                const TextOptions& options, Output& out) {
  std::uint64_t width = 1;
  for (const Range& run : cols) width += run.size();
  const std::uint64_t step = std::max<std::uint64_t>(1, kCellsAtOnce / width);
  std::string text;
  while (!rows.empty()) {
    const Range some{rows.begin, rows.begin + std::min(step, rows.size())};
    std::vector<std::vector<T>> parts;
    for (const Range& run : cols) parts.push_back(matrix.read<T>({some, run}, options.reading));
    text.clear();
    for (std::uint64_t r = 0; r < some.size(); ++r) {
      text += '[';
      for (std::size_t p = 0; p < cols.size(); ++p) {
        for (std::uint64_t c = 0; c < cols[p].size(); ++c) {
          if (text.back() != '[') text += ',';
          const T value = parts[p][r * cols[p].size() + c];
          text += json_number(cell_text(value, options.short_floats));
        }
      }
      text += "]\n";
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
    visit_type(matrix->value_type(), [&](auto tag) {
      print_rows<decltype(tag)>(*matrix, rows, column_runs(part, *matrix), options, console.out);
    });
    return;
  }
  const auto& frame = std::get<Frame>(object);
  FoundRows found(frame, part.cols ? shown_columns(*part.cols) : shown_columns(frame),
                  RowNumbers::no, console, options);
  std::vector<std::uint64_t> numbers;
  for (; !rows.empty(); rows.begin += numbers.size()) {
    numbers.resize(std::min<std::uint64_t>(rows.size(), 1 << 16));
    std::iota(numbers.begin(), numbers.end(), rows.begin);
    found.print(numbers);
  }
}

}  // namespace dapple::cli
