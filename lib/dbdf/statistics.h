// The statistics of a file's blocks, as a hint (FORMAT.md, "Statistics").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lib/index/block_index.h"
#include "lib/object/block_stats.h"

namespace dapple::detail::dbdf {

inline constexpr std::string_view kStatisticsTag = "DPL-STAT";

class HintWriter;

/// The content of the hint: `stats` of the blocks of `index`, in file order. It has to be bound.
std::vector<std::byte> emit_statistics(const BlockIndex& index, std::span<const BlockStats> stats);
/// Binds it, if it is among the hints, to the index as it will be written: the other arguments are
/// those of `emit_table`.
void bind_statistics(HintWriter& hints, const BlockIndex& index, std::uint64_t header_hash,
                     std::span<const std::byte> head_copy = {});

/// Computes the statistics of all blocks, in file order. Throws corrupt, type_mismatch, io.
std::vector<BlockStats> scan_statistics(const Store& store, unsigned threads);

/// True when the table is small compared with the blocks, so that it is worth having.
bool statistics_pay(const BlockIndex& index);

/// `Driver::find_stats`. Checks the hint's hash, and that it belongs to the index. O(blocks).
std::unique_ptr<const BlockStatsTable> find_statistics(const Store& store);

/// The same of an index at the end of the store's file, where hints may start at byte `first`.
std::unique_ptr<const BlockStatsTable> find_statistics(const Store& store, std::uint64_t first);

/// Adds a finding for each block whose values do not have the stored statistics. Reads all blocks.
void check_statistics(const Store& store, std::vector<Error>& findings);

}  // namespace dapple::detail::dbdf
