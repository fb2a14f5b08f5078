// The rows of an object, a region or a block, in order, whatever kinds and types its blocks are
// stored in:
//
//   for (const auto row : dapple::stream_rows<float>(matrix))
//     for (const auto [col, value] : row) y[row.number()] += value * x[col];
//
// A row holds the cells that are not positive zero, in ascending order of columns. Rows are decoded
// in bands of some ten thousand entries, in memory that is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "dapple/block.h"
#include "dapple/blocked_object.h"
#include "dapple/detail.h"
#include "dapple/view.h"

namespace dapple {

/// One row. Borrowed: valid until its range moves to the next row.
template <Value T, class Col = std::uint64_t>
class RowView {
 public:
  RowView() = default;
  RowView(std::uint64_t number, const Col* cols, const T* values, std::size_t size) noexcept
      : number_(number), cols_(cols), values_(values), size_(size) {}

  /// Counted from the first row of the region or block.
  std::uint64_t number() const noexcept { return number_; }
  /// The number of cells that are not positive zero.
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Their columns, counted from the first one of the region or block, and their values.
  std::span<const Col> cols() const noexcept { return {cols_, size_}; }
  std::span<const T> values() const noexcept { return {values_, size_}; }
  /// REQUIRES i < size().
  RowEntry<T, Col> operator[](std::size_t i) const noexcept { return {cols_[i], values_[i]}; }

  using iterator = detail::IndexIterator<RowView>;
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, static_cast<std::ptrdiff_t>(size_)}; }

 private:
  std::uint64_t number_ = 0;
  const Col* cols_ = nullptr;
  const T* values_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

/// Bands of rows in three arrays (implementation of RowRange).
template <class Col>
class BandReader {
 public:
  struct Band {
    std::uint64_t first = 0, rows = 0;  // rows between bands are empty
    const std::uint64_t* row_ptr = nullptr;
    const Col* cols = nullptr;
    const void* values = nullptr;
  };

  BandReader(std::shared_ptr<const Store> store, const Region& region, ValueType type,
             const ReadOptions& options);
  ~BandReader();
  BandReader(BandReader&&) noexcept;
  BandReader& operator=(BandReader&&) noexcept;

  std::uint64_t rows() const noexcept;
  /// False after the last band.
  bool next(Band& band);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace detail

/// An input range of all rows, including empty ones: one pass, by one thread. Moving to the next
/// row throws what `Matrix::read` throws. The range of an object keeps its file open, that of a
/// block does not.
template <Value T, class Col = std::uint64_t>
class RowRange {
 public:
  explicit RowRange(detail::BandReader<Col> bands) : bands_(std::move(bands)) {}

  class iterator {
   public:
    using value_type = RowView<T, Col>;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    iterator() = default;
    value_type operator*() const noexcept { return range_->row(); }
    iterator& operator++() {
      range_->advance();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return it.at_end();
    }

   private:
    friend class RowRange;
    // A member, because a friend of a nested class cannot access the enclosing class.
    bool at_end() const noexcept { return range_->number_ == range_->bands_.rows(); }
    explicit iterator(RowRange* range) noexcept : range_(range) {}
    RowRange* range_ = nullptr;
  };

  /// Passes over rows without a cell, of which there may be 2^64: time is that of the others.
  RowRange skip_empty() && noexcept {
    skips_ = true;
    return std::move(*this);
  }
  /// Starts the pass. Call it once.
  iterator begin() {
    settle();
    return iterator(this);
  }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  RowView<T, Col> row() const noexcept {
    if (number_ < band_.first || number_ >= band_.first + band_.rows) {
      return {number_, nullptr, nullptr, 0};
    }
    const std::uint64_t* const at = band_.row_ptr + (number_ - band_.first);
    return {number_, band_.cols + at[0], static_cast<const T*>(band_.values) + at[0],
            at[1] - at[0]};
  }
  void advance() {
    ++number_;
    settle();
  }
  void settle() {
    advance_band();
    while (skips_ && number_ < bands_.rows() && row().empty()) {
      number_ = !more_ ? bands_.rows() : number_ < band_.first ? band_.first : number_ + 1;
      advance_band();
    }
  }
  void advance_band() {
    if (more_ && number_ >= band_.first + band_.rows) more_ = bands_.next(band_);
  }

  detail::BandReader<Col> bands_;
  typename detail::BandReader<Col>::Band band_;
  std::uint64_t number_ = 0;
  bool more_ = true, skips_ = false;
};

/// The rows of a region as values of T, decoded by `options.threads`. Every value must fit T
/// exactly (R6). Throws out_of_range, absent, corrupt; iteration throws type_mismatch, corrupt, io.
/// Memory: a few bands per thread, and each COO block while the range is inside it.
template <Value T>
RowRange<T> stream_rows(const BlockedObject& object, const Region& region,
                        const ReadOptions& options = {}) {
  return RowRange<T>(
      detail::BandReader<std::uint64_t>(object.share(), region, value_type_of<T>(), options));
}

/// The same for all rows.
template <Value T>
RowRange<T> stream_rows(const BlockedObject& object, const ReadOptions& options = {}) {
  return stream_rows<T>(object, {{0, object.rows()}, {0, object.cols()}}, options);
}

template <Value T>
RowRange<T, std::uint32_t> Block::rows() const {
  return RowRange<T, std::uint32_t>(row_bands(value_type_of<T>()));
}

}  // namespace dapple
