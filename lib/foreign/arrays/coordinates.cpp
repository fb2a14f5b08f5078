#include "lib/foreign/arrays/sparse_arrays.h"

#include <cstring>
#include <string>
#include <utility>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/lines.h"

namespace dapple::detail::arrays {

namespace {

/// What a matrix of rows has in memory instead of in the file.
struct Memory {
  std::vector<std::uint64_t> pointers;
  Array<std::byte> indices, values;
};

void require_sound(const Coordinates& from, const Schema& schema, const ByteSource& file) {
  const std::uint64_t n = from.values.size;
  if (from.rows.size != n || from.cols.size != n) {
    throw Error(Errc::corrupt, file.name(), from.rows.offset,
                counted(from.rows.size, "row") + ", " + counted(from.cols.size, "column") +
                    " and " + counted(n, "value") + " are no list of entries");
  }
  require_few_rows(schema.rows, n, file, from.rows.offset);
}

/// Counts the entries of each row, as pointers to where they start. True when they are in order.
bool count_rows(const Coordinates& from, const Schema& schema, const ByteSource& file,
                std::vector<std::uint64_t>& pointers) {
  pointers.assign(schema.rows + 1, 0);
  bool in_order = true;
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < from.rows.size; ++i) {
    const std::uint64_t row = pointer(from.rows, i);
    if (row >= schema.rows) {
      throw Error(
          Errc::corrupt, file.name(), from.rows.byte_of(i),
          "row " + std::to_string(row) + " is outside a matrix of " + counted(schema.rows, "row"));
    }
    in_order = in_order && row >= before;
    before = row;
    ++pointers[row + 1];
  }
  for (std::uint64_t row = 0; row < schema.rows; ++row) pointers[row + 1] += pointers[row];
  return in_order;
}

/// Deals the entries out to their rows. Afterwards `next[row]` is where the row ends.
void deal_out(const Coordinates& from, const ByteSource& file, std::vector<std::uint64_t>& next,
              Memory& to) {
  const std::uint64_t n = from.values.size;
  to.indices.reset(n * from.cols.width);
  to.values.reset(n * from.values.width);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t row = pointer(from.rows, i);
    // Only a file that was changed meanwhile has other rows than were counted.
    if (row + 1 >= next.size() || next[row] >= n) file.fail_changed("the entries");
    const std::uint64_t k = next[row]++;
    std::memcpy(to.indices.data() + k * from.cols.width, from.cols.data + i * from.cols.width,
                from.cols.width);
    std::memcpy(to.values.data() + k * from.values.width, from.values.data + i * from.values.width,
                from.values.width);
  }
}

}  // namespace

void require_few_rows(std::uint64_t rows, std::uint64_t entries, const ByteSource& file,
                      std::uint64_t offset) {
  constexpr std::uint64_t few = 1 << 24, most_per_entry = 16;
  if (rows <= few || rows / most_per_entry <= entries) return;
  throw Error(Errc::unsupported, file.name(), offset,
              std::to_string(rows) + " rows are too many for " + std::to_string(entries) +
                  " entries; save the matrix after .tocsr()");
}

SparseArrays rows_of_coordinates(const Coordinates& from, const Schema& schema,
                                 const ByteSource& file) {
  require_sound(from, schema, file);
  auto memory = std::make_shared<Memory>();
  SparseArrays matrix;
  matrix.indices = from.cols;
  matrix.values = from.values;
  if (!count_rows(from, schema, file, memory->pointers)) {
    std::vector<std::uint64_t> next = memory->pointers;
    deal_out(from, file, next, *memory);
    matrix.indices.data = memory->indices.data();
    matrix.values.data = memory->values.data();
  }
  matrix.pointers = {memory->pointers.size(), sizeof(std::uint64_t),
                     reinterpret_cast<const std::byte*>(memory->pointers.data()), from.rows.offset};
  matrix.owners.push_back(std::move(memory));
  return matrix;
}

}  // namespace dapple::detail::arrays
