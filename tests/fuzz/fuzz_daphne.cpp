// Door: files of the DAPHNE runtime. Any bytes give an object or an Error, and the same cells as a
// plain second reader; a file that is taken for one of the runtime unasked opens as one.
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::daphne_target {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t kMostCells = 1 << 12;
constexpr ValueType kTypes[] = {ValueType::i8,  ValueType::i32, ValueType::i64, ValueType::u8,
                                ValueType::u32, ValueType::u64, ValueType::f32, ValueType::f64};

const BlockedObject& base(const std::variant<Matrix, Frame>& object) {
  return std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
}

std::uint64_t number(Bytes bytes, std::size_t at, std::size_t size) {
  require(at <= bytes.size() && size <= bytes.size() - at);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

ValueType type_at(Bytes bytes, std::size_t at) { return kTypes[number(bytes, at, 1) & 7]; }

// The bits of one row of an accepted file, found without any check; nothing for a CSR row with a
// column outside, twice, or an offset that leaves the arrays.
std::optional<std::vector<std::uint64_t>> row_of(Bytes bytes, const BlockedObject& o,
                                                 std::uint64_t row) {
  std::vector<std::uint64_t> cells(o.cols());
  const std::uint64_t object = number(bytes, 1, 1);
  if (object == 2) {
    const std::size_t size = size_of(type_at(bytes, 18));
    const std::uint64_t nnz = number(bytes, 45, 8), columns = 53 + 8 * (o.rows() + 1);
    const std::uint64_t begin = number(bytes, 53 + 8 * row, 8);
    const std::uint64_t end = number(bytes, 61 + 8 * row, 8);
    if (begin > end || end > nnz) return std::nullopt;
    std::map<std::uint64_t, std::uint64_t> seen;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t col = number(bytes, columns + 8 * i, 8);
      if (col >= o.cols() || seen.contains(col)) return std::nullopt;
      cells[col] = seen[col] = number(bytes, columns + 8 * nnz + size * i, size);
    }
    return cells;
  }
  std::size_t record = 0;
  for (std::uint64_t c = 0; c < o.cols(); ++c) record += size_of(o.column_type(c));
  std::size_t at = bytes.size() - (o.rows() - row) * record;  // rows end with the file
  for (std::uint64_t c = 0; c < o.cols(); ++c) {
    cells[c] = number(bytes, at, size_of(o.column_type(c)));
    at += size_of(o.column_type(c));
  }
  return cells;
}

void check_row(const std::variant<Matrix, Frame>& object, Bytes bytes, std::uint64_t row) {
  const BlockedObject& o = base(object);
  const auto wanted = row_of(bytes, o, row);
  for (std::uint64_t col = 0; col < o.cols(); ++col) {
    visit_type(o.column_type(col), [&](auto tag) {
      using T = decltype(tag);
      std::vector<T> cell(1);
      std::uint64_t bits = 0;
      try {
        std::visit(
            [&](const auto& x) {
              x.template read<T>({{row, row + 1}, {col, col + 1}}, std::span(cell));
            },
            object);
        std::memcpy(&bits, cell.data(), sizeof(T));
        require(wanted && (*wanted)[col] == bits);
      } catch (const Error& error) {
        require(!wanted && error.offset().has_value() &&
                (error.code() == Errc::corrupt || error.code() == Errc::unsupported));
      }
    });
  }
}

}  // namespace

FUZZ_TARGET(daphne) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const OpenOptions runtime{.format = "daphne"};
  bool taken = false;
  try {
    taken = base(open(file.path())).format() == "daphne";
  } catch (const Error&) {
  }
  try {
    verify(file.path(), Level::payload, runtime);
  } catch (const Error&) {
  }
  try {
    const auto object = open(file.path(), runtime);
    const BlockedObject& o = base(object);
    o.counts();
    if (o.rows() == 0 || o.cols() == 0 || o.rows() > kMostCells / o.cols()) return 0;
    for (std::uint64_t row = 0; row < o.rows(); ++row) check_row(object, bytes, row);
  } catch (const Error&) {
    require(!taken);
  }
  return 0;
}

}  // namespace dapple::fuzz::daphne_target
