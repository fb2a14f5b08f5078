// Door: region reads. The first 14 bytes choose a region, the type that is asked for, and how the
// caller's memory is; the rest is a DAPHNE file. Every cell must be that of the reference reader,
// or the read an Error; nothing beside the region's cells may be written.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"
#include "tests/reference.h"

namespace dapple::fuzz::region_target {

namespace {

constexpr std::size_t kChoices = 14;

struct Choice {
  Region region;
  ValueType type;
  std::size_t gap;  // values between rows of the caller's memory
  bool absent_is_zero;
  Check check;
};

Choice choose(const std::uint8_t* p, const reference::Object& object) {
  const auto number = [&](std::size_t at) { return std::uint64_t{p[at]} << 8 | p[at + 1]; };
  const auto range = [&](std::size_t at, std::uint64_t n) {
    const std::uint64_t begin = std::min(number(at), n);
    return Range{begin, begin + std::min(number(at + 2), n - begin)};
  };
  Choice c;
  c.region = {range(0, object.rows), range(4, object.cols)};
  c.type = static_cast<ValueType>(1 + p[8] % 10);
  c.gap = p[9] % 5;
  c.absent_is_zero = p[10] % 2 == 0;
  c.check = static_cast<Check>(p[11] % 3);
  return c;
}

// The cell as a value of `type`; nothing where reading it must fail, or may.
std::optional<std::uint64_t> expected(const reference::Object& object, std::uint64_t row,
                                      std::uint64_t col, const Choice& choice) {
  const reference::Cell& cell = object.cell(row, col);
  if (cell.state == reference::State::absent && choice.absent_is_zero) return 0;
  if (cell.state != reference::State::known) return std::nullopt;
  return reference::convert(object.type_of(col), cell.bits, static_cast<int>(choice.type));
}

template <Value T>
void read_region(const Matrix& m, const reference::Object& truth, const Choice& choice) {
  constexpr std::uint8_t untouched = 0xA5;
  const std::size_t rows = choice.region.rows.size(), cols = choice.region.cols.size();
  const std::size_t stride = cols + choice.gap;
  std::vector<T> cells(rows * stride + 1);
  std::memset(cells.data(), untouched, cells.size() * sizeof(T));
  const ReadOptions options{choice.absent_is_zero ? Absent::zero : Absent::error, 1};
  try {
    m.read<T>(choice.region, std::span(cells), stride, options);
  } catch (const Error&) {
    return;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t r = stride == 0 ? rows : i / stride, c = stride == 0 ? 0 : i % stride;
    std::uint64_t got = 0, wanted = 0;
    std::memcpy(&got, &cells[i], sizeof(T));
    if (r >= rows || c >= cols) {
      std::memset(&wanted, untouched, sizeof(T));
      require(got == wanted, "memory beside the region was written");
      continue;
    }
    const std::uint64_t row = choice.region.rows.begin + r, col = choice.region.cols.begin + c;
    // What does not fit the declared type may fit the one that is asked for.
    if (truth.cell(row, col).state == reference::State::doubtful) continue;
    const auto value = expected(truth, row, col, choice);
    require(value.has_value(), "a cell was read that cannot be");
    require(got == *value, "another cell");
  }
}

}  // namespace

FUZZ_TARGET(region) {
  static fuzz::MemoryFile file;
  if (size < kChoices) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(kChoices);
  file.set(bytes);
  try {
    const reference::Object truth = reference::read(bytes, 1 << 12);
    if (truth.data_type == 3) return 0;
    const Choice choice = choose(data, truth);
    const Matrix m = Matrix::open(file.path(), {.format = "dbdf", .check = choice.check});
    if (m.rows() != truth.rows || m.cols() != truth.cols) return 0;
    visit_type(choice.type, [&](auto tag) { read_region<decltype(tag)>(m, truth, choice); });
  } catch (const reference::Refused&) {
  } catch (const reference::TooLarge&) {
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::region_target
