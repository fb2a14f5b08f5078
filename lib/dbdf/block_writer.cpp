#include "lib/dbdf/block_writer.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/tiling.h"
#include "lib/hash.h"
#include "lib/object/convert_cells.h"
#include "lib/parallel.h"

namespace dapple::detail {

using dbdf::DenseCells;
using dbdf::kDenseHeader;
using dbdf::kPosition;
using dbdf::kTag;
using dbdf::SparseCell;
using dbdf::SparseCells;

namespace {

// Items up to this size are gathered and written together.
constexpr std::size_t kSmallItem = 64 << 10;
constexpr std::size_t kTail = 1 << 20;
constexpr std::uint64_t kPaddingHeader = kPosition + kDenseHeader;

void check(const WriteOptions& options) {
  constexpr std::uint32_t kLargest = 2u << 20;
  if (!std::has_single_bit(options.align) || options.align > kLargest) {
    throw Error(Errc::invalid_argument, "expected an alignment that is a power of two up to " +
                                            std::to_string(kLargest) + ", got " +
                                            std::to_string(options.align));
  }
  if (options.tile && (options.tile->rows == 0 || options.tile->cols == 0)) {
    throw Error(Errc::invalid_argument, "expected tiles of at least 1 x 1 cells, got " +
                                            std::to_string(options.tile->rows) + " x " +
                                            std::to_string(options.tile->cols));
  }
}

Entry entry_of(BlockPos pos, std::uint32_t rows, std::uint32_t cols, const dbdf::Plan& plan,
               std::uint64_t nonzero) {
  Entry e;
  e.pos = pos;
  e.rows = rows;
  e.cols = cols;
  e.kind = plan.kind;
  e.value_type = plan.type;
  e.stored = plan.kind == BlockKind::dense   ? std::uint64_t{rows} * cols
             : plan.kind == BlockKind::empty ? 0
                                             : nonzero;
  if (!dbdf::block_size(e.kind, rows, cols, e.value_type, e.stored, e.bytes)) {
    throw Error(Errc::invalid_argument, "expected a block of less than 2^64 bytes, got " +
                                            std::to_string(rows) + " x " + std::to_string(cols) +
                                            " cells at " + text(pos));
  }
  return e;
}

std::uint64_t key(const SparseCell& cell) noexcept {
  return std::uint64_t{cell.row} << 32 | cell.col;
}

// Throws when a cell stands twice among them.
void sort_distinct(BlockPos pos, std::span<SparseCell> cells) {
  std::sort(cells.begin(), cells.end(),
            [](const SparseCell& a, const SparseCell& b) { return key(a) < key(b); });
  const auto twice =
      std::adjacent_find(cells.begin(), cells.end(),
                         [](const SparseCell& a, const SparseCell& b) { return key(a) == key(b); });
  if (twice != cells.end()) {
    throw Error(Errc::invalid_argument, "expected each cell once (R5), got cell " +
                                            text({twice->row, twice->col}) + " of the block at " +
                                            text(pos) + " twice");
  }
}

template <class F>
void in_turn(Turn* turn, const F& f) {
  if (turn != nullptr) {
    turn->take(f);
  } else {
    f();
  }
}

[[noreturn]] void fail_put(BlockPos pos, std::uint64_t row, std::uint64_t col, ValueType wanted) {
  throw Error(Errc::type_mismatch, "expected values that fit " + std::string(name(wanted)) +
                                       " (R6), got another in cell " +
                                       text({pos.rx + row, pos.cx + col}));
}

}  // namespace

BlockWriter::BlockWriter(const std::filesystem::path& path, Schema schema,
                         const WriteOptions& options)
    : schema_(std::move(schema)),
      options_((check(options), options)),
      tile_(options.tile ? *options.tile : default_tile(schema_.rows, schema_.cols)),
      strips_(dbdf::column_strips(schema_, tile_)),
      file_(path, options.overwrite) {
  for (const Column& column : schema_.columns) {
    if (column.label.size() > 65535) {
      throw Error(Errc::invalid_argument, "expected a label of at most 65535 bytes, got " +
                                              std::to_string(column.label.size()));
    }
  }
  if (options_.plain) options_.align = 1;
  tail_ = dbdf::emit_header(schema_);
  end_ = tail_.size();
}

// A caller may go on after an error: the hole that it leaves must never be published.
template <class Bytes>
void BlockWriter::write_at(std::uint64_t offset, Bytes bytes) {
  try {
    file_.write_at(offset, bytes);
  } catch (const Error&) {
    failed_ = true;
    throw;
  }
}

ValueType BlockWriter::declared_type(BlockPos pos, TileShape shape) const {
  if (finished_) {
    throw Error(Errc::invalid_argument, file_.name(), std::nullopt,
                "expected blocks before the file was finished, got one at " + text(pos));
  }
  if (shape.rows == 0 || shape.cols == 0) {
    throw Error(Errc::invalid_argument, "expected a block that holds cells, got " +
                                            std::to_string(shape.rows) + " x " +
                                            std::to_string(shape.cols));
  }
  if (pos.rx >= schema_.rows || shape.rows > schema_.rows - pos.rx || pos.cx >= schema_.cols ||
      shape.cols > schema_.cols - pos.cx) {
    throw Error(Errc::out_of_range, "expected a block inside " + std::to_string(schema_.rows) +
                                        " x " + std::to_string(schema_.cols) + " cells, got " +
                                        std::to_string(shape.rows) + " x " +
                                        std::to_string(shape.cols) + " at " + text(pos));
  }
  const ValueType type = schema_.type_of(pos.cx);
  if (schema_.kind == ObjectKind::frame) {
    for (std::uint64_t c = pos.cx; c < pos.cx + shape.cols; ++c) {
      if (schema_.type_of(c) == type) continue;
      throw Error(Errc::invalid_argument,
                  "expected a block over columns of one value type (R8), got " +
                      std::string(name(type)) + " in column " + std::to_string(pos.cx) + " and " +
                      std::string(name(schema_.type_of(c))) + " in column " + std::to_string(c));
    }
  }
  return type;
}

void BlockWriter::put(BlockPos pos, const DenseCells& cells, Turn* turn) {
  const ValueType declared = declared_type(pos, {cells.rows, cells.cols});
  if (cells.type == declared) {
    if (options_.kind == KindChoice::dense && !options_.narrow) {
      write_in_place(pos, cells, declared, turn);
    } else {
      write_planned(pos, cells, declared, turn);
    }
    return;
  }
  // Another type: into the declared one first, so that one survey serves all.
  const std::size_t size = size_of(declared), row_bytes = cells.cols * size;
  std::vector<std::byte> scratch = take_scratch(cells.rows * row_bytes);
  for (std::uint32_t r = 0; r < cells.rows; ++r) {
    const std::size_t done = convert_cells(cells.type, cells.row(r), size_of(cells.type), declared,
                                           scratch.data() + r * row_bytes, size, cells.cols);
    if (done < cells.cols) fail_put(pos, r, done, declared);
  }
  write_planned(pos, DenseCells{scratch.data(), declared, cells.rows, cells.cols, row_bytes},
                declared, turn);
  return_scratch(std::move(scratch));
}

void BlockWriter::put(BlockPos pos, TileShape shape, ValueType type, std::span<SparseCell> cells) {
  const ValueType declared = declared_type(pos, shape);
  bool ascending = true, zeros = false;
  std::uint64_t next = 0;  // lowest key that keeps ascending order
  for (SparseCell& cell : cells) {
    if (cell.row >= shape.rows || cell.col >= shape.cols) {
      throw Error(Errc::out_of_range,
                  "expected entries inside the block of " + std::to_string(shape.rows) + " x " +
                      std::to_string(shape.cols) + " cells, got " + text({cell.row, cell.col}));
    }
    if (type != declared && !convert_cell(type, cell.bits, declared, cell.bits)) {
      fail_put(pos, cell.row, cell.col, declared);
    }
    ascending &= key(cell) >= next;
    next = key(cell) + 1;
    zeros |= cell.bits == 0;
  }
  if (zeros) {
    const auto end = std::remove_if(cells.begin(), cells.end(),
                                    [](const SparseCell& cell) { return cell.bits == 0; });
    cells = cells.first(static_cast<std::size_t>(end - cells.begin()));
  }
  if (!ascending) sort_distinct(pos, cells);
  write_planned(pos, SparseCells{cells, declared, shape.rows, shape.cols}, declared, nullptr);
}

void BlockWriter::put(BlockPos pos, const SparseCells& cells, Turn* turn) {
  write_planned(pos, cells, declared_type(pos, {cells.rows, cells.cols}), turn);
}

void BlockWriter::put_empty(BlockPos pos, TileShape shape) {
  declared_type(pos, shape);
  const Entry entry = entry_of(pos, shape.rows, shape.cols, {}, 0);
  std::array<std::byte, dbdf::kShortestItem> item;
  dbdf::emit_item_header(item.data(), entry);
  write_item(entry, item);
}

template <class Cells>
void BlockWriter::write_planned(BlockPos pos, const Cells& cells, ValueType declared, Turn* turn) {
  const dbdf::Survey found = survey(cells);
  const dbdf::Plan plan = make_plan(found, cells.rows, cells.cols, declared, options_);
  if constexpr (std::is_same_v<Cells, DenseCells>) {
    if (plan.kind == BlockKind::dense && plan.type == cells.type) {
      write_in_place(pos, cells, declared, turn);
      return;
    }
  }
  const Entry entry = entry_of(pos, cells.rows, cells.cols, plan, found.nonzero);
  std::vector<std::byte> item = take_scratch(kPosition + entry.bytes);
  const std::size_t header = dbdf::emit_item_header(item.data(), entry);
  encode(cells, plan, std::span(item).first(kPosition + entry.bytes).subspan(header));
  write_item(entry, std::span(item).first(kPosition + entry.bytes), turn);
  return_scratch(std::move(item));
}

// Dense cells as they are: hashed and written from where they lie, never copied.
void BlockWriter::write_in_place(BlockPos pos, const DenseCells& cells, ValueType declared,
                                 Turn* turn) {
  Entry entry = entry_of(pos, cells.rows, cells.cols, {BlockKind::dense, declared}, 0);
  std::array<std::byte, kPaddingHeader> header;
  dbdf::emit_item_header(header.data(), entry);
  const bool packed = cells.row_step == cells.row_bytes();
  const std::size_t runs = packed ? 1 : cells.rows;
  const std::size_t run_bytes = packed ? cells.rows * cells.row_bytes() : cells.row_bytes();
  if (kPosition + entry.bytes <= kSmallItem) {
    std::vector<std::byte> item = take_scratch(kPosition + entry.bytes);
    std::byte* p = std::copy(header.begin(), header.end(), item.data());
    for (std::size_t r = 0; r < runs; ++r) p = std::copy_n(cells.row(r), run_bytes, p);
    write_item(entry, std::span(item).first(kPosition + entry.bytes), turn);
    return_scratch(std::move(item));
    return;
  }
  std::vector<iovec> parts;
  parts.reserve(1 + runs);
  parts.push_back({header.data(), header.size()});
  Xxh3 hash;
  hash.add(header);
  for (std::size_t r = 0; r < runs; ++r) {
    parts.push_back({const_cast<std::byte*>(cells.row(r)), run_bytes});
    hash.add({cells.row(r), run_bytes});
  }
  entry.hash = hash.value();
  write_at(reserve(entry, turn), parts);
}

void BlockWriter::write_item(Entry entry, std::span<const std::byte> item, Turn* turn) {
  entry.hash = xxh3(item);
  if (item.size() > kSmallItem) {
    write_at(reserve(entry, turn), item);
  } else {
    in_turn(turn, [&] { append_small(entry, item); });
  }
}

// Puts a small item behind everything else, to be written together with others.
void BlockWriter::append_small(Entry& entry, std::span<const std::byte> item) {
  const std::lock_guard lock(mutex_);
  if (entry.kind == BlockKind::dense) append_padding(padding_in_front_of(end_, options_.align));
  entry.offset = end_ + kPosition;
  tail_.insert(tail_.end(), item.begin(), item.end());
  end_ += item.size();
  entries_.push_back(entry);
  if (tail_.size() >= kTail) flush_tail();
}

// Takes the place of an item behind everything else, and returns the byte where it starts.
std::uint64_t BlockWriter::reserve(Entry& entry, Turn* turn) {
  std::uint64_t item = 0;
  in_turn(turn, [&] {
    const std::lock_guard lock(mutex_);
    if (entry.kind == BlockKind::dense) append_padding(padding_in_front_of(end_, options_.align));
    flush_tail();
    item = end_;
    entry.offset = item + kPosition;
    end_ = entry.offset + entry.bytes;
    entries_.push_back(entry);
  });
  return item;
}

// Bytes of a padding block so that the dense payload of an item behind it is aligned.
std::uint64_t BlockWriter::padding_in_front_of(std::uint64_t item, std::uint64_t align) {
  const std::uint64_t payload = item + kPaddingHeader;
  std::uint64_t gap = round_up(payload, align) - payload;
  while (gap != 0 && gap < kPaddingHeader + kTag) gap += align;
  return gap;
}

void BlockWriter::append_padding(std::uint64_t bytes) {
  if (bytes == 0) return;
  Entry padding;
  padding.pos = dbdf::kAuxiliaryPos;
  padding.rows = 1;
  padding.cols = static_cast<std::uint32_t>(bytes - kPaddingHeader);
  padding.kind = BlockKind::dense;
  const std::size_t at = tail_.size();
  tail_.resize(at + bytes);
  dbdf::emit_item_header(tail_.data() + at, padding);
  std::memcpy(tail_.data() + at + kPaddingHeader, dbdf::kPaddingTag, kTag);
  end_ += bytes;
}

void BlockWriter::flush_tail() {
  write_at(end_ - tail_.size(), std::span<const std::byte>(tail_));
  tail_.clear();
}

void BlockWriter::put_bytes(const Entry& entry, std::span<const std::byte> item) {
  write_item(entry, item);
}

WriteSummary BlockWriter::finish(bool fill) {
  if (fill) {
    for (const auto& [pos, shape] : dbdf::uncovered_tiles(entries_, schema_, tile_, strips_)) {
      put_empty(pos, shape);
    }
  }
  if (finished_.exchange(true)) {
    throw Error(Errc::invalid_argument, file_.name(), std::nullopt,
                "expected to finish the file once, got a second time");
  }
  if (failed_) {
    throw Error(Errc::io, file_.name(), std::nullopt,
                "expected every block to be written, got an error at one of them before");
  }
  WriteSummary summary;
  try {
    const BlockIndex index =
        BlockIndex::from_entries(std::move(entries_), schema_.rows, schema_.cols, file_.name());
    summary.counts = index.counts();
    if (!options_.plain) write_index(index);
  } catch (const Error& e) {
    if (e.code() == Errc::corrupt) throw Error(Errc::invalid_argument, e.detail());
    throw;
  }
  flush_tail();
  summary.bytes = end_;
  file_.publish(options_.sync);
  return summary;
}

// The index is a dense u8 block of rows of 64 bytes, its payload aligned to them.
void BlockWriter::write_index(const BlockIndex& index) {
  append_padding(padding_in_front_of(end_, dbdf::kLine));
  const std::uint64_t bytes = dbdf::index_bytes(index);
  Entry block;
  block.pos = dbdf::kAuxiliaryPos;
  block.kind = BlockKind::dense;
  if (bytes / dbdf::kLine > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Errc::unsupported, file_.name(), std::nullopt,
                "expected at most 2^32 - 3 blocks in an indexed file, got " +
                    std::to_string(index.size()) + "; write it --plain or with larger tiles");
  }
  block.rows = static_cast<std::uint32_t>(bytes / dbdf::kLine);
  block.cols = dbdf::kLine;
  const std::size_t at = tail_.size();
  tail_.resize(at + kPaddingHeader);
  dbdf::emit_item_header(tail_.data() + at, block);
  end_ += kPaddingHeader;
  const std::uint64_t header_hash = xxh3(dbdf::emit_header(schema_));
  dbdf::emit_index(index, header_hash, end_ + bytes, [&](std::span<const std::byte> part) {
    while (!part.empty()) {
      const auto piece = part.first(std::min(part.size(), kTail));
      tail_.insert(tail_.end(), piece.begin(), piece.end());
      end_ += piece.size();
      part = part.subspan(piece.size());
      if (tail_.size() >= kTail) flush_tail();
    }
  });
}

std::vector<std::byte> BlockWriter::take_scratch(std::size_t bytes) {
  std::vector<std::byte> scratch;
  {
    const std::lock_guard lock(mutex_);
    if (!scratch_.empty()) {
      scratch = std::move(scratch_.back());
      scratch_.pop_back();
    }
  }
  if (scratch.size() < bytes) scratch.resize(bytes);
  return scratch;
}

void BlockWriter::return_scratch(std::vector<std::byte> scratch) {
  const std::lock_guard lock(mutex_);
  scratch_.push_back(std::move(scratch));
}

}  // namespace dapple::detail
