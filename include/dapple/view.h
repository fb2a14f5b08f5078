// Borrowed views of a block's stored values, in place.
//
// A view points into the mapped file. It and its iterators are valid while any copy of the Matrix
// or Frame lives that its block came from. Views are small values, C++20 ranges, and may be used by
// any number of threads. The format packs its bytes, so a payload may start at any address; views
// load through memcpy, which compiles to a single load.
//
// Views check kind, type and extent, and never read outside the block. They do not compare column
// and row indices with the block's shape: `Block::decode` and `verify` do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "dapple/array.h"
#include "dapple/detail.h"
#include "dapple/error.h"
#include "dapple/value_type.h"

namespace dapple {

/// The values of one row, at any address: a random-access range of T.
template <Value T>
class DenseRow {
 public:
  DenseRow() = default;
  DenseRow(const std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// REQUIRES i < size().
  T operator[](std::size_t i) const noexcept { return detail::load<T>(data_ + i * sizeof(T)); }
  detail::IndexIterator<DenseRow> begin() const noexcept { return {*this, 0}; }
  detail::IndexIterator<DenseRow> end() const noexcept {
    return {*this, static_cast<std::ptrdiff_t>(size_)};
  }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_ * sizeof(T)}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Row-major values of a dense block.
template <Value T>
class DenseView {
 public:
  DenseView() = default;
  DenseView(const std::byte* data, std::uint64_t rows, std::uint64_t cols,
            std::size_t row_bytes) noexcept
      : data_(data), rows_(rows), cols_(cols), row_bytes_(row_bytes) {}

  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t cols() const noexcept { return cols_; }

  /// The value at (row, col) of the block. REQUIRES row < rows(), col < cols().
  T operator()(std::uint64_t row, std::uint64_t col) const noexcept {
    return detail::load<T>(data_ + row * row_bytes_ + col * sizeof(T));
  }

  /// REQUIRES row < rows().
  DenseRow<T> row(std::uint64_t row) const noexcept {
    return {row_bytes(row), static_cast<std::size_t>(cols_)};
  }

  /// The first byte of a row of cols() contiguous values. REQUIRES row < rows().
  const std::byte* row_bytes(std::uint64_t row) const noexcept { return data_ + row * row_bytes_; }

  /// Bytes from one row to the next.
  std::size_t row_stride() const noexcept { return row_bytes_; }

  /// All values as one array, if the rows are contiguous and aligned for T (true of tiles that
  /// dapple wrote with the default options).
  std::optional<std::span<const T>> aligned() const noexcept {
    const bool packed = rows_ <= 1 || row_bytes_ == cols_ * sizeof(T);
    if (!packed || reinterpret_cast<std::uintptr_t>(data_) % alignof(T) != 0) return std::nullopt;
    return std::span<const T>(reinterpret_cast<const T*>(data_), rows_ * cols_);
  }

 private:
  const std::byte* data_ = nullptr;
  std::uint64_t rows_ = 0, cols_ = 0;
  std::size_t row_bytes_ = 0;
};

/// One stored cell; in a sparse block, row and col count from the block's first cell.
template <Value T, class Index = std::uint32_t>
struct Triplet {
  Index row = 0;
  Index col = 0;
  T value{};
  friend bool operator==(const Triplet&, const Triplet&) = default;
};

/// Compressed sparse rows as the usual three arrays. The entries of row r are
/// [row_ptr[r], row_ptr[r + 1]) of col_idx and values, in ascending order of columns. The columns
/// of a block fit 32 bits, those of a region need 64.
template <Value T, class Col = std::uint64_t>
struct Csr {
  Array<std::uint64_t> row_ptr;
  Array<Col> col_idx;
  Array<T> values;
};

/// One stored cell of a row: `for (auto [col, value] : row)`.
template <Value T, class Col = std::uint32_t>
struct RowEntry {
  Col col{};
  T value{};
  friend bool operator==(const RowEntry&, const RowEntry&) = default;
};

/// The stored entries of one row of a CSR block, in stored order: a random-access range of
/// RowEntry<T>, whose columns count from the block's first.
template <Value T>
class CsrRow {
 public:
  CsrRow() = default;
  CsrRow(const std::byte* data, std::uint32_t size) noexcept : data_(data), size_(size) {}

  std::uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Of entry i. REQUIRES i < size().
  std::uint32_t col(std::size_t i) const noexcept {
    return detail::load<std::uint32_t>(data_ + i * kStride);
  }
  T value(std::size_t i) const noexcept { return detail::load<T>(data_ + i * kStride + 4); }
  RowEntry<T> operator[](std::size_t i) const noexcept { return {col(i), value(i)}; }
  detail::IndexIterator<CsrRow> begin() const noexcept { return {*this, 0}; }
  detail::IndexIterator<CsrRow> end() const noexcept { return {*this, size_}; }

  static constexpr std::size_t kStride = 4 + sizeof(T);

 private:
  const std::byte* data_ = nullptr;
  std::uint32_t size_ = 0;
};

/// The rows of a CSR block, in place: `for (auto row : view) for (auto [col, value] : row)`. A
/// forward range, because the format interleaves row counts and entries; for random access call
/// `row_offsets()` once.
template <Value T>
class CsrView {
 public:
  CsrView() = default;
  /// `data` holds, per row, a u32 count and that many (u32 column, value) pairs in `size` bytes.
  CsrView(const std::byte* data, std::size_t size, std::uint32_t rows, std::uint32_t cols,
          std::uint64_t nnz) noexcept
      : data_(data), size_(size), rows_(rows), cols_(cols), nnz_(nnz) {}

  std::uint32_t rows() const noexcept { return rows_; }
  std::uint32_t cols() const noexcept { return cols_; }
  std::uint64_t nnz() const noexcept { return nnz_; }

  /// Moving to a row throws corrupt when the block ends before it does.
  class iterator {
   public:
    using value_type = CsrRow<T>;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;  // gives values, not references
    using iterator_concept = std::forward_iterator_tag;

    iterator() = default;
    iterator(const std::byte* p, std::size_t left, std::uint32_t rows_left)
        : p_(p), left_(left), rows_left_(rows_left) {
      if (rows_left_ > 0) read_count();
    }
    CsrRow<T> operator*() const noexcept { return {p_ + 4, count_}; }
    iterator& operator++() {
      const std::size_t step = 4 + std::size_t{count_} * CsrRow<T>::kStride;
      p_ += step;
      left_ -= step;
      if (--rows_left_ > 0) read_count();
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept {
      return a.rows_left_ == b.rows_left_;
    }

   private:
    void read_count() {
      if (left_ < 4) throw Error(Errc::corrupt, "a CSR block ends before its last row (R4)");
      count_ = detail::load<std::uint32_t>(p_);
      if (count_ > (left_ - 4) / CsrRow<T>::kStride) {
        throw Error(Errc::corrupt, "a CSR row holds more entries than its block has left (R5)");
      }
    }
    const std::byte* p_ = nullptr;
    std::size_t left_ = 0;
    std::uint32_t rows_left_ = 0;
    std::uint32_t count_ = 0;
  };

  iterator begin() const { return {data_, size_, rows_}; }
  iterator end() const noexcept { return {}; }

  /// For each row, the offset in bytes of its count from that of the first row. O(rows). Throws
  /// corrupt.
  std::vector<std::uint64_t> row_offsets() const {
    std::vector<std::uint64_t> offsets;
    offsets.reserve(rows_);
    std::uint64_t at = 0;
    for (CsrRow<T> row : *this) {
      offsets.push_back(at);
      at += 4 + std::uint64_t{row.size()} * CsrRow<T>::kStride;
    }
    return offsets;
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t rows_ = 0, cols_ = 0;
  std::uint64_t nnz_ = 0;
};

/// Stored entries of a COO block, in place and in stored order: a random-access range of
/// Triplet<T>. A block of exactly one column stores no column indices (DAPHNE binary format,
/// "Blocks with a single column").
template <Value T>
class CooView {
 public:
  CooView() = default;
  CooView(const std::byte* data, std::uint32_t nnz, std::uint32_t rows, std::uint32_t cols) noexcept
      : data_(data), nnz_(nnz), rows_(rows), cols_(cols) {}

  std::uint32_t rows() const noexcept { return rows_; }
  std::uint32_t cols() const noexcept { return cols_; }
  std::uint32_t size() const noexcept { return nnz_; }
  bool empty() const noexcept { return nnz_ == 0; }

  /// Entry i. REQUIRES i < size().
  Triplet<T> operator[](std::size_t i) const noexcept {
    if (cols_ == 1) {
      const std::byte* p = data_ + i * (4 + sizeof(T));
      return {detail::load<std::uint32_t>(p), 0, detail::load<T>(p + 4)};
    }
    const std::byte* p = data_ + i * (8 + sizeof(T));
    return {detail::load<std::uint32_t>(p), detail::load<std::uint32_t>(p + 4),
            detail::load<T>(p + 8)};
  }
  detail::IndexIterator<CooView> begin() const noexcept { return {*this, 0}; }
  detail::IndexIterator<CooView> end() const noexcept { return {*this, nnz_}; }

 private:
  const std::byte* data_ = nullptr;
  std::uint32_t nnz_ = 0, rows_ = 0, cols_ = 0;
};

}  // namespace dapple

// Iterators do not refer to their view, and views are cheap to copy.
template <dapple::Value T>
inline constexpr bool std::ranges::enable_borrowed_range<dapple::DenseRow<T>> = true;
template <dapple::Value T>
inline constexpr bool std::ranges::enable_view<dapple::DenseRow<T>> = true;
template <dapple::Value T>
inline constexpr bool std::ranges::enable_borrowed_range<dapple::CsrRow<T>> = true;
template <dapple::Value T>
inline constexpr bool std::ranges::enable_view<dapple::CsrRow<T>> = true;
template <dapple::Value T>
inline constexpr bool std::ranges::enable_borrowed_range<dapple::CsrView<T>> = true;
template <dapple::Value T>
inline constexpr bool std::ranges::enable_view<dapple::CsrView<T>> = true;
template <dapple::Value T>
inline constexpr bool std::ranges::enable_borrowed_range<dapple::CooView<T>> = true;
template <dapple::Value T>
inline constexpr bool std::ranges::enable_view<dapple::CooView<T>> = true;
