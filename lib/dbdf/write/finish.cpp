// The end of a file that is written: blocks that are copied as bytes, tiles of which there are
// parts, gaps, hints, the index.

#include <string>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/codec/codecs.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/object_hints.h"
#include "lib/dbdf/statistics.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/dbdf/write/checks.h"
#include "lib/dbdf/write/tiling.h"

namespace dapple::detail {

using dbdf::kPosition;

void BlockWriter::take_over(const ByteSource& from, EntryTable blocks,
                            std::vector<BlockStats> stats) {
  file_.take_over(from, dbdf::emit_header(schema_).size(), std::move(blocks), std::move(stats));
}

void BlockWriter::take_over(const Entry& block, const RowCounts& counts) {
  if (!options_.plain) row_directory_.add(block, counts);
}

void BlockWriter::put_bytes(const Entry& entry, std::span<const std::byte> item) {
  if (entry.codec == 0 || !options_.plain) return file_.put(entry, {}, item);
  Entry plain = entry;
  plain.codec = 0;
  dbdf::block_size(plain.kind, plain.rows, plain.cols, plain.value_type, plain.stored, plain.bytes);
  std::vector<std::byte> made(kPosition + plain.bytes);
  const std::size_t header = dbdf::emit_item_header(made.data(), plain);
  const auto stored = item.subspan(kPosition + dbdf::kEncodedHeader);
  const BlockCodec* const codec = find_codec(entry.codec);
  if (codec == nullptr) {
    throw Error(Errc::unsupported, file_.name(), std::nullopt,
                "block " + text(entry.pos) + " is stored in codec " + std::to_string(entry.codec) +
                    ", which this version does not know, and so cannot make plain");
  }
  codec->decode({entry.kind, entry.value_type, entry.rows, entry.cols, entry.stored},
                {stored, entry.offset + dbdf::kEncodedHeader, file_.name()},
                std::span(made).subspan(header));
  file_.put(plain, {}, made);
}

void BlockWriter::put_parts(const std::function<std::vector<dbdf::TilePart>()>& take) {
  try {
    for (const dbdf::TilePart& part : take()) {
      part.is_sparse() ? put(part.pos, part.csr()) : put(part.pos, part.dense());
    }
  } catch (...) {
    file_.give_up();
    throw;
  }
}

WriteSummary BlockWriter::finish() {
  put_parts([&] { return open_tiles_.take_all(); });
  fill_gaps();
  WriteSummary summary;
  summary.counts = write_index().counts();
  summary.bytes = file_.publish(options_.sync);
  return summary;
}

BlockIndex BlockWriter::finish_as(Schema schema) {
  schema_ = std::move(schema);
  if (!options_.plain) dbdf::require_utf8(schema_, file_.name());
  file_.replace_header(dbdf::checked_header(schema_));
  fill_gaps();
  BlockIndex index = write_index();
  file_.publish(options_.sync);
  return index;
}

void BlockWriter::declare(std::uint64_t col, ValueType type) {
  (schema_.kind == ObjectKind::matrix ? schema_.value_type : schema_.columns[col].value_type) =
      type;
}

/// Puts empty blocks where nothing was put (R7). Once.
void BlockWriter::fill_gaps() {
  if (finished_.exchange(true)) {
    throw Error(Errc::invalid_argument, file_.name(), std::nullopt, "the file was finished before");
  }
  if (gaps_ == Gaps::fill) {
    const auto missing = dbdf::naming(file_.name(), [&] {
      return dbdf::uncovered_tiles(file_.entries(), schema_, tile_, strips_);
    });
    for (const auto& [pos, shape] : missing) write_empty(pos, shape);
  }
  file_.require_whole();
}

/// The index of all blocks, which is written unless the file is plain.
BlockIndex BlockWriter::write_index() {
  try {
    BlockIndex index =
        BlockIndex::from_entries(file_.take_entries(), schema_.rows, schema_.cols, file_.name());
    if (options_.plain) return index;
    dbdf::HintWriter hints;
    const auto words =
        options_.pack == Packing::none ? dbdf::WordsAs::plain : dbdf::WordsAs::packed;
    hints.add_columns(dbdf::emit_columns(schema_, words), schema_.kind);
    dbdf::add_object_hints(schema_, hints);
    if (keeps_stats() && dbdf::statistics_pay(index)) {
      hints.add(dbdf::emit_statistics(index, file_.take_stats()));
    }
    hints.add(row_directory_.emit(index));
    hints.add(std::move(hint_));
    file_.put_index(index, dbdf::emit_header(schema_), std::move(hints));
    return index;
  } catch (const Error& e) {
    if (e.code() == Errc::corrupt) {
      throw Error(Errc::invalid_argument, file_.name(), std::nullopt, e.detail(), e.option());
    }
    throw;
  }
}

}  // namespace dapple::detail
