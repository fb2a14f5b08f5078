// A matrix in a file: rows() x cols() cells of one value type, stored in blocks.
//
//   const auto m = dapple::Matrix::open("ratings.dbdf");
//   const std::vector<double> part = m.read<double>({{10, 20}, {0, 5}});  // rows 10:20, cols 0:5
//   const auto tiles = m.tiles<double>();  // call once, before the loop
//   const double x = tiles(0, 0)(10, 0);   // without a copy where the stored type permits
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dapple/blocked_object.h"
#include "dapple/column.h"
#include "dapple/open.h"

namespace dapple {

/// What the file's header declares, DenseMatrix or CSRMatrix; blocks may be of any kind in either.
enum class Storage : std::uint8_t { dense, csr };

class Matrix : public BlockedObject {
 public:
  /// Like `dapple::open`; throws type_mismatch when the file holds a frame.
  static Matrix open(const std::filesystem::path& path, OpenOptions options = {}) {
    return Matrix(detail::open_only(detail::Wanted::matrix, path, options));
  }
  /// The same for the bytes of a file, as `dapple::open` of them.
  static Matrix open(std::span<const std::byte> bytes, std::string name = "memory",
                     OpenOptions options = {}) {
    return Matrix(detail::open_only(detail::Wanted::matrix, bytes, std::move(name), options));
  }
  /// The same for bytes that are read in ranges.
  static Matrix open(std::shared_ptr<const RangeReader> reader, std::string name,
                     OpenOptions options = {}) {
    return Matrix(
        detail::open_only(detail::Wanted::matrix, std::move(reader), std::move(name), options));
  }

  ValueType value_type() const noexcept;
  Storage storage() const noexcept;
  /// What the columns are called: slots of one vector, as ML.NET has them. Null where the file does
  /// not tell; valid as long as the matrix.
  const ColumnGroup* group() const& noexcept;
  const ColumnGroup* group() const&& = delete;

  using BlockedObject::read;  // as a type that is known at run time
  /// Copies the cells of `region` to `out`, row by row, rows `row_stride` values apart (0: no gap).
  /// Throws out_of_range, type_mismatch when a value does not fit T exactly (R6), absent (R7),
  /// corrupt, io, invalid_argument when `out` is too small; then `out` may hold some of the cells.
  /// O(cells of the region + bytes of the sparse blocks that it touches); few columns of many rows
  /// come from the copy by column beside the file, if there is one (sidecar.h). The rules R1 to R8
  /// are in lib/dbdf/FORMAT.md.
  template <Value T>
  void read(const Region& region, std::span<T> out, std::size_t row_stride = 0,
            const ReadOptions& options = {}) const {
    read_to(region, out.data(), out.size(), row_stride, value_type_of<T>(), options);
  }

  /// Returns the same as a vector of rows x cols values. Also throws no_memory when they do not
  /// fit.
  template <Value T>
  std::vector<T> read(const Region& region, const ReadOptions& options = {}) const;

  /// The region's cells except +0.0 (-0.0 and NaN are kept) as three arrays; rows and columns count
  /// from the region's first. Throws what `read` throws, and unsupported for Absent::nan. One pass
  /// over the blocks of the region, or a look at the copy by column, as above. Memory: the result,
  /// and whole COO blocks of which only some rows are wanted, or that have other blocks beside
  /// them.
  /// Col is u32 or u64; throws invalid_argument where it does not hold the columns.
  template <Value T, class Col = std::uint64_t>
  Csr<T, Col> read_csr(const Region& region, const ReadOptions& options = {}) const;

 private:
  friend struct detail::ObjectMaker;
  using BlockedObject::BlockedObject;
};

}  // namespace dapple
