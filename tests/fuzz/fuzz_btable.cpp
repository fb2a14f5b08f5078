// Door: BTables. Any bytes give a table or an Error, the same as a plain second reader finds; what
// opens reads cell by cell as there, and what is written of it holds the same cells.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::btable_target {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t kMostCells = 1 << 14;

struct Table {
  std::uint64_t rows = 0, cols = 1;
  std::vector<bool> sound;           // rows whose columns are all inside
  std::vector<std::uint64_t> cells;  // rows x cols, unless there are too many
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size() - at_; }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<std::uint64_t>(bytes_[at_++]);
    }
    return value;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

// Counts columns; false for labels that are not UTF-16.
bool read_labels(Reader& in, std::uint64_t units, Table& table) {
  bool pair = false;
  for (std::uint64_t i = 0; i < units; ++i) {
    const std::uint64_t unit = in.number(2);
    const bool low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (low != pair) return false;
    pair = unit >= 0xD800 && unit <= 0xDBFF;
    table.cols += unit == 0x1F;
  }
  return !pair;
}

std::optional<Table> read(Bytes bytes) {
  Reader in(bytes);
  Table table;
  if (in.left() < 8 || in.number(4) != 0) return std::nullopt;
  const std::uint64_t units = in.number(4);
  if (units > 0x7FFFFFFF || 2 * units > in.left()) return std::nullopt;
  if (!read_labels(in, units, table)) return std::nullopt;
  while (in.left() > 0) {
    if (in.left() < 4) return std::nullopt;
    const std::uint64_t count = in.number(4);
    if (count > 0x7FFFFFFF || 12 * count > in.left()) return std::nullopt;
    const std::size_t first = table.cells.size();
    const bool keep = ++table.rows * table.cols <= kMostCells;
    if (keep) table.cells.resize(first + table.cols);
    table.sound.push_back(true);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t col = in.number(4), bits = in.number(8);
      if (col >= table.cols) table.sound.back() = false;
      if (col < table.cols && keep) table.cells[first + col] = bits;
    }
  }
  return table;
}

std::vector<std::uint64_t> row_of(const Table& table, std::uint64_t row) {
  const auto first = table.cells.begin() + static_cast<std::ptrdiff_t>(row * table.cols);
  return {first, first + static_cast<std::ptrdiff_t>(table.cols)};
}

void check_rows(const Frame& frame, const Table& table) {
  for (std::uint64_t row = 0; row < table.rows; ++row) {
    std::vector<double> cells(table.cols);
    frame.read<double>({{row, row + 1}, {0, table.cols}}, std::span(cells));
    std::vector<std::uint64_t> bits;
    for (const double cell : cells) bits.push_back(std::bit_cast<std::uint64_t>(cell));
    require(bits == row_of(table, row));
  }
}

// Nothing here may throw.
void write_and_read(const Frame& frame, const Table& table) noexcept {
  std::vector<std::byte> written;
  ConvertOptions options;
  options.to = "btable";
  convert(
      frame, {}, [&](Bytes bytes) { written.insert(written.end(), bytes.begin(), bytes.end()); },
      options);
  const std::optional<Table> again = read(written);
  require(again && again->rows == table.rows && again->cells == table.cells);
}

}  // namespace

FUZZ_TARGET(btable) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  const std::optional<Table> table = read(std::as_bytes(std::span(data, size)));
  const bool sound = table && std::ranges::all_of(table->sound, [](bool row) { return row; });
  try {
    const auto object = open(file.path(), OpenOptions{.format = "btable"});
    const Frame& frame = std::get<Frame>(object);
    require(sound && frame.rows() == table->rows && frame.cols() == table->cols);
    if (table->rows * table->cols > kMostCells) return 0;
    check_rows(frame, *table);
    write_and_read(frame, *table);
  } catch (const Error& error) {
    // A version that is not 0 is the one thing that is unsupported and not corrupt.
    require(!sound && (error.code() == Errc::corrupt || error.code() == Errc::unsupported));
  }
  return 0;
}

}  // namespace dapple::fuzz::btable_target
