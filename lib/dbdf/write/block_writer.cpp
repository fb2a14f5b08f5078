#include "lib/dbdf/write/block_writer.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/codec/codecs.h"
#include "lib/dbdf/codes.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/object_hints.h"
#include "lib/dbdf/statistics.h"
#include "lib/dbdf/write/checks.h"
#include "lib/dbdf/write/encode_rows.h"
#include "lib/dbdf/write/tiling.h"
#include "lib/io/hash.h"
#include "lib/object/misfit.h"

namespace dapple::detail {

using dbdf::CsrCells;
using dbdf::DenseCells;
using dbdf::ItemFile;
using dbdf::kPosition;
using dbdf::SparseCell;

namespace {

// Shorter rows that are not contiguous are gathered before they are written.
constexpr std::size_t kShortRun = 4096;

// Of an empty block, whose entry says u8.
const BlockStats kNoValues = BlockStats::of<std::uint8_t>({});

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
    throw Error(Errc::invalid_argument, "the block of " + extents_text(rows, cols) + " cells at " +
                                            text(pos) + " takes more than 2^64 bytes");
  }
  return e;
}

[[noreturn]] void fail_put(BlockPos cell, ValueType type, std::uint64_t bits, ValueType wanted) {
  throw Error(Errc::type_mismatch, misfit_of(type, bits, cell, wanted).text + " (R6)");
}

/// The end of a run of at least one row with few enough entries to stay in the L1 cache.
std::uint32_t end_of_look(const CsrCells& cells, std::uint32_t begin) {
  constexpr std::uint64_t kEntries = 512;
  const std::uint64_t most = cells.row_ptr[begin] + kEntries;
  std::uint32_t end = begin + 1;
  while (end < cells.row_count() && cells.row_ptr[end + 1] <= most) ++end;
  return end;
}

std::vector<Range> strips_of(const std::string& file, const Schema& schema, TileShape tile) {
  return dbdf::naming(file, [&] { return dbdf::column_strips(schema, tile); });
}

const WriteOptions& sound(const WriteOptions& options) {
  dbdf::require_sound(options);
  return options;
}

}  // namespace

BlockWriter::BlockWriter(const std::filesystem::path& path, Schema schema,
                         const WriteOptions& options, Gaps gaps)
    : BlockWriter(OutputFile(path, sound(options).overwrite), std::move(schema), options, gaps) {}

BlockWriter::BlockWriter(OutputFile file, Schema schema, const WriteOptions& options, Gaps gaps)
    : schema_(std::move(schema)),
      options_(sound(options)),
      gaps_(gaps),
      tile_(options.tile ? *options.tile : dbdf::presumed_tile(schema_)),
      strips_(gaps == Gaps::fill ? strips_of(file.name(), schema_, tile_) : std::vector<Range>()),
      file_(std::move(file), options, dbdf::checked_header(schema_),
            keeps_stats() ? dbdf::KeepStats::yes : dbdf::KeepStats::no) {
  // A file that is repaired keeps its words as they are.
  if (gaps == Gaps::fill && !options.plain) dbdf::require_utf8(schema_, file_.name());
  dbdf::take_given(options_, schema_, file_.name());
}

ValueType BlockWriter::declared_type(BlockPos pos, TileShape shape) const {
  file_.require_own_process();
  if (finished_) {
    throw Error(Errc::invalid_argument, file_.name(), std::nullopt,
                "the block at " + text(pos) + " comes after the file was finished");
  }
  return dbdf::type_of_block(schema_, pos, shape);
}

void BlockWriter::require_block(BlockPos pos, std::uint64_t rows, std::uint64_t cols) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (rows > kMost || cols > kMost) {
    throw Error(Errc::invalid_argument, file_.name(), std::nullopt,
                "a block has at most 2^32 - 1 rows and columns; put_region cuts larger regions");
  }
  const TileShape shape{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols)};
  declared_type(pos, shape);
  if (options_.off_grid || dbdf::tile_number(schema_, tile_, strips_, pos, shape)) return;
  throw Error(Errc::invalid_argument, file_.name(), std::nullopt,
              "the block of " + extents_text(rows, cols) + " cells at " + text(pos) +
                  " is no tile of the tiling by " + extents_text(tile_.rows, tile_.cols) +
                  "; put_region cuts cells along it, and the option off_grid takes any block");
}

/// Throws invalid_argument for a code without a word, and for a truth value that is none; corrupt
/// where they come from a file.
template <class Cells>
void BlockWriter::require_codes(BlockPos pos, const Cells& cells) const {
  if (const auto bad = dbdf::find_bad_code(schema_, pos, cells)) {
    if (!source_.empty()) throw Error(Errc::corrupt, source_, std::nullopt, *bad);
    throw Error(Errc::invalid_argument, file_.name(), std::nullopt, *bad);
  }
}

/// True for some of the rows of a tile of a matrix, which wait for the others.
bool BlockWriter::is_part(Parts parts, BlockPos pos, TileShape shape) const {
  if (parts == Parts::alone || options_.off_grid || schema_.kind != ObjectKind::matrix) {
    return false;
  }
  const std::uint64_t cols = std::min<std::uint64_t>(tile_.cols, schema_.cols - pos.cx);
  return pos.cx % tile_.cols == 0 && shape.cols == cols && shape.rows < rows_of_tile(pos.rx);
}

/// Of the tile that holds this row.
std::uint64_t BlockWriter::rows_of_tile(std::uint64_t row) const noexcept {
  return std::min<std::uint64_t>(tile_.rows, schema_.rows - (row - row % tile_.rows));
}

/// Writes a tile when these rows make it whole. REQUIRES cells of the object's type.
template <class Cells>
void BlockWriter::keep_part(BlockPos pos, const Cells& cells) {
  dbdf::TilePart part(pos, cells);
  put_parts([&] {
    return open_tiles_.add({pos.rx - pos.rx % tile_.rows, pos.cx}, rows_of_tile(pos.rx),
                           std::move(part));
  });
}

void BlockWriter::put(BlockPos pos, const DenseCells& cells, Turn* turn, Parts parts) {
  const ValueType declared = declared_type(pos, {cells.rows, cells.cols});
  if (cells.type == declared) {
    require_codes(pos, cells);
    if (is_part(parts, pos, {cells.rows, cells.cols})) return keep_part(pos, cells);
    if (options_.kind == KindChoice::dense && !options_.narrow) {
      write_in_place(pos, cells, declared, turn);
    } else {
      write_planned(pos, cells, declared, turn);
    }
    return;
  }
  // Convert values of another type to the declared one first, so that one survey is enough.
  const std::size_t size = size_of(declared), row_bytes = cells.cols * size;
  std::vector<std::byte> scratch = take_scratch(cells.rows * row_bytes);
  for (std::uint32_t r = 0; r < cells.rows; ++r) {
    const std::size_t done = convert_cells(cells.type, cells.row(r), size_of(cells.type), declared,
                                           scratch.data() + r * row_bytes, size, cells.cols);
    if (done < cells.cols) {
      fail_put({pos.rx + r, pos.cx + done}, cells.type,
               load_bits(cells.type, cells.row(r) + done * size_of(cells.type)), declared);
    }
  }
  const DenseCells made{scratch.data(), declared, cells.rows, cells.cols, row_bytes};
  require_codes(pos, made);
  if (is_part(parts, pos, {cells.rows, cells.cols})) {
    keep_part(pos, made);
  } else {
    write_planned(pos, made, declared, turn);
  }
  scratch_.give_back(std::move(scratch));
}

void BlockWriter::put(BlockPos pos, TileShape shape, ValueType type, std::span<SparseCell> cells,
                      Turn* turn, Parts parts) {
  const ValueType declared = declared_type(pos, shape);
  bool ascending = true, zeros = false;
  std::uint64_t next = 0;  // the lowest key that keeps them ascending
  for (SparseCell& cell : cells) {
    if (cell.row >= shape.rows || cell.col >= shape.cols) {
      throw Error(Errc::out_of_range, "entry " + text({cell.row, cell.col}) +
                                          " is outside the block of " +
                                          extents_text(shape.rows, shape.cols) + " cells");
    }
    if (type != declared && !convert_cell(type, cell.bits, declared, cell.bits)) {
      fail_put({pos.rx + cell.row, pos.cx + cell.col}, type, cell.bits, declared);
    }
    ascending &= cell.key() >= next;
    next = cell.key() + 1;
    zeros |= cell.bits == 0;
  }
  if (const SparseCell* twice = ascending ? nullptr : sort_cells(cells)) {
    throw Error(Errc::invalid_argument, "cell " + text({twice->row, twice->col}) +
                                            " of the block at " + text(pos) +
                                            " is given twice (R5)");
  }
  if (zeros) {
    const auto end = std::remove_if(cells.begin(), cells.end(),
                                    [](const SparseCell& cell) { return cell.bits == 0; });
    cells = cells.first(static_cast<std::size_t>(end - cells.begin()));
  }
  dbdf::ListedRows rows;
  put(pos, rows.list(cells, declared, shape), turn, parts);
}

bool BlockWriter::put_if_clean(BlockPos pos, const CsrCells& cells, Parts parts) {
  const ValueType declared = declared_type(pos, {cells.rows, cells.cols});
  CsrCells stored = cells;
  Array<std::byte> converted;
  if (cells.type != declared) {
    converted.reset(cells.stored() * size_of(declared));
    const std::size_t fitting =
        convert_cells(cells.type, cells.values, size_of(cells.type), declared, converted.data(),
                      size_of(declared), cells.stored());
    if (fitting < cells.stored()) return false;
    stored.values = converted.data();
    stored.type = declared;
  }
  if (!are_clean(stored)) return false;
  put(pos, stored, nullptr, parts);
  return true;
}

void BlockWriter::put(BlockPos pos, const CsrCells& cells, Turn* turn, Parts parts) {
  const ValueType declared = declared_type(pos, {cells.rows, cells.cols});
  require_codes(pos, cells);
  if (is_part(parts, pos, {cells.rows, cells.cols})) return keep_part(pos, cells);
  const dbdf::Survey found = options_.narrow ? survey(cells) : dbdf::Survey{cells.stored(), 0};
  write_rows(pos, cells, found, declared, turn);
}

void BlockWriter::put_empty(BlockPos pos, TileShape shape) {
  declared_type(pos, shape);
  write_empty(pos, shape);
}

void BlockWriter::write_empty(BlockPos pos, TileShape shape, Turn* turn) {
  const Entry entry = entry_of(pos, shape.rows, shape.cols, {}, 0);
  std::array<std::byte, dbdf::kLongestItemHeader> item;
  file_.put(entry, kNoValues, std::span(item).first(dbdf::emit_item_header(item.data(), entry)),
            turn);
}

/// Statistics of the values that the block will store.
BlockStats BlockWriter::stats_of(const DenseCells& cells, ValueType stored) const {
  if (options_.plain) return {};
  return stats_of_values(stored, cells.type, cells.data, cells.rows, cells.cols, cells.row_step);
}

void BlockWriter::write_rows(BlockPos pos, const CsrCells& cells, const dbdf::Survey& found,
                             ValueType declared, Turn* turn) {
  const dbdf::Plan plan = make_plan(found, cells.rows, cells.cols, declared, options_);
  const Entry entry = entry_of(pos, cells.rows, cells.cols, plan, found.nonzero);
  dbdf::EncodedStats stats(cells, plan, !options_.plain);
  BlockStats all;  // known when the rows are encoded
  PieceBuffer buffer = buffers_.take();
  const auto encode = [&] {
    dbdf::emit_item_header(buffer.claim(kPosition + dbdf::header_size(entry.kind)), entry);
    dbdf::RowEncoder encoder(cells, plan, buffer);
    for (std::uint32_t begin = 0, end; begin < cells.row_count(); begin = end) {
      end = end_of_look(cells, begin);
      encoder.put(begin, end);
      stats.reach(end);
    }
    encoder.finish();
    all = stats.finish();
  };
  if (kPosition + entry.bytes <= ItemFile::kSmall) {
    // A small block is one piece, and gets its place when it is complete.
    const TakePiece take = [&](std::uint64_t, std::span<const std::byte> item) {
      file_.put(entry, all, item, turn);
    };
    buffer.start(0, take);
    encode();
    buffer.flush();
  } else {
    file_.put_pieces(entry, all, turn, buffer, encode);
  }
  buffers_.give_back(std::move(buffer));
  if (entry.kind == BlockKind::csr && !options_.plain) row_directory_.add(entry, cells);
}

void BlockWriter::write_planned(BlockPos pos, const DenseCells& cells, ValueType declared,
                                Turn* turn) {
  const dbdf::Survey found = survey(cells);
  const dbdf::Plan plan = make_plan(found, cells.rows, cells.cols, declared, options_);
  if (plan.kind == BlockKind::dense && plan.type == cells.type) {
    write_in_place(pos, cells, declared, turn);
    return;
  }
  if (plan.kind == BlockKind::csr || plan.kind == BlockKind::coo) {
    dbdf::ListedRows rows = rows_.take();
    write_rows(pos, rows.gather(cells, found.nonzero), found, declared, turn);
    rows_.give_back(std::move(rows));
    return;
  }
  if (plan.kind == BlockKind::empty) return write_empty(pos, {cells.rows, cells.cols}, turn);
  const Entry entry = entry_of(pos, cells.rows, cells.cols, plan, found.nonzero);
  std::vector<std::byte> item = take_scratch(kPosition + entry.bytes);
  std::byte* const values = item.data() + dbdf::emit_item_header(item.data(), entry);
  const std::size_t from = size_of(cells.type), to = size_of(plan.type), step = cells.cols * to;
  constexpr std::uint32_t kShort = 8;  // cells: fewer in a row make long runs in the columns
  if (cells.cols < kShort) {
    for (std::uint32_t c = 0; c < cells.cols; ++c) {
      convert_cells(cells.type, cells.data + c * from, cells.row_step, plan.type, values + c * to,
                    step, cells.rows);
    }
  } else {
    for (std::uint32_t r = 0; r < cells.rows; ++r) {
      convert_cells(cells.type, cells.row(r), from, plan.type, values + r * step, to, cells.cols);
    }
  }
  file_.put(entry, stats_of({values, plan.type, cells.rows, cells.cols, step}, plan.type),
            std::span(item).first(kPosition + entry.bytes), turn);
  scratch_.give_back(std::move(item));
}

// Writes dense cells as they are, from the caller's memory.
void BlockWriter::write_in_place(BlockPos pos, const DenseCells& cells, ValueType declared,
                                 Turn* turn) {
  const Entry entry = entry_of(pos, cells.rows, cells.cols, {BlockKind::dense, declared}, 0);
  std::array<std::byte, dbdf::kLongestItemHeader> item_header;
  const auto header =
      std::span(item_header).first(dbdf::emit_item_header(item_header.data(), entry));
  const BlockStats stats = stats_of(cells, declared);
  const bool packed = cells.row_step == cells.row_bytes();
  const std::size_t runs = packed ? 1 : cells.rows;
  const std::size_t run_bytes = packed ? cells.rows * cells.row_bytes() : cells.row_bytes();
  if (kPosition + entry.bytes > ItemFile::kSmall && run_bytes < kShortRun) {
    return write_gathered(entry, stats, header, cells, turn);
  }
  std::vector<iovec> parts;
  parts.reserve(1 + runs);
  parts.push_back({header.data(), header.size()});
  for (std::size_t r = 0; r < runs; ++r) {
    parts.push_back({const_cast<std::byte*>(cells.row(r)), run_bytes});
  }
  file_.put(entry, stats, parts, turn);
}

// Gathers short rows that are not contiguous in pieces: as parts of one system call, they would
// cost more than their bytes.
void BlockWriter::write_gathered(const Entry& entry, const BlockStats& stats,
                                 std::span<const std::byte> header, const DenseCells& cells,
                                 Turn* turn) {
  PieceBuffer buffer = buffers_.take();
  file_.put_pieces(entry, stats, turn, buffer, [&] {
    buffer.put(header);
    for (std::uint32_t r = 0; r < cells.rows; ++r) buffer.put({cells.row(r), cells.row_bytes()});
  });
  buffers_.give_back(std::move(buffer));
}

std::vector<std::byte> BlockWriter::take_scratch(std::size_t bytes) {
  std::vector<std::byte> scratch = scratch_.take();
  if (scratch.size() < bytes) scratch.resize(bytes);
  return scratch;
}

}  // namespace dapple::detail
