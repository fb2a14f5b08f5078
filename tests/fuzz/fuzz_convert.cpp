// Door: the converters. The first three bytes choose the format that is read, the one that is
// written, and how; the rest is the file. Whatever comes out is opened again, and holds the cells
// that the input holds.
#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::convert_target {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kChoices = 3;
constexpr std::uint64_t kMostCells = 1 << 14;

// The formats that give back every bit of a matrix, and are written in order.
constexpr std::string_view kExact[] = {"npy", "futhark", "mtx", "csv", "btable", "futhark-text"};

// The cells as the bits of f64 values. Throws Error.
std::vector<std::uint64_t> cells_of(const Matrix& m) {
  const auto values = m.read<double>({{0, m.rows()}, {0, m.cols()}});
  std::vector<std::uint64_t> bits(values.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    // Text has one NaN, and BTable no minus zero.
    const double v = values[i] != values[i] ? 0.5 : values[i] == 0 ? 0 : values[i];
    std::memcpy(&bits[i], &v, sizeof v);
  }
  return bits;
}

}  // namespace

FUZZ_TARGET(convert) {
  static fuzz::MemoryFile in, out;
  if (size < kChoices) return 0;
  std::vector<std::string_view> readable;
  for (const FormatInfo& format : formats()) {
    if (format.reads) readable.push_back(format.name);
  }
  OpenOptions from;
  from.format = readable[data[0] % readable.size()];
  ConvertOptions to;
  to.to = kExact[data[1] % std::size(kExact)];
  to.absent = data[2] % 2 == 0 ? Absent::error : Absent::zero;
  in.set(std::span(data, size).subspan(kChoices));
  Bytes written;
  std::vector<std::uint64_t> cells;
  try {
    const auto object = open(in.path(), from);
    const auto* matrix = std::get_if<Matrix>(&object);
    const BlockedObject& base =
        std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
    if (base.rows() > kMostCells || base.cols() > kMostCells ||
        base.rows() * base.cols() > kMostCells) {
      return 0;
    }
    convert(
        object, {},
        [&](std::span<const std::byte> bytes) {
          written.insert(written.end(), bytes.begin(), bytes.end());
        },
        to);
    if (matrix == nullptr || to.absent == Absent::zero) return 0;
    // Digits enough for an f32 make another f64.
    const bool untyped = to.to == "csv" || to.to == "mtx";
    if (untyped && matrix->value_type() == ValueType::f32) return 0;
    cells = cells_of(*matrix);
  } catch (const Error&) {
    return 0;
  }
  if (cells.empty()) return 0;  // text of no cells says nothing of their shape
  out.set(std::span<const std::byte>(written));
  OpenOptions again;
  again.format = to.to == "futhark-text" ? "futhark" : to.to;
  again.format_options = {{"csv.header", "false"}};
  try {
    const auto object = open(out.path(), again);
    const auto* matrix = std::get_if<Matrix>(&object);
    if (matrix == nullptr) return 0;  // a table that holds a matrix
    require(cells_of(*matrix) == cells, "other cells in " + to.to);
  } catch (const Error& error) {
    require(false, std::string("what was written is refused: ") + error.what());
  }
  return 0;
}

}  // namespace dapple::fuzz::convert_target
