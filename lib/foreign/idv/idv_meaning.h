// What columns of a file mean: the words of keys and texts, and times in units of ours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dapple/column.h"
#include "lib/foreign/idv/idv_toc.h"
#include "lib/object/lazy_words.h"

namespace dapple::detail::idv {

/// Ticks of .NET, 100 ns each, between a date's first, the year 1, and 1970.
inline constexpr std::int64_t kEpochTicks = 621'355'968'000'000'000;

/// 9999-12-31T23:59:59.9999999, the last that .NET's DateTime holds.
inline constexpr std::int64_t kMostTicks = 3'155'378'975'999'999'999;

/// How the file's ticks become ticks of a column: (ticks - epoch) * times / over.
struct TickScale {
  std::int64_t epoch = 0, times = 1, over = 1;

  bool is_identity() const noexcept { return epoch == 0 && times == 1 && over == 1; }
  /// Nothing when 64 bits do not hold the result exactly. The smallest number, a missing date of
  /// old files, stays what it is.
  std::optional<std::int64_t> to_column(std::int64_t ticks) const noexcept;
  std::optional<std::int64_t> to_file(std::int64_t value) const noexcept;
};

/// The scale between ticks of .NET and of this unit.
TickScale scale_of(TimeUnit unit, bool since_1970) noexcept;

/// The entry of a key's metadata that has a value for each of its codes, or null.
const MetadataEntry* find_key_values(const TocColumn& column,
                                     const std::vector<MetadataEntry>& metadata) noexcept;

/// How the cells of a column of the file are read.
struct ColumnCells {
  Meaning meaning{};
  TickScale scale{};
  std::shared_ptr<const LazyWords> texts{};  // of a column of texts
};

/// Of part `part` of the items of a column. Times that are no multiple of any unit of ours, or
/// beyond it, stay the file's ticks, numbers without a meaning; all blocks of a time column are
/// read to find out. Throws corrupt.
ColumnCells cells_of(const std::shared_ptr<ByteSource>& file, const Header& header,
                     const TocColumn& column, const std::vector<MetadataEntry>& metadata,
                     std::uint32_t part);

}  // namespace dapple::detail::idv
