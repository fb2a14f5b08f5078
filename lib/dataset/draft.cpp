#include "lib/dataset/draft.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "lib/base/bytes.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/object_hints.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/statistics.h"
#include "lib/index/overlap.h"
#include "lib/object/row_counts.h"

namespace dapple::detail::dataset {

namespace {

constexpr std::uint32_t kLeftOut = std::numeric_limits<std::uint32_t>::max();

std::string shown_cells(const Region& cells) {
  return "rows " + std::to_string(cells.rows.begin) + ":" + std::to_string(cells.rows.end) +
         ", columns " + std::to_string(cells.cols.begin) + ":" + std::to_string(cells.cols.end);
}

}  // namespace

Draft::Draft(const Schema& like) : schema_(like), attributes_(like.read_attributes()) {
  schema_.rows = 0;
  if (schema_.kind == ObjectKind::matrix) schema_.cols = 0;
  schema_.group = nullptr;
  schema_.attributes = nullptr;
}

Draft::Draft(const Store& state, std::span<const Id> without)
    : schema_(state.schema()), attributes_(state.schema().read_attributes()) {
  const StateTables& tables = *state.state<OpenState>().tables;
  std::vector<std::uint32_t> numbers(tables.head().parts);  // of the parts in the draft
  std::uint64_t left_out = 0;
  for (std::uint64_t i = 0; i < numbers.size(); ++i) {
    const PartRecord record = tables.part(i);
    const bool out = std::find(without.begin(), without.end(), record.id) != without.end();
    left_out += out;
    numbers[i] = out ? kLeftOut : static_cast<std::uint32_t>(parts_.size());
    if (out) continue;
    const Range maps = tables.maps_of(static_cast<std::uint32_t>(i), {0, schema_.cols});
    for (std::uint64_t map = maps.begin; map < maps.end; ++map) {
      const auto codes = tables.codes(map);
      CodeMap copy{numbers[i], tables.map_column(map), std::vector<std::uint32_t>(codes.size() / 4),
                   0};
      for (std::size_t k = 0; k < copy.codes.size(); ++k) {
        copy.codes[k] = load_le<std::uint32_t>(codes.data() + 4 * k);
      }
      maps_.push_back(std::move(copy));
    }
    parts_.push_back(record);
  }
  if (left_out != without.size()) {
    throw Error(Errc::invalid_argument, tables.file().name(), std::nullopt,
                "a part that was to be replaced is gone: somebody else compacted the data set "
                "meanwhile; nothing was changed, and compacting it again does what is left");
  }
  doomed_ = tables.doomed();
  doomed_.insert(doomed_.end(), without.begin(), without.end());  // nobody commits them once more
  writes_ = tables.writes();
  writes_.insert(writes_.begin(), tables.head().write_id);
  if (writes_.size() > kMostWrites) writes_.resize(kMostWrites);
  entries_.reserve(state.index().size());
  stats_.reserve(state.index().size());
  take_blocks(state, [&](std::uint64_t number, Entry& entry) {
    const std::uint64_t part = entry.offset >> kOffsetBits;
    if (part >= numbers.size()) state.index().fail_entry(number, "the index leads to no part");
    if (numbers[part] == kLeftOut) return Take::nothing;
    entry.offset = (entry.offset & (kMostBytes - 1)) | std::uint64_t{numbers[part]} << kOffsetBits;
    return Take::all;
  });
}

/// Adds the blocks of a store, and what it knows of each: `place(number, entry)` moves the entry to
/// where it is here, and tells what to take.
template <class Place>
void Draft::take_blocks(const Store& store, const Place& place) {
  store.require_whole_index();
  const BlockIndex& index = store.index();
  const BlockStatsTable* const stats = store.block_stats();
  const RowCountsTable* const counts = store.row_counts();
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    const std::uint64_t number = index.in_file_order(i);
    const Entry stored = index.entry(number);
    Entry entry = stored;
    const Take take = place(number, entry);
    if (take == Take::nothing) continue;
    if (counts != nullptr && stored.kind == BlockKind::csr) {
      if (const auto known = counts->find(number, stored)) row_counts_.add(entry, *known);
    }
    entries_.push_back(entry);
    const bool known = stats != nullptr && take == Take::all;
    stats_.push_back(known ? (*stats)[number] : BlockStats());
    knows_stats_ |= known;
  }
}

const PartRecord* Draft::find(const Id& id) const {
  const auto part = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const PartRecord& other) { return other.id == id; });
  return part == parts_.end() ? nullptr : &*part;
}

void Draft::add(const PartRecord& record, const std::string& folder) {
  if (parts_.size() + 1 >= kMostParts) {
    throw Error(
        Errc::unsupported, folder, std::nullopt,
        "a data set has at most " + std::to_string(kMostParts - 1) + " parts; compact it first");
  }
  if (std::find(doomed_.begin(), doomed_.end(), record.id) != doomed_.end()) {
    throw Error(
        Errc::invalid_argument, folder + part_name(record.id), std::nullopt,
        "the part is no longer there: it was compacted, and its cells are in the data set, or "
        "it was in no state for a long time; look which before it is written again");
  }
  const auto part = open_local_part(folder, record);
  const auto store = dbdf::open_dbdf(part->file, {});
  const Schema& schema = store->schema();
  if (store->index().origin() != IndexOrigin::embedded) {
    throw Error(Errc::invalid_argument, part->file->name(), std::nullopt,
                "a part needs an index; write it without \"plain\"");
  }
  const bool strip = schema.kind == ObjectKind::matrix || record.cells.cols.begin == 0;
  if (schema.rows != record.cells.rows.size() || schema.cols != record.cells.cols.size() ||
      !strip) {
    throw Error(Errc::invalid_argument, part->file->name(), std::nullopt,
                "the part has " + extents_text(schema.rows, schema.cols) +
                    " cells, and was to be at " + shown_cells(record.cells));
  }
  merge_schema(store, folder);
  parts_.push_back(record);
  add_blocks(*store, record);
  grow(record.cells.rows.end, record.cells.cols.end);
}

void Draft::grow(std::uint64_t rows, std::uint64_t cols) {
  schema_.rows = std::max(schema_.rows, rows);
  if (schema_.kind == ObjectKind::matrix) schema_.cols = std::max(schema_.cols, cols);
}

void Draft::add_blocks(const Store& part, const PartRecord& record) {
  const std::uint64_t address = std::uint64_t{parts_.size() - 1} << kOffsetBits;
  take_blocks(part, [&](std::uint64_t number, Entry& entry) {
    const Region cells = entry.cells();
    if (cells.empty() || cells.rows.end > part.schema().rows ||
        cells.cols.end > part.schema().cols || entry.offset > record.bytes ||
        entry.bytes > record.bytes - entry.offset) {
      part.index().fail_entry(number, "a block outside the part (R2, R4)");
    }
    const auto recoded = recoded_type(part, entry);
    entry.pos.rx += record.cells.rows.begin;
    entry.pos.cx += record.cells.cols.begin;
    entry.offset += address;
    if (recoded && entry.kind != BlockKind::empty) entry.value_type = *recoded;
    return recoded ? Take::all_but_stats : Take::all;
  });
}

void Draft::require_apart(const std::string& folder) const {
  std::vector<std::size_t> order(parts_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parts_[a].cells.rows.begin < parts_[b].cells.rows.begin;
  });
  OverlapSweep sweep;
  for (const std::size_t i : order) {
    const PartRecord& part = parts_[i];
    const auto other = part.cells.empty() ? std::nullopt : sweep.add(part.cells, i);
    if (!other) continue;
    throw Error(Errc::invalid_argument, folder + part_name(part.id), std::nullopt,
                "the part covers " + shown_cells(part.cells) + ", and shares cells with part " +
                    part_name(parts_[*other].id) + " of " + shown_cells(parts_[*other].cells) +
                    " (R3); write parts that do not overlap");
  }
}

void Draft::require_covered(const std::string& folder) const {
  const Area missing = cells_in_none(entries_, schema_.rows, schema_.cols);
  if (missing == 0) return;
  const Area most = std::numeric_limits<std::uint64_t>::max();
  throw Error(Errc::invalid_argument, folder, std::nullopt,
              counted(static_cast<std::uint64_t>(std::min(missing, most)), "cell") + " of " +
                  extents_text(schema_.rows, schema_.cols) +
                  " would be in no part (R7); commit all parts at once, or without asking that "
                  "they cover everything");
}

DatasetState Draft::described(const StateHead& head) const {
  DatasetState state{head.number,  head.action,   head.time_ns,    schema_.rows,
                     schema_.cols, parts_.size(), entries_.size(), 0};
  for (const PartRecord& part : parts_) state.bytes += part.bytes;
  return state;
}

void Draft::emit(StateHead head, const std::string& name,
                 const std::function<void(std::span<const std::byte>)>& put) {
  const StateBytes tables =
      emit_tables(head, dbdf::emit_header(schema_), parts_, maps_, doomed_, writes_);
  const BlockIndex index =
      BlockIndex::from_entries(std::move(entries_), schema_.rows, schema_.cols, name);
  dbdf::HintWriter hints;
  hints.add_columns(dbdf::emit_columns(schema_), schema_.kind);
  if (!attributes_.empty()) hints.add(dbdf::emit_attributes(attributes_));
  if (knows_stats_) hints.add(dbdf::emit_statistics(index, stats_));
  hints.add(row_counts_.emit(index));
  put(tables.bytes);
  dbdf::emit_index_apart(index, tables.hash, tables.bytes.size(), std::move(hints), put);
}

}  // namespace dapple::detail::dataset
