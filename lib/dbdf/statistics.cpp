#include "lib/dbdf/statistics.h"

#include <algorithm>
#include <cstring>

#include "lib/base/parallel.h"
#include "lib/compute/block_tally.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/sidecar.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

namespace {

// In version 1, squares of floats and of 64-bit integers are sums in f64.
constexpr std::uint64_t kOldStatistics = 1, kStatisticsVersion = 2;

/// Positions in the line before the table.
namespace statistics_at {
constexpr std::size_t tag = 0, version = 8, count = 16, index_hash = 24;
}

std::uint64_t content_bytes(std::uint64_t blocks) { return kLine + blocks * BlockStats::kBytes; }

}  // namespace

std::vector<std::byte> emit_statistics(const BlockIndex& index, std::span<const BlockStats> stats) {
  std::vector<std::byte> content(content_bytes(index.size()));
  std::byte* const p = content.data();
  std::memcpy(p + statistics_at::tag, kStatisticsTag.data(), kStatisticsTag.size());
  store_le(p + statistics_at::version, kStatisticsVersion);
  store_le(p + statistics_at::count, index.size());
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    stats[i].store(p + kLine + index.in_file_order(i) * BlockStats::kBytes);
  }
  return content;
}

void bind_statistics(HintWriter& hints, const BlockIndex& index, std::uint64_t header_hash,
                     std::span<const std::byte> head_copy) {
  const std::span<std::byte> content = hints.find(kStatisticsTag);
  if (content.empty()) return;
  store_le(content.data() + statistics_at::index_hash,
           emit_table(
               index, header_hash, [](std::span<const std::byte>) {}, head_copy));
}

std::vector<BlockStats> scan_statistics(const Store& store, unsigned threads) {
  constexpr std::uint64_t kRun = 64;  // blocks that a thread takes at once
  const BlockIndex& index = store.index();
  std::vector<BlockStats> stats(index.size());
  parallel_for((index.size() + kRun - 1) / kRun, threads, [&](std::uint64_t run) {
    std::uint64_t i = run * kRun;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t k = i; k < std::min(i + kRun, index.size()); ++k) {
      numbers.push_back(index.in_file_order(k));
    }
    store.watched_blocks(numbers, [&](std::uint64_t number, const Entry& entry) {
      store.confirm_entry(number, entry);
      stats[i++] = scan_block(store, entry);
    });
  });
  return stats;
}

bool statistics_pay(const BlockIndex& index) {
  constexpr std::uint64_t kStatisticsShare =
      32;  // the table may take 1/32 of the bytes of the blocks
  const std::uint64_t least = content_bytes(index.size()) * kStatisticsShare;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < index.size() && bytes < least; ++i) bytes += index.entry(i).bytes;
  return index.size() > 0 && bytes >= least;
}

namespace {

/// The table for this number of blocks before the index that `trailer` belongs to; nullptr when
/// there is none, or it fails a check.
std::unique_ptr<const BlockStatsTable> find_table(std::shared_ptr<const ByteSource> file,
                                                  std::uint64_t first, const Trailer& trailer,
                                                  std::uint64_t blocks) {
  if (!trailer.hints || trailer.place.count != blocks) return nullptr;
  std::optional<Hint> hint;
  try {
    hint = find_hint(*file, first, trailer, kStatisticsTag);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    return nullptr;
  }
  if (!hint || hint->bytes < kLine || (hint->bytes - kLine) / BlockStats::kBytes != blocks ||
      hint->bytes != content_bytes(blocks) || !is_whole(*file, *hint)) {
    return nullptr;
  }
  const std::byte* const p = file->at(hint->offset, kLine);
  const auto version = load_le<std::uint64_t>(p + statistics_at::version);
  if ((version != kStatisticsVersion && version != kOldStatistics) ||
      load_le<std::uint64_t>(p + statistics_at::count) != blocks ||
      load_le<std::uint64_t>(p + statistics_at::index_hash) != trailer.table_hash) {
    return nullptr;
  }
  return std::make_unique<BlockStatsTable>(std::move(file), hint->offset + kLine, blocks,
                                           version == kOldStatistics);
}

/// True when both have the same blocks under the same numbers.
bool same_blocks(const BlockIndex& a, const BlockIndex& b) {
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    if (a.entry(i).info() != b.entry(i).info()) return false;
  }
  return true;
}

}  // namespace

namespace {

std::unique_ptr<const BlockStatsTable> find_known(const Store& store) {
  const std::shared_ptr<ByteSource>& file = store.shared_file();
  const BlockIndex& index = store.index();
  std::uint64_t body = 0;
  const Schema schema = read_header(*file, body);
  std::unique_ptr<const BlockStatsTable> within;
  if (store.tells_of_blocks()) {
    within = find_statistics(store, body);
    if (within != nullptr && !within->old()) return within;
  }
  // A file with an index but without statistics of this version may have a sidecar with them.
  Sidecar sidecar = find_sidecar(*file, body);
  if (sidecar.state != SidecarState::fresh || index.origin() == IndexOrigin::scanned) {
    return within;
  }
  auto table = find_table(sidecar.file, kLine, sidecar.trailer, index.size());
  if (table == nullptr) return within;
  if (index.origin() == IndexOrigin::sidecar) return table;
  if (!complete(sidecar.trailer.place, schema.rows, schema.cols)) return within;
  const BlockIndex beside = index_at(sidecar.file, sidecar.trailer, IndexOrigin::sidecar);
  return same_blocks(index, beside) ? std::move(table) : std::move(within);
}

}  // namespace

std::unique_ptr<const BlockStatsTable> find_statistics(const Store& store, std::uint64_t first) {
  const auto trailer = find_trailer(store.file(), first);
  if (!trailer) return nullptr;
  return find_table(store.shared_file(), first, *trailer, store.index().size());
}

std::unique_ptr<const BlockStatsTable> find_statistics(const Store& store) {
  auto table = find_known(store);
  // What statistics answer without a look at a block depends on the shape of tiles.
  if (table != nullptr && store.index().grid()) store.confirm_entry(0, store.index().entry(0));
  return table;
}

void check_statistics(const Store& store, std::vector<Error>& findings) {
  const BlockStatsTable* const known = store.block_stats();
  if (known == nullptr) return;
  for (std::uint64_t number = 0; number < known->size(); ++number) {
    const Entry entry = store.confirmed_entry(number);
    const BlockStats stats = (*known)[number];
    if (!stats.type() || stats.agrees(scan_block(store, entry), entry.stored)) continue;
    findings.emplace_back(
        Errc::corrupt, known->file().name(), known->byte_of(number),
        "the statistics of block " + text(entry.pos) + " are not those of its values");
  }
}

}  // namespace dapple::detail::dbdf
