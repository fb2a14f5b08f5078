// SciPy's sparse matrices, as scipy.sparse.save_npz writes them, and the arrays of numbers in an
// archive that they are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dapple/region.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/foreign/npy/npy_header.h"
#include "lib/foreign/zip/zip.h"
#include "lib/io/byte_source.h"
#include "lib/object/store.h"

namespace dapple::detail::npz {

struct Numbers {
  std::shared_ptr<const ByteSource> file;
  npy::Field field;
  std::vector<std::uint64_t> shape;
  bool fortran = false;
  std::uint64_t offset = 0, bytes = 0;  // where they are in the file
  const std::byte* data = nullptr;      // the same in memory
};

/// The array in bytes `within` of a file. Throws corrupt when it has another number of dimensions,
/// or is longer than the file; unsupported when it does not hold numbers.
Numbers open_numbers(std::shared_ptr<const ByteSource> file, Range within, std::string_view name,
                     std::size_t dimensions);

/// Its items as values of the field's type: in place if they are stored so. REQUIRES one dimension.
arrays::Items items_of(const Numbers& numbers);

/// Items of an array of one dimension, of 4 or 8 bytes each. Throws corrupt also unless they
/// are integers.
arrays::Items open_integers(std::shared_ptr<const ByteSource> file, Range within,
                            std::string_view name);
/// The same of numbers that were opened.
arrays::Items integers_of(const Numbers& numbers, std::string_view name);

/// Line `i` of an array of two dimensions. REQUIRES C order, i below the first extent.
Numbers line_of(const Numbers& numbers, std::uint64_t i);

/// Loads a signed integer. REQUIRES items in place or loaded.
std::int64_t signed_item(const arrays::Items& items, std::uint64_t i) noexcept;

/// Rows of at most `count` entries, which are made when they are read. `Cells` has pointers to
/// rows, and loads columns, of 8 bytes each, and values. The other two are bytes of the file to
/// blame.
template <class Cells>
std::unique_ptr<arrays::SparseArrays> made_rows(const std::shared_ptr<const Cells>& from,
                                                std::uint64_t count, std::uint64_t pointers_at,
                                                std::uint64_t columns_at) {
  auto matrix = std::make_unique<arrays::SparseArrays>();
  matrix->pointers = {from->pointers.size(), sizeof from->pointers[0],
                      reinterpret_cast<const std::byte*>(from->pointers.data()), pointers_at};
  matrix->indices = {count, sizeof(std::uint64_t), nullptr, columns_at,
                     [from](Range which, std::byte* out) { from->load_columns(which, out); }};
  matrix->values = {count, size_of(from->values.field.type), nullptr, from->values.offset,
                    [from](Range which, std::byte* out) { from->load_values(which, out); }};
  matrix->owners.push_back(from);
  return matrix;
}

/// SciPy's DIA matrices as rows. `values` has a line for each of `offsets`, with a value for each
/// column of the matrix: that of the cell which is `offset` columns right of the main diagonal.
/// Cells outside the matrix are left alone, columns without values are zero. Throws corrupt when
/// the two do not fit each other, or an offset is there twice; unsupported for too many rows.
/// O(rows + diagonals log diagonals); values are read when rows are.
std::unique_ptr<arrays::SparseArrays> rows_of_diagonals(const ByteSource& file,
                                                        const Schema& schema, arrays::Items offsets,
                                                        Numbers values);

/// SciPy's BSR matrices as rows: `values` has a small dense block for each of `indices`, and
/// `pointers` and these count in blocks. Throws corrupt when they do not fit each other or the
/// matrix; unsupported for too many rows. O(rows); indices and values are read when rows are.
std::unique_ptr<arrays::SparseArrays> rows_of_blocks(const ByteSource& file, const Schema& schema,
                                                     arrays::Items pointers, arrays::Items indices,
                                                     Numbers values);

using zip::Contents, zip::contents_of, zip::Member, zip::read_directory;

/// True when the members are those of a sparse matrix.
bool is_scipy_matrix(std::span<const Member> members);

/// REQUIRES members that are. Throws corrupt, unsupported for other kinds than csr, csc, coo, bsr
/// and dia.
std::shared_ptr<const Store> open_scipy_matrix(std::shared_ptr<ByteSource> archive,
                                               std::span<const Member> members);

}  // namespace dapple::detail::npz
