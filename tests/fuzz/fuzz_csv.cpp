// Door: delimited text. Any bytes give an object or an Error. What opens reads the same whole and
// row by row, and what is written of it reads back to the same cells.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::csv_target {

namespace {

using test::base;

constexpr std::uint64_t kMostCells = 1 << 14;

// One column as its own type, widened to the bits of 64.
std::vector<std::uint64_t> column(const std::variant<Matrix, Frame>& object, std::uint64_t c,
                                  Range rows) {
  std::vector<std::uint64_t> bits(rows.size());
  visit_type(base(object).column_type(c), [&](auto tag) {
    using T = decltype(tag);
    std::vector<T> values(rows.size());
    std::visit(
        [&](const auto& o) {
          o.template read<T>({rows, {c, c + 1}}, std::span(values));
        },
        object);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool nan = values[i] != values[i];  // text has one NaN
      if (!nan) std::memcpy(&bits[i], &values[i], sizeof(T));
      if (nan) bits[i] = 1;
    }
  });
  return bits;
}

using Columns = std::vector<std::vector<std::uint64_t>>;

// Throws Error for a table that opens and has a value out of range.
Columns read_all(const std::variant<Matrix, Frame>& object) {
  const std::uint64_t rows = base(object).rows(), cols = base(object).cols();
  Columns whole;
  for (std::uint64_t c = 0; c < cols; ++c) whole.push_back(column(object, c, {0, rows}));
  for (std::uint64_t r = 0; r < rows; r += 1 + rows / 8) {
    for (std::uint64_t c = 0; c < cols; c += 1 + cols / 8) {
      require(column(object, c, {r, r + 1})[0] == whole[c][r]);
    }
  }
  return whole;
}

// A word, a time, a truth value, whatever its code.
std::string word(const std::variant<Matrix, Frame>& object, std::uint64_t c, std::uint64_t bits) {
  std::string text;
  append_text(std::get<Frame>(object).column_info(c), bits, text);
  return text;
}

// Nothing here may throw.
void write_and_read(const std::variant<Matrix, Frame>& object, const Columns& whole) noexcept {
  const std::uint64_t rows = base(object).rows(), cols = base(object).cols();
  const std::string text = test::as_csv(object);
  if (text.empty()) return;
  static fuzz::MemoryFile written;
  written.set(std::as_bytes(std::span(text)));
  OpenOptions options{.format = "csv"};
  const bool frame = std::holds_alternative<Frame>(object);
  options.format_options = {{"csv.header", frame ? "true" : "false"}, {"csv.delimiter", ","}};
  // By number, which a label of the same text would take for itself.
  for (std::uint64_t c = 0; c < cols && !frame; ++c) {
    const std::string type(name(base(object).column_type(c)));
    options.format_options.emplace("csv.type", std::to_string(c) + "=" + type);
  }
  const auto again = open(written.path(), options);
  require(base(again).rows() == rows && base(again).cols() == cols);
  for (std::uint64_t c = 0; c < cols; ++c) {
    if (frame) require(std::get<Frame>(again).label(c) == std::get<Frame>(object).label(c));
    const Columns::value_type back = column(again, c, {0, rows});
    if (frame && std::get<Frame>(object).column_info(c).meaning.kind != MeaningKind::number) {
      for (std::uint64_t r = 0; r < rows; ++r) {
        require(word(again, c, back[r]) == word(object, c, whole[c][r]));
      }
      continue;
    }
    if (base(again).column_type(c) != base(object).column_type(c)) continue;
    require(back == whole[c]);
  }
}

}  // namespace

FUZZ_TARGET(csv) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  OpenOptions plain{.format = "csv"}, lenient{.format = "csv"};
  lenient.format_options = {{"csv.missing_as_nan", "true"},
                            {"csv.header", size % 2 == 0 ? "true" : "false"},
                            {"csv.type", "0=f32"}};
  OpenOptions other{.format = "csv"};
  other.format_options = {
      {"csv.comment", "#"}, {"csv.decimal", ","}, {"csv.skip", std::to_string(size % 3)}};
  for (const OpenOptions& options : {plain, lenient, other}) {
    try {
      const auto object = open(file.path(), options);
      const std::uint64_t cols = base(object).cols();
      if (cols == 0 || base(object).rows() > kMostCells / cols) continue;
      const Columns whole = read_all(object);
      // With a decimal comma, words may look like numbers of what is written.
      if (!options.format_options.contains("csv.decimal")) write_and_read(object, whole);
    } catch (const Error&) {
    }
  }
  return 0;
}

}  // namespace dapple::fuzz::csv_target
