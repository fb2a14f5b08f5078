// Door: Futhark values. Any bytes give an object or an Error, in both ways of reading; what opens
// reads the same whole and cell by cell, and is read back the same from what is written of it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::futhark_target {

namespace {

constexpr std::uint64_t kMostCells = 1 << 12;

OpenOptions as_futhark(FormatOptions futhark) {
  OpenOptions options;
  options.format = "futhark";
  options.format_options = std::move(futhark);
  return options;
}

/// All cells, column by column, as bytes of each column's type.
template <class Object>
std::vector<std::byte> cells_of(const Object& object) {
  std::vector<std::byte> bytes;
  for (std::uint64_t col = 0; col < object.cols(); ++col) {
    visit_type(object.column_type(col), [&](auto tag) {
      using T = decltype(tag);
      std::vector<T> cells(object.rows());
      object.template read<T>({{0, object.rows()}, {col, col + 1}}, std::span<T>(cells));
      const auto raw = std::as_bytes(std::span<const T>(cells));
      bytes.insert(bytes.end(), raw.begin(), raw.end());
    });
  }
  return bytes;
}

/// Compares the last cells of each column, read alone, with the whole.
template <class Object>
void read_alone(const Object& object, const std::vector<std::byte>& whole) {
  std::size_t end = 0;
  for (std::uint64_t col = 0; col < object.cols(); ++col) {
    visit_type(object.column_type(col), [&](auto tag) {
      using T = decltype(tag);
      end += object.rows() * sizeof(T);
      const std::uint64_t n = std::min<std::uint64_t>(object.rows(), 3);
      for (std::uint64_t i = 1; i <= n; ++i) {
        T cell{};
        const std::uint64_t row = object.rows() - i;
        object.template read<T>({{row, row + 1}, {col, col + 1}}, std::span<T>(&cell, 1));
        require(std::memcmp(&cell, &whole[end - i * sizeof(T)], sizeof(T)) == 0);
      }
    });
  }
}

/// Writes the object, opens that, and compares. Nothing of it may fail.
template <class Object>
void round_trip(const Object& object, const std::vector<std::byte>& whole) noexcept {
  static fuzz::MemoryFile file;
  std::vector<std::uint8_t> stream;
  ConvertOptions options;
  options.to = "futhark";
  convert(
      object, {},
      [&](std::span<const std::byte> part) {
        const auto* p = reinterpret_cast<const std::uint8_t*>(part.data());
        stream.insert(stream.end(), p, p + part.size());
      },
      options);
  file.set(stream);
  const std::string frame = std::is_same_v<Object, Frame> ? "true" : "false";
  const auto back = open(file.path(), as_futhark({{"futhark.frame", frame}}));
  require(cells_of(std::get<Object>(back)) == whole);
}

void look(const std::variant<Matrix, Frame>& object) {
  std::visit(
      [](const auto& o) {
        const bool small =
            o.cols() <= kMostCells && o.rows() <= kMostCells && o.rows() * o.cols() <= kMostCells;
        if (!small) return;
        const std::vector<std::byte> whole = cells_of(o);
        read_alone(o, whole);
        if (o.cols() > 0) round_trip(o, whole);
      },
      object);
}

void try_open(const fuzz::MemoryFile& file, const FormatOptions& futhark) {
  try {
    look(open(file.path(), as_futhark(futhark)));
  } catch (const Error&) {
  }
}

}  // namespace

FUZZ_TARGET(futhark) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  try_open(file, {{"futhark.first", "true"}});
  try_open(file, {{"futhark.value", "1"}});
  try_open(file, {{"futhark.frame", "true"}});
  for (const char* types : {"i32", "[]i8", "[][]f32", "[]f16", "[]u64,[]bool", "[][]f64"}) {
    try_open(file, {{"futhark.type", types}});
  }
  return 0;
}

}  // namespace dapple::fuzz::futhark_target
