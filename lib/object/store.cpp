#include "lib/object/store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/cache/block_cache.h"
#include "lib/object/block_stats.h"
#include "lib/object/row_access.h"
#include "lib/object/row_counts.h"

namespace dapple::detail {

namespace {

std::string interval(Range range) {
  return std::to_string(range.begin) + ":" + std::to_string(range.end);
}

}  // namespace

Store::Store(std::shared_ptr<ByteSource> file, Schema schema, BlockIndex&& index,
             const Driver& driver, std::unique_ptr<DriverState> state,
             std::shared_ptr<const ByteSource> blocks)
    : file_(std::move(file)),
      schema_(std::move(schema)),
      index_(std::move(index)),
      driver_(&driver),
      state_(std::move(state)),
      blocks_(blocks != nullptr ? std::move(blocks) : file_) {
  if (schema_.kind == ObjectKind::matrix) col_names_ = schema_.names_of_columns();
}

ReadNames Schema::names_of_columns() const { return names_or(col_names, names_of_slots(group)); }

std::shared_ptr<const Names> Store::col_names() const {
  return watched([&] { return col_names_ ? col_names_() : nullptr; });
}

Store::~Store() {
  if (uses_cache_.load(std::memory_order_relaxed)) block_cache().forget(blocks_->number());
}

void Store::fail(Errc code, std::uint64_t offset, std::string detail) const {
  const BytePlace at = blocks_->place(offset);
  throw Error(code, at.name, at.offset, std::move(detail));
}

std::string Store::reading(const Entry* block) {
  if (block == nullptr) return "it";
  // An entry without bytes was itself truncated.
  if (block->bytes == 0 && block->pos == BlockPos{0, 0}) return "its index";
  return "block " + text(block->pos);
}

void Store::require_intact(const Entry* block) const {
  blocks_->prepare_thread();
  if (!blocks_->is_intact()) blocks_->fail_changed(reading(block));
}

const BlockIndex* Store::truth() const {
  if (driver_->walk_again == nullptr || index_.origin() == IndexOrigin::scanned) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!truth_) truth_ = driver_->walk_again(*this);
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
  throw Error(Errc::out_of_range, known_as(), std::nullopt,
              "rows " + interval(region.rows) + ", columns " + interval(region.cols) +
                  " are not inside the " + extents_text(schema_.rows, schema_.cols) + " cells");
}

std::span<const TextColumn> Store::text_columns() const noexcept {
  if (state_ == nullptr) return {};
  return state_->text_columns();
}

void Store::read_text(std::size_t k, Range rows, const TakeText& take) const {
  const auto columns = text_columns();
  if (k >= columns.size()) {
    throw Error(
        Errc::out_of_range, known_as(), std::nullopt,
        "there is no text column " + std::to_string(k) + " of " + std::to_string(columns.size()));
  }
  require_inside({rows, {0, 0}});
  if (!columns[k].readable) {
    throw Error(
        Errc::unsupported, known_as(), std::nullopt,
        "text column \"" + columns[k].label + "\" of " + columns[k].type + " cannot be read");
  }
  if (!rows.empty()) watched([&] { state_->read_text(*this, k, rows, take); });
}

std::uint64_t Store::bytes() const noexcept {
  return file_->size() + (state_ != nullptr ? state_->bytes_beside() : 0);
}

std::vector<Detail> Store::details() const {
  if (state_ == nullptr) return {};
  return watched([&] { return state_->details(*this); });
}

const BlockStatsTable* Store::block_stats() const {
  if (driver_->find_stats == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!block_stats_) block_stats_ = watched([&] { return driver_->find_stats(*this); });
  return block_stats_->get();
}

const RowCountsTable* Store::row_counts() const {
  if (driver_->find_row_counts == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!row_counts_) row_counts_ = watched([&] { return driver_->find_row_counts(*this); });
  return row_counts_->get();
}

bool Store::suits_copy(const Region& region) const noexcept {
  constexpr std::uint64_t kFewRows = 1024;  // too few to look for a copy
  constexpr std::uint64_t kShare = 16;      // of rows that are wanted, and of columns that are not
  const auto& grid = index_.grid();
  const std::uint64_t width = grid ? grid->tile.cols : schema_.cols;
  return region.rows.size() >= std::max(kFewRows, schema_.rows / kShare) &&
         region.cols.size() <= width / kShare && !region.cols.empty() &&
         schema_.kind == ObjectKind::matrix;
}

RowAccess& Store::row_access() const {
  const std::lock_guard lock(mutex_);
  if (!row_access_) row_access_ = std::make_shared<RowAccess>(*this);
  return *row_access_;
}

std::shared_ptr<Store> make_store(std::shared_ptr<ByteSource> file, Schema schema,
                                  EntryTable entries, const Driver& driver,
                                  std::unique_ptr<DriverState> state) {
  BlockIndex index =
      BlockIndex::from_entries(std::move(entries), schema.rows, schema.cols, file->name());
  return std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), driver,
                                 std::move(state));
}

}  // namespace dapple::detail
