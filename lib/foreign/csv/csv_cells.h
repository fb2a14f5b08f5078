// The cells of one column of delimited text, as they are parsed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dapple::detail::csv {

/// Cells in the order of the rows, eight bytes each. Those of a column of numbers are integers
/// until a float comes, and floats from then on; others are what the column is known to hold:
/// codes, ticks, truth values, or numbers of a given type.
class ColumnCells {
 public:
  enum class As : std::uint8_t { integers, floats, values };

  explicit ColumnCells(As as = As::integers) noexcept : start_(as), as_(as) {}

  std::size_t size() const noexcept { return size_; }
  As as() const noexcept { return as_; }
  /// An integer above the greatest of i64 is among them, and none is negative.
  bool large() const noexcept { return large_; }
  /// One of them is negative; REQUIRES integers.
  bool negative() const noexcept { return negative_; }
  std::span<const std::uint64_t> bits() const noexcept { return {bits_.data(), size_}; }
  /// The numbers of the cells that are missing; their bits are zero.
  const std::vector<std::uint32_t>& missing() const noexcept { return missing_; }

  /// Makes room for `n` more, without which none may be put.
  void reserve(std::size_t n) {
    if (bits_.size() - size_ < n) bits_.resize(std::max(2 * bits_.size(), size_ + n));
  }
  /// Where the next cells go, for which there is room; `took` says how many were written there.
  std::uint64_t* room() noexcept { return bits_.data() + size_; }
  void took(std::size_t n, bool negative) noexcept {
    size_ += n;
    negative_ |= negative;
  }
  void put_integer(std::int64_t value) {
    if (as_ == As::floats) return put(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    if (value < 0 && large_) to_floats();
    if (as_ == As::floats) return put_integer(value);
    negative_ |= value < 0;
    put(static_cast<std::uint64_t>(value));
  }
  /// An integer that i64 does not hold.
  void put_large(std::uint64_t value) {
    if (negative_) to_floats();
    if (as_ == As::floats) return put(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    large_ = true;
    put(value);
  }
  void put_float(double value) {
    if (as_ != As::floats) to_floats();
    put(std::bit_cast<std::uint64_t>(value));
  }
  void put(std::uint64_t bits) noexcept { bits_[size_++] = bits; }
  void put_missing() {
    missing_.push_back(static_cast<std::uint32_t>(size_));
    put(0);
  }
  /// Says what a cell is that was put before it was known.
  void set(std::size_t i, std::uint64_t bits) noexcept { bits_[i] = bits; }

  /// Adds cells [begin, end) of another part of the column.
  void append(ColumnCells& later, std::size_t begin, std::size_t end) {
    const bool mixed = (large_ && later.negative_) || (negative_ && later.large_);
    if (mixed || as_ != later.as_) {
      to_floats();
      later.to_floats();
    }
    large_ |= later.large_;
    negative_ |= later.negative_;
    const auto before = static_cast<std::uint32_t>(size_ - begin);
    for (auto it = std::lower_bound(later.missing_.begin(), later.missing_.end(), begin);
         it != later.missing_.end() && *it < end; ++it) {
      missing_.push_back(*it + before);
    }
    reserve(end - begin);
    std::copy(later.bits_.data() + begin, later.bits_.data() + end, bits_.data() + size_);
    size_ += end - begin;
  }
  /// Replaces each code with another. What is none becomes 0.
  void translate(std::span<const std::uint32_t> codes) noexcept {
    for (std::size_t i = 0; i < size_; ++i)
      bits_[i] = bits_[i] < codes.size() ? codes[bits_[i]] : 0;
  }
  /// The cells of a column of integers as floats, rounded where they must be.
  void to_floats() noexcept {
    if (as_ != As::integers) return;
    for (std::size_t i = 0; i < size_; ++i) {
      const auto value = large_ ? static_cast<double>(bits_[i])
                                : static_cast<double>(static_cast<std::int64_t>(bits_[i]));
      bits_[i] = std::bit_cast<std::uint64_t>(value);
    }
    for (const std::uint32_t i : missing_) bits_[i] = 0;
    as_ = As::floats;
    large_ = negative_ = false;
  }
  /// None, as at the start.
  void clear() noexcept {
    size_ = 0;
    missing_.clear();
    as_ = start_;
    large_ = negative_ = false;
  }

 private:
  std::vector<std::uint64_t> bits_;  // of which `size_` are put
  std::size_t size_ = 0;
  std::vector<std::uint32_t> missing_;
  As start_, as_;
  bool large_ = false, negative_ = false;
};

}  // namespace dapple::detail::csv
