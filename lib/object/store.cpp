#include "lib/object/store.h"

#include <algorithm>
#include <string>

#include "lib/base/parallel.h"
#include "lib/cells/stream_copy.h"
#include "lib/object/column_runs.h"
#include "lib/object/copy_rows.h"
#include "lib/object/fill.h"
#include "lib/object/overlap.h"
#include "lib/object/row_access.h"

namespace dapple::detail {

namespace {

// Areas of regions can exceed 64 bits.
__extension__ using Area = unsigned __int128;

Area area(const Region& region) { return Area{region.rows.size()} * region.cols.size(); }

std::string interval(Range range) {
  return std::to_string(range.begin) + ":" + std::to_string(range.end);
}

}  // namespace

Target Target::streamed_if_large(std::uint64_t rows, std::uint64_t cols) const noexcept {
  Target target = *this;
  target.streamed = Area{rows} * cols >= kStreamBytes / size_of(type);
  return target;
}

Store::Store(std::shared_ptr<MappedFile> file, Schema schema, BlockIndex&& index,
             const Codec& codec, std::unique_ptr<CodecState> state)
    : file_(std::move(file)),
      schema_(std::move(schema)),
      index_(std::move(index)),
      codec_(&codec),
      state_(std::move(state)) {}

void Store::fail(Errc code, std::uint64_t offset, std::string detail) const {
  throw Error(code, file_->name(), offset, std::move(detail));
}

std::string Store::reading(const Entry* block) {
  if (block == nullptr) return "it";
  // An entry without bytes was itself cut off.
  if (block->bytes == 0 && block->pos == BlockPos{0, 0}) return "its index";
  return "block " + text(block->pos);
}

void Store::require_intact(const Entry* block) const {
  file_->prepare_thread();
  if (!file_->is_intact()) file_->fail_changed(reading(block));
}

const BlockIndex* Store::truth() const {
  if (codec_->walk_again == nullptr || index_.origin() == IndexOrigin::scanned) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!truth_) truth_ = codec_->walk_again(*this);
  return &*truth_;
}

void Store::require_whole_index() const {
  if (index_is_whole_.load(std::memory_order_relaxed)) return;
  watched([&] { index_.require_whole(); });
  index_is_whole_.store(true, std::memory_order_relaxed);
}

void Store::fail_missing(const Entry& entry) const {
  const std::string detail =
      "the index does not lead to block " + text(entry.pos) + "; " + std::string(index_.remedy());
  if (index_.origin() == IndexOrigin::sidecar) index_.fail_entry(0, detail);
  fail(Errc::corrupt, entry.offset, detail);
}

std::optional<std::uint64_t> Store::cover(std::uint64_t row, std::uint64_t col) const {
  require_inside({{row, row + 1}, {col, col + 1}});
  const auto number = watched([&] { return index_.cover(row, col); });
  if (number) return number;
  if (const BlockIndex* truth = this->truth()) {
    if (const auto missed = truth->cover(row, col)) fail_missing(truth->entry(*missed));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Store::find(BlockPos pos) const {
  if (pos.rx >= schema_.rows || pos.cx >= schema_.cols) return std::nullopt;
  const auto number = watched([&] { return index_.find(pos); });
  if (number) return number;
  if (const BlockIndex* truth = this->truth()) {
    if (const auto missed = truth->find(pos)) fail_missing(truth->entry(*missed));
  }
  return std::nullopt;
}

void Store::require_inside(const Region& region) const {
  const auto inside = [](Range range, std::uint64_t n) {
    return range.begin <= range.end && range.end <= n;
  };
  if (inside(region.rows, schema_.rows) && inside(region.cols, schema_.cols)) return;
  throw Error(Errc::out_of_range, file_->name(), std::nullopt,
              "expected cells inside " + std::to_string(schema_.rows) + " x " +
                  std::to_string(schema_.cols) + ", got rows " + interval(region.rows) +
                  ", columns " + interval(region.cols));
}

// Nobody has compared the blocks of an index in place with each other, as a walk does.
void Store::require_disjoint(std::span<const std::uint64_t> numbers) const {
  if (!index_.is_in_place() || numbers.size() < 2) return;
  EntryTable entries;
  entries.reserve(numbers.size());
  for (const std::uint64_t number : numbers) entries.push_back(index_.entry(number));
  const auto overlaps = find_overlaps(entries);
  if (overlaps.empty()) return;
  // An entry that lies is to blame itself.
  for (const std::uint64_t i : {overlaps.front().earlier, overlaps.front().later}) {
    confirm_entry(numbers[i], entries[i]);
  }
  throw overlap_error(entries, overlaps.front(), file_->name());
}

// True when the blocks of these numbers, which share no cell, cover the region: their areas add up.
bool Store::cover_all(std::span<const std::uint64_t> numbers, const Region& region) const {
  Area covered = 0;
  for (const std::uint64_t number : numbers) {
    covered += area(intersect(index_.entry(number).cells(), region));
  }
  return covered == area(region);
}

// Halves the region towards its first row, then column, that is not covered: at most 128 looks.
void Store::fail_absent(Region region) const {
  for (Range Region::*side : {&Region::rows, &Region::cols}) {
    while ((region.*side).size() > 1) {
      const std::uint64_t middle = (region.*side).begin + (region.*side).size() / 2;
      Region first = region;
      (first.*side).end = middle;
      if (cover_all(index_.touching(first), first)) {
        (region.*side).begin = middle;
      } else {
        region = first;
      }
    }
  }
  throw Error(Errc::absent, file_->name(), std::nullopt,
              "no block covers cell " + text({region.rows.begin, region.cols.begin}) + " (R7)",
              Remedy::absent_as_zero);
}

// Throws when the blocks that the file has in `region` are not those of the index.
void Store::require_touching(const Region& region, std::span<const std::uint64_t> numbers) const {
  const BlockIndex* truth = this->truth();
  if (truth == nullptr) return;
  auto known = numbers.begin();  // both ascend by position
  for (const std::uint64_t number : truth->touching(region)) {
    const Entry entry = truth->entry(number);
    if (known == numbers.end() || index_.entry(*known++).pos != entry.pos) fail_missing(entry);
  }
}

std::vector<std::uint64_t> Store::covering(const Region& region, Absent absent, bool& whole) const {
  require_inside(region);
  std::vector<std::uint64_t> numbers = index_.touching(region);
  whole = true;
  if (index_.grid() || region.empty()) return numbers;
  require_disjoint(numbers);
  whole = cover_all(numbers, region);
  if (!whole) {
    require_touching(region, numbers);
    if (absent == Absent::error) fail_absent(region);
  }
  return numbers;
}

void Store::require_covered(const Region& region) const {
  bool whole = true;
  watched([&] { covering(region, Absent::error, whole); });
}

void Store::read(const Region& region, const Target& out, const ReadOptions& options) const {
  const Target target = out.streamed_if_large(region.rows.size(), region.cols.size());
  watched([&] { read_blocks(region, target, options); });
}

void Store::read_block(const Entry& entry, const Part& part, const Target& out) const {
  codec_->read(*this, entry, part, out);
  if (out.streamed) finish_streams();
}

void Store::read_blocks(const Region& region, const Target& out, const ReadOptions& options) const {
  bool whole = true;
  const std::vector<std::uint64_t> numbers = covering(region, options.absent, whole);
  if (!whole) fill_zero(out, region.rows.size(), region.cols.size());
  // While one batch is decoded the next is on its way from storage.
  constexpr std::uint64_t kBatchBytes = 32 << 20;
  const auto batch_at = [&](std::size_t first) {
    std::size_t end = first;
    for (std::uint64_t bytes = 0; end < numbers.size() && bytes < kBatchBytes; ++end) {
      bytes += std::min(index_.entry(numbers[end]).bytes, kBatchBytes);
    }
    return std::span(numbers).subspan(first, end - first);
  };
  auto batch = batch_at(0);
  ask_for(batch);
  for (std::size_t first = batch.size(); !batch.empty(); first += batch.size()) {
    const auto next = batch_at(first);
    ask_for(next);
    parallel_for(batch.size(), options.threads, [&](std::size_t i) {
      const Entry entry = index_.entry(batch[i]);
      watched(
          [&] {
            const Part part = confirmed_part(batch[i], entry, region);
            Target target = out;
            target.data = out.cell(entry.pos.rx + part.rows.begin - region.rows.begin,
                                   entry.pos.cx + part.cols.begin - region.cols.begin);
            read_block(entry, part, target);
          },
          &entry);
    });
    batch = next;
  }
}

void Store::read_rows(Range rows, std::span<const ColumnBuffer> columns,
                      const ReadOptions& options) const {
  for (const ColumnBuffer& c : columns) require_inside({rows, {c.col, c.col + 1}});
  if (rows.empty()) return;
  if (codec_->read_rows != nullptr) {
    return watched([&] { codec_->read_rows(*this, rows, columns, options); });
  }
  for_each_column_run(columns, [&](Range cols, const Target& out) {
    read({rows, cols}, out, options);
  });
}

void Store::entries(const Region& region, const ReadOptions& options,
                    const CellRun::Take& take) const {
  CellRun run(take);
  for_each_block(region, options, [&](std::uint64_t, const Entry& entry, const Part& part) {
    if (entry.kind == BlockKind::empty) return;
    if (codec_->entries != nullptr && entry.kind != BlockKind::dense) {
      codec_->entries(*this, entry, part, run);
    } else {
      entries_of_dense(entry, part, run);
    }
  });
  run.flush();
}

// Decodes a block band by band, as each column's declared type. Bands and not rows, because a
// codec of text passes over all rows before the ones it is asked for.
void Store::entries_of_dense(const Entry& entry, const Part& part, CellRun& take) const {
  constexpr std::uint64_t cells_at_once = 64 << 10;
  std::vector<std::uint64_t> cells;
  for (std::uint64_t c = part.cols.begin; c < part.cols.end;) {
    // A run of columns of one declared type.
    const ValueType type = schema_.type_of(entry.pos.cx + c);
    std::uint64_t end = c + 1;
    while (end < part.cols.end && schema_.type_of(entry.pos.cx + end) == type) ++end;
    const std::uint64_t width = end - c;
    const std::uint64_t band = std::max<std::uint64_t>(1, cells_at_once / width);
    for (std::uint64_t r = part.rows.begin; r < part.rows.end; r += band) {
      const Range rows{r, std::min(part.rows.end, r + band)};
      cells.assign(rows.size() * width, 0);
      const Target out{reinterpret_cast<std::byte*>(cells.data()), type, 8 * width, 8};
      codec_->read(*this, entry, {rows, {c, end}}, out);
      const std::uint64_t* bits = cells.data();
      for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
        for (std::uint64_t col = c; col < end; ++col) {
          take({entry.pos.rx + row, entry.pos.cx + col, *bits++});
        }
      }
    }
    c = end;
  }
}

std::span<const TextColumn> Store::text_columns() const noexcept {
  if (state_ == nullptr) return {};
  return state_->text_columns();
}

void Store::read_text(std::size_t k, Range rows, const TakeText& take) const {
  const auto columns = text_columns();
  if (k >= columns.size()) {
    throw Error(Errc::out_of_range, file_->name(), std::nullopt,
                "expected a text column below " + std::to_string(columns.size()) + ", got " +
                    std::to_string(k));
  }
  require_inside({rows, {0, 0}});
  if (!columns[k].readable) {
    throw Error(Errc::unsupported, file_->name(), std::nullopt,
                "expected a column that can be read, got \"" + columns[k].label + "\" of " +
                    columns[k].type);
  }
  if (!rows.empty()) watched([&] { state_->read_text(*this, k, rows, take); });
}

std::vector<Detail> Store::details() const {
  if (state_ == nullptr) return {};
  return watched([&] { return state_->details(*this); });
}

RowAccess& Store::row_access() const {
  const std::lock_guard lock(mutex_);
  if (!row_access_) row_access_ = std::make_shared<RowAccess>(*this);
  return *row_access_;
}

void Store::prefetch(const Region& region) const {
  require_inside(region);
  file_->map();
  ask_for(index_.touching(region));
}

}  // namespace dapple::detail
