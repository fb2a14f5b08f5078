#include "dapple/blocked_object.h"

#include <limits>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/object/store.h"
#include "lib/object/target.h"

namespace dapple {

using detail::Entry;
using detail::Store;

std::string_view name(IndexOrigin origin) noexcept {
  switch (origin) {
    case IndexOrigin::embedded:
      return "embedded";
    case IndexOrigin::sidecar:
      return "sidecar";
    case IndexOrigin::scanned:
      break;
  }
  return "scanned";
}

namespace {

/// Throws corrupt, naming the index entry, for a block that cannot exist: blocks that are only
/// listed are not compared with their headers.
void require_possible(const Store& store, std::uint64_t number, const Entry& entry) {
  const detail::Schema& schema = store.schema();
  const std::uint64_t size = store.blocks().size();
  const bool inside = entry.pos.rx < schema.rows && entry.rows <= schema.rows - entry.pos.rx &&
                      entry.pos.cx < schema.cols && entry.cols <= schema.cols - entry.pos.cx;
  const bool in_file = entry.offset <= size && entry.bytes <= size - entry.offset;
  if (inside && in_file && entry.rows > 0 && entry.cols > 0) [[likely]]
    return store.require_tile(number, entry);
  const auto shape = [](std::uint64_t rows, std::uint64_t cols) {
    return detail::extents_text(rows, cols) + " cells";
  };
  std::string detail = inside ? "the index has a block of " + detail::counted(entry.bytes, "byte") +
                                    " at byte " + std::to_string(entry.offset) + " of a file of " +
                                    std::to_string(size) + " (R4)"
                              : "the index has a block of " + shape(entry.rows, entry.cols) +
                                    " at " + detail::text(entry.pos) + ", outside the " +
                                    shape(schema.rows, schema.cols) + " (R2)";
  store.index().fail_entry(number, detail.append("; ").append(store.index().remedy()));
}

/// What an index entry says. Throws corrupt when that is impossible.
BlockInfo info_of(const Store& store, std::uint64_t number, const Entry& entry) {
  // A forged index may have the right hash, and still name a kind or type that does not exist.
  if (entry.kind == detail::kNoKind) {
    store.index().fail_entry(
        number,
        std::string("the index names a block type or a value type that does not exist (R1); ")
            .append(store.index().remedy()));
  }
  if (store.index().is_in_place()) require_possible(store, number, entry);
  return entry.info();
}

}  // namespace

BlockInfo BlockRange::operator[](std::uint64_t i) const {
  std::uint64_t number = 0;
  const Entry entry = store_->watched([&] {
    number = store_->index().in_file_order(i);
    return store_->index().entry(number);
  });
  return info_of(*store_, number, entry);
}

void BlockRange::copy(std::uint64_t first, std::span<BlockInfo> out) const {
  if (first > size_ || out.size() > size_ - first) {
    throw Error(Errc::out_of_range, "the object has only " + detail::counted(size_, "block"));
  }
  store_->require_whole_index();
  const detail::BlockIndex& index = store_->index();
  store_->watched([&] {
    // A forged order may have a block twice, and another one not at all.
    std::uint64_t before = first > 0 ? index.entry(index.in_file_order(first - 1)).offset : 0;
    for (BlockInfo& info : out) {
      const std::uint64_t number = index.in_file_order(first++);
      info = info_of(*store_, number, index.entry(number));
      if (index.is_in_place() && info.offset <= before) {
        index.fail_entry(number, std::string("the index does not list the blocks in the order of "
                                             "the file; ")
                                     .append(index.remedy()));
      }
      before = info.offset;
    }
  });
}

BlockRange::iterator BlockRange::begin() const {
  store_->require_whole_index();
  return {*this, 0};
}

BlockedObject::BlockedObject(std::shared_ptr<const Store> store) noexcept
    : store_(std::move(store)) {}

std::uint64_t BlockedObject::rows() const noexcept { return store_->schema().rows; }
std::uint64_t BlockedObject::cols() const noexcept { return store_->schema().cols; }
std::string_view BlockedObject::format() const noexcept { return store_->format(); }
const std::string& BlockedObject::note() const& noexcept { return store_->note(); }
const std::vector<std::string>& BlockedObject::contents() const& noexcept {
  return store_->contents();
}
std::uint64_t BlockedObject::bytes() const noexcept { return store_->bytes(); }

BlockPlace BlockedObject::place(const BlockInfo& block) const {
  const detail::BytePlace place = store_->blocks().place(block.offset);
  return {place.name, place.offset};
}
IndexOrigin BlockedObject::index_origin() const noexcept { return store_->index().origin(); }
BlockCounts BlockedObject::counts() const {
  // A stored value takes at least a byte.
  return store_->watched([&] { return store_->index().counts(bytes()); });
}

PackedCounts BlockedObject::packed() const {
  if (store_->driver().count_packed == nullptr) return {};
  return store_->watched([&] { return store_->driver().count_packed(*store_); });
}

void BlockedObject::require_intact() const { store_->require_intact(); }

const std::string& BlockedObject::server_version() const& noexcept {
  return store_->file().version();
}

BlockRange BlockedObject::blocks() const& noexcept {
  return {store_.get(), store_->index().size()};
}

std::vector<BlockInfo> BlockedObject::blocks(const Region& region) const {
  store_->require_inside(region);
  return store_->watched([&] {
    std::vector<BlockInfo> blocks;
    for (const std::uint64_t number : store_->index().touching(region)) {
      blocks.push_back(info_of(*store_, number, store_->index().entry(number)));
    }
    return blocks;
  });
}

std::optional<Grid> BlockedObject::grid() const noexcept { return store_->index().grid(); }

ValueType BlockedObject::column_type(std::uint64_t col) const {
  if (col >= cols()) {
    throw Error(
        Errc::out_of_range, store_->known_as(), std::nullopt,
        "column " + std::to_string(col) + " is outside the " + detail::counted(cols(), "column"));
  }
  return store_->schema().type_of(col);
}

std::optional<Block> BlockedObject::find_block(BlockPos pos) const& {
  const auto number = store_->find(pos);
  if (!number) return std::nullopt;
  return store_->block(*number);
}

Block BlockedObject::block(BlockPos pos) const& {
  if (const auto found = find_block(pos)) return *found;
  throw Error(Errc::absent, store_->known_as(), std::nullopt,
              "no block is stored at " + detail::text(pos));
}

std::optional<Block> BlockedObject::find_cover(std::uint64_t row, std::uint64_t col) const& {
  const auto number = store_->cover(row, col);
  if (!number) return std::nullopt;
  return store_->block(*number);
}

Block BlockedObject::tile(std::uint64_t i, std::uint64_t j) const& { return store_->tile(i, j); }

detail::TileTable BlockedObject::tile_table() const { return store_->tile_table(); }

std::span<const TextColumn> BlockedObject::text_columns() const& noexcept {
  return store_->text_columns();
}

void BlockedObject::read_text(std::size_t k, Range rows, const TakeText& take) const {
  store_->read_text(k, rows, take);
}

std::string BlockedObject::attributes() const {
  std::string json = store_->watched([&] { return store_->schema().read_attributes(); });
  return json.empty() ? "{}" : json;
}

std::shared_ptr<const Names> BlockedObject::row_names() const {
  return store_->watched([&] { return store_->schema().read_row_names(); });
}

std::shared_ptr<const Names> BlockedObject::col_names() const { return store_->col_names(); }

std::vector<Detail> BlockedObject::details() const { return store_->details(); }

void BlockedObject::prefetch(const Region& region) const { store_->prefetch(region); }

namespace {

/// True when rows x cols cells of `size` bytes do not overlap, and end within `room` bytes.
bool fits(std::uint64_t rows, std::uint64_t cols, std::size_t size, const Strides& s,
          std::size_t room) {
  if (rows == 0 || cols == 0) return true;
  const auto apart = [](std::size_t step, std::size_t least, std::uint64_t n, std::size_t inner) {
    std::uint64_t run = 0;  // of the cells along the other axis
    return step >= least && detail::multiply(n - 1, std::uint64_t{inner}, run) &&
           run <= std::numeric_limits<std::uint64_t>::max() - least && (run + least <= step);
  };
  const bool by_row =
      (cols == 1 || s.col >= size) && (rows == 1 || apart(s.row, size, cols, s.col));
  const bool by_col =
      (rows == 1 || s.row >= size) && (cols == 1 || apart(s.col, size, rows, s.row));
  std::uint64_t down = 0, right = 0;
  return (by_row || by_col) && detail::multiply(rows - 1, std::uint64_t{s.row}, down) &&
         detail::multiply(cols - 1, std::uint64_t{s.col}, right) && size <= room &&
         down <= room - size && right <= room - size - down;
}

}  // namespace

void BlockedObject::read(const Region& region, ValueType type, std::span<std::byte> out,
                         Strides strides, const ReadOptions& options) const {
  store_->require_inside(region);
  detail::require_known(type);
  const std::uint64_t rows = region.rows.size(), cols = region.cols.size();
  const std::size_t size = size_of(type);
  if (strides.col == 0) strides.col = size;
  if (strides.row == 0) strides.row = cols * strides.col;
  if (!fits(rows, cols, size, strides, out.size())) {
    throw Error(Errc::invalid_argument, "with these strides, " + detail::extents_text(rows, cols) +
                                            " values of " + std::string(name(type)) +
                                            " overlap or do not fit " +
                                            detail::counted(out.size(), "byte"));
  }
  read_target(region, {out.data(), type, strides.row, strides.col}, options);
}

void BlockedObject::read_to(const Region& region, void* out, std::size_t size,
                            std::size_t row_stride, ValueType type,
                            const ReadOptions& options) const {
  store_->require_inside(region);
  read_target(
      region,
      detail::target_for(out, size, row_stride, type, region.rows.size(), region.cols.size()),
      options);
}

void BlockedObject::read_target(const Region& region, const detail::Target& target,
                                const ReadOptions& options) const {
  const auto read_copy = [&](const Store& copy) {
    copy.read({region.cols, region.rows},
              {target.data, target.type, target.col_step, target.row_step}, options);
  };
  if (store_->suits_copy(region) && store_->try_by_column(read_copy)) return;
  store_->read(region, target, options);
}

}  // namespace dapple
