// SciPy's sparse matrices, as scipy.sparse.save_npz writes them, and the arrays of numbers in an
// archive that they are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// Its items along the first dimension, each in C order as values of the field's type: in place if
/// they are stored so. REQUIRES one dimension or three.
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

/// SciPy's DIA matrices as rows. `values` has a line for each of `offsets`, with a value for each
/// column of the matrix: that of the cell which is `offset` columns right of the main diagonal.
/// Cells outside the matrix are left alone, columns without values are zero. Throws corrupt when
/// the two do not fit each other, or an offset is there twice; unsupported for too many rows.
/// O(rows + diagonals log diagonals); values are read when rows are.
std::unique_ptr<arrays::SparseArrays> rows_of_diagonals(const ByteSource& file,
                                                        const Schema& schema, arrays::Items offsets,
                                                        Numbers values);

using zip::Contents, zip::contents_of, zip::Member, zip::read_directory;

/// True when the members are those of a sparse matrix.
bool is_scipy_matrix(std::span<const Member> members);

/// REQUIRES members that are. Throws corrupt, unsupported for other kinds than csr, csc, coo, bsr
/// and dia.
std::shared_ptr<const Store> open_scipy_matrix(std::shared_ptr<ByteSource> archive,
                                               std::span<const Member> members);

}  // namespace dapple::detail::npz
