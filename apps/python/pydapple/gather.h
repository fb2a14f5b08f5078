// Rows and columns in any order, as arrays: the one place that knows how the library gathers them.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core.h"

namespace pydapple {

/// A writable NumPy array of two dimensions whose rows are contiguous.
struct ArrayTarget {
  /// Throws Error where `out` is not that, or of another shape.
  ArrayTarget(nb::handle out, std::uint64_t rows, std::uint64_t cols);

  std::byte* data;
  std::size_t row_stride;  // in values
  dapple::ValueType type;
};

/// Copies these rows, each less than rows(), one after the other. Gives up the GIL.
void gather_rows(const dapple::Matrix& matrix, std::span<const std::int64_t> rows,
                 dapple::Range cols, const ArrayTarget& out, dapple::Absent absent);

/// (data, indices, indptr) of these rows.
nb::object gather_csr(const dapple::Matrix& matrix, std::span<const std::int64_t> rows,
                      dapple::Range cols, dapple::Absent absent);

/// Arrays of rows that nobody has any more, to be filled again: memory that was touched before
/// costs half of what new memory does. The GIL guards it.
class CsrPool {
 public:
  /// Keeps memory of `most` batches at most.
  explicit CsrPool(std::size_t most) : most_(most) {}

  std::size_t most() const noexcept { return most_; }
  /// As `gather_csr`. The arrays are the caller's; their memory comes back.
  static nb::object gather(const std::shared_ptr<CsrPool>& pool, const dapple::Matrix& matrix,
                           std::span<const std::int64_t> rows, dapple::Range cols,
                           dapple::Absent absent);

 private:
  template <class T, class Col>
  struct Lent;

  std::size_t most_;
  std::vector<std::any> free_;
};

/// (data, indices, indptr) of these columns, each less than cols(), compressed by column.
nb::object gather_columns(const dapple::Matrix& matrix, std::span<const std::int64_t> cols,
                          dapple::Absent absent, unsigned threads);

/// Whether blocks cover these rows of columns that ascend.
bool covers(const dapple::BlockedObject& object, dapple::Range rows,
            std::span<const std::int64_t> cols);

/// Puts the values of a contiguous array into another one; returns how many fit exactly, up to the
/// first that does not.
std::size_t convert_values(nb::handle values, nb::handle out);

/// The type of a writable array of one dimension that has room for that many cells. Throws Error
/// where `out` is not that.
dapple::ValueType type_of_cells(nb::handle out, std::uint64_t size);

/// Copies the cells (rows[k], cols[k]), which are inside, to `out`, an array of one dimension.
/// Gives up the GIL. Throws Error where `out` has no room for them.
void gather_cells(const dapple::Matrix& matrix, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> cols, nb::handle out, dapple::Absent absent);

/// (data, indices, indptr) of a rectangle.
nb::object read_csr(const std::shared_ptr<const dapple::Matrix>& matrix,
                    const dapple::Region& region, const dapple::ReadOptions& options);

}  // namespace pydapple
