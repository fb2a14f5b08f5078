// Reading a region: decoding the blocks that it touches, straight into place.

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "lib/base/at_once.h"
#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/text.h"
#include "lib/cache/block_cache.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/stream_copy.h"
#include "lib/object/column_runs.h"
#include "lib/object/decoded_cells.h"
#include "lib/object/fill.h"
#include "lib/object/store.h"
#include "lib/object/target.h"

namespace dapple::detail {

namespace {

/// Bytes in a row in a file, from which on the system's own reading ahead is as good as being
/// asked.
constexpr std::uint64_t kReadOn = 4 << 20;

}  // namespace

Target target_for(void* out, std::size_t size, std::size_t row_stride, ValueType type,
                  std::uint64_t rows, std::uint64_t cols) {
  if (row_stride == 0) row_stride = cols;
  const bool fits =
      rows == 0 || cols == 0 ||
      (cols <= size &&
       (rows == 1 || (row_stride >= cols && (rows - 1) <= (size - cols) / row_stride)));
  if (!fits && rows > 1 && row_stride < cols) {
    throw Error(Errc::invalid_argument, "rows of " + counted(cols, "value") +
                                            " overlap when they are " +
                                            counted(row_stride, "value") + " apart");
  }
  if (!fits) {
    throw Error(Errc::invalid_argument, "a buffer of " + counted(size, "value") +
                                            " is too small for " + counted(rows, "row") + " of " +
                                            counted(cols, "value") + ", " +
                                            counted(row_stride, "value") + " apart");
  }
  const std::size_t value = size_of(type);
  return {static_cast<std::byte*>(out), type, row_stride * value, value};
}

Target Target::streamed_if_large(std::uint64_t rows, std::uint64_t cols) const noexcept {
  Target target = *this;
  const std::uint64_t most = kStreamBytes / size_of(type);
  target.streamed = cols != 0 && rows >= (most - 1) / cols + 1;
  return target;
}

void Store::read(const Region& region, const Target& out, const ReadOptions& options) const {
  const Target target = out.streamed_if_large(region.rows.size(), region.cols.size());
  watched([&] { read_blocks(region, target, options); });
}

void Store::read_block(const Entry& entry, const Part& part, const Target& out) const {
  driver_->read(*this, entry, part, out);
  if (out.streamed) finish_streams();
}

void Store::fill_nan(const Target& out, const Region& region) const {
  if (!is_float(out.type)) {
    const bool frame = schema_.kind == ObjectKind::frame;
    throw Error(Errc::type_mismatch, blocks_->name(), std::nullopt,
                (frame ? "column " + shown(schema_.columns[region.cols.begin].label) + ": "
                       : std::string()) +
                    "some cells are absent, and " + std::string(name(out.type)) +
                    " has no NaN (R7)",
                "absent");
  }
  const std::uint64_t bits =
      out.type == ValueType::f64
          ? std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())
          : std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
  for (std::uint64_t r = 0; r < region.rows.size(); ++r) {
    for (std::uint64_t c = 0; c < region.cols.size(); ++c)
      store_bits(out.type, out.cell(r, c), bits);
  }
}

void Store::read_blocks(const Region& region, const Target& out, const ReadOptions& options) const {
  const bool as_nan = options.absent == Absent::nan;
  const auto [numbers, whole] = covering(region, as_nan ? Absent::zero : options.absent);
  if (!whole && as_nan) {
    fill_nan(out, region);
  } else if (!whole) {
    fill_zero(out, region.rows.size(), region.cols.size());
  }
  const auto others = receive(numbers, region, out, options.keep);
  const std::span<const std::uint64_t> all(others ? *others : numbers);
  // While one batch is decoded, the next is on its way from storage.
  // Two batches from far away have to have room to wait (RangedSource::Habits), with gaps.
  const bool fetches = blocks_->fetches();
  const std::uint64_t batch_bytes = fetches ? 24 << 20 : 32 << 20;
  constexpr std::size_t kSteps = 64;  // that threads take, in each batch
  const auto batch_at = [&](std::size_t first) {
    return first_of(all.subspan(first), batch_bytes);
  };
  auto batch = batch_at(0);
  ask_for(batch, region);
  for (std::size_t first = batch.size(); !batch.empty(); first += batch.size()) {
    const auto next = batch_at(first);
    std::optional<Meanwhile> on_its_way;
    if (fetches && !next.empty()) {
      on_its_way.emplace([this, next, &region] { ask_for(next, region); });
    } else {
      ask_for(next, region);
    }
    const std::size_t steps = std::min(batch.size(), kSteps);
    parallel_for(steps, options.threads, [&](std::size_t i) {
      const std::size_t begin = i * batch.size() / steps, end = (i + 1) * batch.size() / steps;
      const auto read_one = [&](std::uint64_t number, const Entry& e) {
        const Part part = confirmed_part(number, e, region);
        Target target = out;
        target.data = out.cell(e.pos.rx + part.rows.begin - region.rows.begin,
                               e.pos.cx + part.cols.begin - region.cols.begin);
        read_block(e, part, target);
      };
      watched_blocks(batch.subspan(begin, end - begin), read_one, region);
    });
    batch = next;
  }
}

void Store::read_rows(Range rows, std::span<const ColumnBuffer> columns,
                      const ReadOptions& options) const {
  for (const ColumnBuffer& c : columns) {
    require_inside({rows, {c.col, c.col + 1}});
    require_known(c.value_type);
  }
  if (rows.empty()) return;
  if (driver_->read_rows != nullptr) {
    return watched([&] { driver_->read_rows(*this, rows, columns, options); });
  }
  std::vector<Target> targets;
  std::vector<Region> regions;
  for_each_column_run(columns, [&](Range cols, const Target& out) {
    targets.push_back(out);
    regions.push_back({rows, cols});
  });
  const auto bands =
      regions.size() > 1 ? bands_of_files(rows, columns[0].col) : std::vector<Range>{rows};
  // Many runs at once, or many blocks of each.
  const bool many = regions.size() >= worker_limit(options.threads);
  ReadOptions each = options;
  if (many) each.threads = 1;
  for (const Range& band : bands) {
    for (Region& region : regions) region.rows = band;
    ask_for_some(regions);
    parallel_for(regions.size(), many ? options.threads : 1,
                 [&](std::uint64_t i) { read(regions[i], targets[i], each); });
    for (Target& target : targets) target.data += band.size() * target.row_step;
  }
}

std::vector<Range> Store::bands_of_files(Range rows, std::uint64_t col) const {
  const std::uint64_t most = blocks_->files_kept_open();
  if (most == 0) return {rows};
  std::vector<std::uint64_t> starts;  // of the blocks, of which each may be in a file of its own
  watched([&] {
    for (const std::uint64_t number : index_.touching({rows, {col, col + 1}})) {
      starts.push_back(std::clamp(index_.entry(number).pos.rx, rows.begin, rows.end));
    }
  });
  std::sort(starts.begin(), starts.end());
  std::vector<Range> bands;
  std::uint64_t begin = rows.begin;
  for (std::size_t i = most; i < starts.size(); i += most) {
    if (starts[i] > begin) bands.push_back({begin, starts[i]});
    begin = starts[i];
  }
  bands.push_back({begin, rows.end});
  return bands;
}

void Store::entries(const Entry& entry, const Part& part, const CellRun::Take& take) const {
  CellRun run(take);
  driver_->entries(*this, entry, part, run);
  run.flush();
}

// Prefetches exactly the bytes of these blocks. Otherwise a page fault makes the system read ahead
// megabytes: ten times the bytes, and the time, for cold tiles of 512 KiB. Neighbours in the file
// are requested together.
void Store::ask_for(std::span<const std::uint64_t> numbers, const Region& region,
                    Needs needs) const {
  if (driver_->will_need != nullptr) {  // blocks without headers
    if (needs != Needs::cells) return;
    std::vector<Region> regions;
    for (const std::uint64_t number : numbers) {
      regions.push_back(intersect(index_.entry(number).cells(), region));
    }
    return driver_->will_need(*this, regions);
  }
  constexpr std::uint64_t kPosition = 16;    // bytes before a block, sometimes on another page
  constexpr std::uint64_t kHeader = 64;      // no header has more
  constexpr std::uint64_t kNear = 64 << 10;  // a gap that is cheaper to read than to leave out
  std::vector<Range> wanted;
  bool known = true;  // all of them were read before
  for (const std::uint64_t number : numbers) {
    const bool again = blocks_->outgrows_memory() || (blocks_->fetches() && needs == Needs::cells);
    const bool compared = checked_.was_compared(number);
    if (compared && !again) continue;
    known &= compared;
    const Entry e = index_.entry(number);
    if (blocks_->fetches() && is_cached(e)) continue;
    if (e.offset > blocks_->size() || e.bytes > blocks_->size() - e.offset) continue;
    const std::uint64_t n = needs == Needs::headers ? std::min(e.bytes, kHeader) : e.bytes;
    const Range bytes{e.offset - std::min(e.offset, kPosition), e.offset + n};
    const bool apart = blocks_->fetches() && needs == Needs::cells;  // so are they held
    if (!apart && !wanted.empty() && bytes.begin >= wanted.back().begin &&
        bytes.begin <= wanted.back().end + kNear) {
      wanted.back().end = std::max(wanted.back().end, bytes.end);
    } else {
      wanted.push_back(bytes);
      if (apart && !compared && checks_hashes()) wanted.push_back(bytes);  // they are taken twice
    }
  }
  if (known && !blocks_->fetches()) {
    std::erase_if(wanted, [](const Range& range) { return range.size() > kReadOn; });
  }
  blocks_->will_need(wanted);
}

/// True when the bytes of a block, or what they decode to, are in the cache.
bool Store::is_cached(const Entry& e) const {
  const auto finds = [&](std::uint64_t at) {
    return block_cache().find({blocks_->number(), at}).value != nullptr;
  };
  return finds(e.offset) || (e.codec != 0 && finds(encoded_key(e)));
}

/// What of a block is fetched.
std::uint64_t Store::bytes_to_fetch(const Entry& e) const noexcept {
  const bool is_beside = driver_->will_need != nullptr;  // and has no bytes of its own
  return is_beside ? e.stored * size_of(e.value_type) : e.bytes;
}

/// Blocks from the first on, up to the one with which they take `most` bytes; otherwise all.
std::span<const std::uint64_t> Store::first_of(std::span<const std::uint64_t> numbers,
                                               std::uint64_t most) const {
  std::size_t n = 0;
  for (std::uint64_t bytes = 0; n < numbers.size() && bytes < most; ++n) {
    bytes += std::min(bytes_to_fetch(index_.entry(numbers[n])), most);
  }
  return numbers.first(n);
}

/// True for much, with little else between it in the file: it is read on and on.
bool Store::follow_each_other(std::span<const std::uint64_t> numbers) const {
  std::uint64_t bytes = 0;
  Range span{~std::uint64_t{0}, 0};
  for (const std::uint64_t number : numbers) {
    const Entry e = index_.entry(number);
    bytes += e.bytes;
    span = {std::min(span.begin, e.offset), std::max(span.end, e.offset)};
  }
  return bytes > kReadOn && span.size() / 2 <= bytes;
}

std::size_t Store::ask_for_some(std::span<const std::uint64_t> numbers, const Region& region,
                                Needs needs) const {
  // Several threads may do this at once, and what they ask for has to wait in memory. Of blocks so
  // small that nothing between their headers is worth leaving out, all is fetched for these.
  constexpr std::uint64_t kBytes = 8 << 20, kBytesOfHeaders = 32 << 20;
  if (!blocks_->fetches()) {
    const auto some = first_of(numbers, kBytes);
    if (!blocks_->outgrows_memory() || follow_each_other(some)) return numbers.size();
    ask_for(first_of(numbers, 2 * kBytes), region, needs);  // what follows is then on its way
    return some.size();
  }
  auto some = first_of(numbers, kBytes);
  if (some.size() == numbers.size()) needs = Needs::cells;
  if (needs == Needs::headers) some = first_of(numbers, kBytesOfHeaders);
  ask_for(some, region, needs);
  return some.size();
}

std::size_t Store::ask_for_some(std::span<const Region> regions) const {
  constexpr std::uint64_t kBytes = 16 << 20;  // of which a few readers at once have room to wait
  constexpr std::size_t kMost = 1 << 16;      // blocks
  if (!blocks_->fetches() || regions.empty()) return regions.size();
  std::vector<std::uint64_t> numbers;
  std::vector<std::size_t> ends;  // of those of each region
  std::vector<Region> inside;
  while (inside.size() < regions.size() && numbers.size() < kMost) {
    const Range rows{0, schema_.rows}, cols{0, schema_.cols};
    inside.push_back(intersect(regions[inside.size()], {rows, cols}));
    const auto some = index_.touching(inside.back());
    numbers.insert(numbers.end(), some.begin(), some.end());
    ends.push_back(numbers.size());
  }
  index_.will_need(numbers);
  std::vector<std::uint64_t> wanted;
  std::unordered_set<std::uint64_t> known;
  std::uint64_t bytes = 0;
  std::size_t n = 0, k = 0;
  for (; n < ends.size() && bytes < kBytes; ++n) {
    for (; k < ends[n] && bytes < kBytes; ++k) {
      if (!known.insert(numbers[k]).second) continue;
      wanted.push_back(numbers[k]);
      bytes += std::min(bytes_to_fetch(index_.entry(numbers[k])), kBytes);
    }
  }
  if (driver_->will_need != nullptr) {
    driver_->will_need(*this, std::span(inside).first(n));
  } else {
    ask_for(wanted, kEverywhere);
  }
  return n;
}

std::uint64_t Store::typical_bytes() const {
  constexpr std::uint64_t kLooks = 16;
  const std::uint64_t blocks = index_.size(), looks = std::min(blocks, kLooks);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < looks; ++i) numbers.push_back(i * (blocks / looks));
  index_.will_need(numbers);
  std::uint64_t bytes = 0;
  for (const std::uint64_t number : numbers) bytes += bytes_to_fetch(index_.entry(number)) / looks;
  return bytes;
}

void Store::prefetch(const Region& region) const {
  require_inside(region);
  blocks_->expect_reads();
  const std::vector<std::uint64_t> numbers = index_.touching(region);
  index_.will_need(numbers);
  ask_for(numbers, region);
}

}  // namespace dapple::detail
