// Sparse matrices as three arrays, which DAPHNE's runtime, SciPy and anndata all store: pointers
// to where each line starts, and an index and a value for each entry. A line is a row of a CSR
// matrix or a column of a CSC matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dapple/region.h"
#include "lib/object/store.h"

namespace dapple::detail::arrays {

/// An array of `size` items of `width` bytes, little endian: in place, or read when it is needed.
struct Items {
  std::uint64_t size = 0;
  std::size_t width = 8;
  const std::byte* data = nullptr;  // null: `load` copies them
  std::uint64_t offset = 0;         // byte of the file where they start, for messages
  /// Copies items [which.begin, which.end). Any thread.
  std::function<void(Range which, std::byte* out)> load{};

  /// Byte of the file where item `i` starts, or near which it is.
  std::uint64_t byte_of(std::uint64_t i) const noexcept {
    return data != nullptr ? offset + i * width : offset;
  }
};

/// Reads items into memory, where they stay as long as what is returned does; null when they are in
/// place.
std::shared_ptr<const void> load_all(Items& items);

/// Integers of `type` as items of at least 4 bytes, with their sign: short matrices have narrow
/// indices. Throws corrupt for other numbers, which `what` names.
Items integers(Items items, ValueType type, const std::string& file, const std::string& what);

/// The state of a store whose blocks are strips of whole lines. Once it is one: pointers are in
/// place, one more than lines; as many indices as values; pointers and indices of 4 or 8 bytes.
struct SparseArrays : DriverState {
  Items pointers, indices, values;
  bool by_columns = false;  // lines are columns
  // Keep alive what is neither in the store's file nor loaded.
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<Detail> shown;

  /// Which entries lines [lines.begin, lines.end) have. Throws corrupt when the two pointers do not
  /// ascend, or point past the arrays.
  Range entries_of(const ByteSource& file, Range lines) const;
  std::vector<Detail> details(const Store&) const override { return shown; }
};

/// The functions of a driver, whatever lines are.
void read_lines(const Store& store, const Entry& entry, const Part& part, const Target& out);
void line_entries(const Store& store, const Entry& entry, const Part& part, CellRun& take);

/// Those for blocks of kind csr, whose lines are rows.
bool row_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                const CsrTarget& out);
void skip_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor);

/// The same for blocks of kind coo, whose lines are columns.
bool column_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                   const CsrTarget& out);

/// The drivers of one format: of lines that are rows, and that are columns.
struct Drivers {
  explicit constexpr Drivers(std::string_view format)
      : rows{.format = format,
             .read = read_lines,
             .entries = line_entries,
             .csr_arrays = row_arrays,
             .skip_rows = skip_rows},
        columns{.format = format,
                .read = read_lines,
                .entries = line_entries,
                .csr_arrays = column_arrays} {}

  Driver rows, columns;
};

/// The matrix as strips of about a million entries, at most 2^32 - 1 lines each; loads its
/// pointers. Throws corrupt when pointers and arrays do not fit each other and the shape, or the
/// pointers do not start at 0 or do not ascend; unsupported when lines are too long for a block.
std::shared_ptr<Store> make_store(std::shared_ptr<ByteSource> file, Schema schema,
                                  std::unique_ptr<SparseArrays> arrays, const Drivers& drivers);

/// Throws unsupported where rows outnumber entries too far for pointers to rows to pay.
void require_few_rows(std::uint64_t rows, std::uint64_t entries, const ByteSource& file,
                      std::uint64_t offset);

/// A sparse matrix as a row, a column and a value for each entry, in any order.
/// All three in place and of one size.
struct Coordinates {
  Items rows, cols, values;
};

/// The same matrix as rows: in place where entries are in ascending order of rows, otherwise a copy
/// in memory. Throws corrupt for a row outside the matrix, or arrays of different sizes, and as
/// `require_few_rows`. O(rows + entries).
SparseArrays rows_of_coordinates(const Coordinates& from, const Schema& schema,
                                 const ByteSource& file);

}  // namespace dapple::detail::arrays
