// Statistics of the values that a block stores, as in the file (lib/dbdf/FORMAT.md, "Statistics").
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "lib/base/bytes.h"
#include "lib/cells/tally.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// The statistics of the values that a block stores, explicit zeros included. Zeros that a sparse
/// block does not store are not counted. Eight words, as in the file.
class BlockStats {
 public:
  static constexpr std::size_t kBytes = 64;

  /// Nothing is known.
  BlockStats() = default;

  template <Value T>
  static BlockStats of(const TallyOf<T>& tally) noexcept {
    BlockStats s;
    s.words_[0] = tally.nonzero | std::uint64_t{static_cast<std::uint8_t>(value_type_of<T>())}
                                      << 56;
    using Extreme = Wide<decltype(tally.min)>;
    const bool any = tally.min <= tally.max;
    s.words_[2] = to_bits(any ? Extreme{tally.min} : Extreme{1});
    s.words_[3] = to_bits(any ? Extreme{tally.max} : Extreme{0});
    if constexpr (std::is_floating_point_v<T>) {
      s.words_[1] = tally.nans;
      s.set_moments(tally.moments());
    } else {
      s.set_sums(static_cast<Uint128>(Int128{tally.sum}), tally.squares);
    }
    return s;
  }

  static BlockStats load(const std::byte* p) noexcept {
    BlockStats s;
    for (std::size_t i = 0; i < s.words_.size(); ++i)
      s.words_[i] = load_le<std::uint64_t>(p + i * 8);
    return s;
  }
  void store(std::byte* p) const noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) store_le(p + i * 8, words_[i]);
  }

  /// The type of the values; nothing when nothing is known.
  std::optional<ValueType> type() const noexcept {
    return value_type_of_code(static_cast<std::uint8_t>(words_[0] >> 56));
  }
  /// Values that are neither zero nor NaN.
  std::uint64_t nonzero() const noexcept { return words_[0] & ~std::uint64_t{0} >> 8; }
  std::uint64_t nans() const noexcept { return type() && is_float(*type()) ? words_[1] : 0; }

  /// False where a table of version 1 has squares that were rounded before they were added: there
  /// is no variance in `tally()`, nor the number of floats.
  bool knows_spread() const noexcept {
    const auto t = type();
    return !t || size_of(*t) < 4 || words_[spread_mark(*t)] != kUnknown;
  }
  /// Makes that of statistics that were loaded from that table.
  void drop_rounded() noexcept {
    const auto t = type();
    if (t && (is_float(*t) || size_of(*t) == 8)) words_[spread_mark(*t)] = kUnknown;
  }

  /// REQUIRES that T is `type()`.
  template <Value T>
  TallyOf<T> tally() const noexcept {
    TallyOf<T> tally;
    tally.nonzero = nonzero();
    if constexpr (std::is_floating_point_v<T>) tally.nans = nans();
    using Extreme = Wide<decltype(tally.min)>;
    const auto min = from_bits<Extreme>(words_[2]), max = from_bits<Extreme>(words_[3]);
    if (min <= max) {
      tally.min = static_cast<decltype(tally.min)>(min);
      tally.max = static_cast<decltype(tally.max)>(max);
    }
    if constexpr (std::is_floating_point_v<T>) {
      tally.settled = {words_[7],
                       {from_bits<double>(words_[4]), from_bits<double>(words_[5])},
                       {from_bits<double>(words_[6]), 0}};
    } else {
      tally.sum = static_cast<decltype(tally.sum)>(wide(4));
      if constexpr (sizeof(T) == 8) {
        tally.squares = {wide(6), words_[1]};
      } else {
        tally.squares = wide(6);
      }
    }
    return tally;
  }

  /// Adds the statistics of further values of the same type.
  void merge(const BlockStats& other) noexcept;

  /// True when both may be statistics of the same `n` values. Sums of floats depend on the order of
  /// addition, and may differ a little.
  bool agrees(const BlockStats& other, std::uint64_t n) const noexcept;

  friend bool operator==(const BlockStats&, const BlockStats&) = default;

 private:
  template <class Extreme>
  using Wide = std::conditional_t<
      std::is_floating_point_v<Extreme>, double,
      std::conditional_t<std::is_signed_v<Extreme>, std::int64_t, std::uint64_t>>;

  template <class W>
  static std::uint64_t to_bits(W value) noexcept {
    return std::bit_cast<std::uint64_t>(value);
  }
  template <class W>
  static W from_bits(std::uint64_t bits) noexcept {
    return std::bit_cast<W>(bits);
  }
  // In words that are never so large.
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  static std::size_t spread_mark(ValueType t) noexcept { return is_float(t) ? 7 : 1; }

  Uint128 wide(std::size_t at) const noexcept { return Uint128{words_[at + 1]} << 64 | words_[at]; }
  void set_wide(std::size_t at, Uint128 sum) noexcept {
    words_[at] = static_cast<std::uint64_t>(sum);
    words_[at + 1] = static_cast<std::uint64_t>(sum >> 64);
  }
  void set_sums(Uint128 sum, Uint128 squares) noexcept {
    set_wide(4, sum);
    set_wide(6, squares);
  }
  void set_sums(Uint128 sum, const Uint192& squares) noexcept {
    set_sums(sum, squares.low);
    words_[1] = squares.high;
  }
  void set_moments(const Moments& moments) noexcept;

  std::array<std::uint64_t, 8> words_{};
};

/// The statistics of rows x cols values of `type`, rows `row_step` bytes apart, for a block that
/// stores them as `stored`. REQUIRES that they fit that type.
BlockStats stats_of_values(ValueType stored, ValueType type, const std::byte* values,
                           std::uint64_t rows, std::uint64_t cols, std::size_t row_step);

/// The statistics of all blocks of an object, by number, in a mapped file.
class BlockStatsTable {
 public:
  /// REQUIRES that the file holds `count` of them from byte `offset` on. Those of an `old` table do
  /// not all know their spread.
  BlockStatsTable(std::shared_ptr<const ByteSource> file, std::uint64_t offset, std::uint64_t count,
                  bool old);

  std::uint64_t size() const noexcept { return count_; }
  bool old() const noexcept { return old_; }
  /// The file that holds them, which may be a sidecar, and where in it those of a block are.
  const ByteSource& file() const noexcept { return *file_; }
  std::uint64_t byte_of(std::uint64_t number) const noexcept {
    return offset_ + number * BlockStats::kBytes;
  }
  /// REQUIRES number < size().
  BlockStats operator[](std::uint64_t number) const noexcept {
    BlockStats stats = BlockStats::load(first_ + number * BlockStats::kBytes);
    if (old_) stats.drop_rounded();
    return stats;
  }

 private:
  std::shared_ptr<const ByteSource> file_;
  std::uint64_t offset_;
  const std::byte* first_;
  std::uint64_t count_;
  bool old_;
};

}  // namespace dapple::detail
