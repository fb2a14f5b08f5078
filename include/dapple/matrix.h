// A matrix in a file: rows() x cols() cells of one value type, stored in blocks.
//
//   const auto m = dapple::Matrix::open("ratings.dbdf");
//   const std::vector<double> part = m.read<double>({{10, 20}, {0, 5}});  // rows 10:20, columns
//   0:5 const auto tiles = m.tiles<double>();                                 // once, for a loop
//   const double x = tiles(0, 0)(10, 0);                                  // in place where it can
//   be
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "dapple/blocked_object.h"
#include "dapple/open.h"

namespace dapple {

/// How a matrix says it is stored: the header's data type, DenseMatrix or CSRMatrix.
enum class Storage : std::uint8_t { dense, csr };

class Matrix : public BlockedObject {
 public:
  /// As `dapple::open`; throws type_mismatch when the file holds a frame.
  static Matrix open(const std::filesystem::path& path, OpenOptions options = {});

  ValueType value_type() const noexcept;
  Storage storage() const noexcept;

  /// Copies the cells of `region` to `out`, row after row, `row_stride` values apart (0: no gap).
  /// Every value must fit T exactly (rule R6). Throws out_of_range, type_mismatch, absent (R7),
  /// corrupt, invalid_argument when `out` is too small. O(cells of the region + bytes of the
  /// sparse blocks that it touches).
  template <Value T>
  void read(const Region& region, std::span<T> out, std::size_t row_stride = 0,
            const ReadOptions& options = {}) const {
    read_to(region, out.data(), out.size(), row_stride, value_type_of<T>(), options);
  }

  /// The same into a new vector of rows x cols values.
  template <Value T>
  std::vector<T> read(const Region& region, const ReadOptions& options = {}) const;

  /// The region's cells that are not positive zero as three arrays; columns count from the
  /// region's first. Errors as `read`. One pass over the rows of the region's blocks. A COO block
  /// is decoded whole, and held in memory while others lie beside it or only some of its rows are
  /// wanted.
  template <Value T>
  Csr<T> read_csr(const Region& region, const ReadOptions& options = {}) const;

 private:
  friend std::variant<Matrix, Frame> open(const std::filesystem::path&, OpenOptions);
  friend std::variant<Matrix, Frame> open_stream(int, std::string, OpenOptions);
  friend std::variant<Matrix, Frame> concat(std::span<const std::variant<Matrix, Frame>>, Axis);
  using BlockedObject::BlockedObject;
};

}  // namespace dapple
