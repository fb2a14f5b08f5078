// Reading what is far away straight into place: cells that are stored as they are wanted, and are
// too many for the cache.

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "lib/cache/block_cache.h"
#include "lib/object/store.h"

namespace dapple::detail {

namespace {

constexpr std::uint64_t kBefore = 16, kFront = 80;  // the position of a block; all of any header

/// A block that is on its way.
struct Coming {
  std::uint64_t number;
  Entry entry;
  std::uint64_t first;                    // byte of the front
  std::array<std::byte, kFront> bytes{};  // of it, with the header, which is compared afterwards
  std::span<std::byte> front{};
  std::span<std::byte> early{};  // where cells that came with the front belong
  std::size_t early_at = 0;      // and where they are in it
};

/// Asks for the front of a block and for the cells of a part, row by row, or all rows as one.
void ask_for_rows(Coming& block, std::uint64_t payload, const Part& part, const Target& out,
                  std::vector<RangeRequest>& wanted) {
  const std::size_t size = size_of(out.type);
  const std::uint64_t row_bytes = block.entry.cols * size, front = block.first + block.front.size();
  std::uint64_t rows = part.rows.size(), n = part.cols.size() * size;
  if (n == row_bytes && out.row_step == row_bytes) n *= std::exchange(rows, 1);
  wanted.push_back({block.first, block.front});
  for (std::uint64_t r = 0; r < rows; ++r) {
    std::uint64_t at = payload + (part.rows.begin + r) * row_bytes + part.cols.begin * size;
    std::span<std::byte> to(out.cell(r, 0), static_cast<std::size_t>(n));
    if (at < front) {  // of the first row alone: no front has a second one
      block.early = to.first(static_cast<std::size_t>(std::min(front - at, n)));
      block.early_at = static_cast<std::size_t>(at - block.first);
      to = to.subspan(block.early.size());
      at += block.early.size();
    }
    if (!to.empty()) wanted.push_back({at, to});
  }
}

}  // namespace

/// True for a dense block whose values are neither packed nor converted, in rows that are worth a
/// place each. Whatever is wrong with others is seen when they are read.
bool Store::comes_as_wanted(const Entry& e, const Region& region, ValueType type) const {
  constexpr std::uint64_t kRow = 256;
  static_assert(kRow > kFront);
  const std::uint64_t row_bytes = std::uint64_t{e.cols} * size_of(type);
  const std::uint64_t header = payload_offset(e) - e.offset;
  const Region both = intersect(e.cells(), region);
  return e.kind == BlockKind::dense && e.codec == 0 && e.value_type == type && !is_recoded(e) &&
         e.offset <= blocks_->size() && e.bytes <= blocks_->size() - e.offset &&
         header <= e.bytes && row_bytes > 0 && e.rows <= (e.bytes - header) / row_bytes &&
         !both.empty() && both.cols.size() * size_of(type) >= kRow &&
         schema_.type_of(both.cols.begin) == type &&
         schema_.end_of_type(both.cols) == both.cols.end && !is_cached(e);
}

/// Reads these blocks if they are not to be kept, or would push most of what it has out of the
/// cache; returns those that have to be decoded, or
/// nothing where that is all of them.
std::optional<std::vector<std::uint64_t>> Store::receive(std::span<const std::uint64_t> numbers,
                                                         const Region& region, const Target& out,
                                                         bool keep) const {
  constexpr std::uint64_t kTogether = 256 << 20;
  if (!blocks_->fetches() || driver_->dense_header < 0 || checks_hashes() ||
      out.col_step != size_of(out.type) ||
      (keep && first_of(numbers, block_cache().budget() / 2).size() == numbers.size()) ||
      !blocks_->receive({})) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> others;
  while (!numbers.empty()) {
    const auto batch = first_of(numbers, kTogether);
    numbers = numbers.subspan(batch.size());
    std::deque<Coming> blocks;  // which do not move
    std::vector<RangeRequest> wanted;
    for (const std::uint64_t number : batch) {
      const Entry e = index_.entry(number);
      if (!comes_as_wanted(e, region, out.type)) {
        others.push_back(number);
        continue;
      }
      require_tile(number, e);
      Coming& block =
          blocks.emplace_back(Coming{number, e, e.offset - std::min(e.offset, kBefore)});
      block.front = std::span(block.bytes)
                        .first(std::min<std::uint64_t>(kFront, blocks_->size() - block.first));
      const Part part = shared_part(e, region);
      Target target = out;
      target.data = out.cell(e.pos.rx + part.rows.begin - region.rows.begin,
                             e.pos.cx + part.cols.begin - region.cols.begin);
      ask_for_rows(block, payload_offset(e), part, target, wanted);
    }
    std::sort(wanted.begin(), wanted.end(),
              [](const RangeRequest& a, const RangeRequest& b) { return a.offset < b.offset; });
    blocks_->receive(wanted);
    for (const Coming& block : blocks) {
      if (!block.early.empty()) {
        std::memcpy(block.early.data(), block.bytes.data() + block.early_at, block.early.size());
      }
      blocks_->take_copy(block.first, block.front);
      confirmed_part(block.number, block.entry, region);
    }
  }
  return others;
}

}  // namespace dapple::detail
