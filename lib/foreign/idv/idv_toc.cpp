#include "lib/foreign/idv/idv_toc.h"

#include <set>

#include "lib/base/bytes.h"
#include "lib/foreign/idv/idv_block.h"
#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {
namespace {

// Name, load name of one character, its parameters' length, compression, rows per block and
// lookup offset: no entry is shorter.
constexpr std::uint64_t kShortestEntry = 1 + 2 + 1 + 1 + 1 + 8;

/// Reads an offset that is 0 where there is nothing, or in [256, tail].
std::uint64_t read_offset(ByteReader& in, const Header& header, std::string_view what) {
  const std::uint64_t at = in.offset();
  // A negative one is above every tail.
  const auto offset = in.le<std::uint64_t>("the offset of " + std::string(what));
  if (offset != 0 && (offset < kHeaderBytes || offset > header.tail_offset)) {
    in.fail(at, misplaced(what, offset, header));
  }
  return offset;
}

/// `room` is what the lookup tables of this and the following columns may take. Tables that share
/// bytes are refused by it: a short file could claim any number of blocks with them.
void read_lookup_offset(ByteReader& in, const Header& header, TocColumn& column,
                        std::uint64_t& room) {
  const std::uint64_t at = in.offset();
  column.lookup_offset = in.le<std::uint64_t>("the offset of a lookup table");
  if (header.rows == 0) return;
  const std::uint64_t blocks = block_count(header.rows, column.block_rows);
  if (blocks > room / kLookupBytes) {
    in.fail(at, "the lookup table has " + std::to_string(blocks) +
                    " entries, but between header and tail there is room for " +
                    std::to_string(room / kLookupBytes));
  }
  room -= blocks * kLookupBytes;
  const std::uint64_t last = header.tail_offset - blocks * kLookupBytes;
  if (column.lookup_offset < kHeaderBytes || column.lookup_offset > last) {
    in.fail(at, misplaced("a lookup table of " + std::to_string(blocks * kLookupBytes) + " bytes",
                          column.lookup_offset, header));
  }
}

void read_block_rows(ByteReader& in, const Header& header, TocColumn& column) {
  const std::uint64_t at = in.offset();
  column.block_rows = read_leb128(in, "the number of rows per block");
  const std::uint64_t least = header.rows > 0 ? 1 : 0;
  if (column.block_rows < least || column.block_rows > kMaxInt) {
    in.fail(at, "a block has 1 to 2147483647 rows, not " + std::to_string(column.block_rows));
  }
  if (column.block_rows == 0) column.block_rows = 1;  // no rows: no block either way
}

void read_slot_names_place(ByteReader& in, const Header& header, TocColumn& column) {
  const std::uint64_t at = in.offset();
  column.slot_names_offset = read_offset(in, header, "a table of slot names");
  if (column.slot_names_offset == 0) return;
  column.slot_names_bytes = in.le<std::uint64_t>("the size of slot names");
  const auto count = in.le<std::int32_t>("the number of slot names");
  const std::uint64_t room = header.tail_offset - column.slot_names_offset;
  // A slot name is its number and at least the byte of its length.
  if (column.slot_names_bytes > room || count < 0 ||
      static_cast<std::uint64_t>(count) > column.slot_names_bytes / 5) {
    in.fail(at, std::to_string(count) + " slot names in " +
                    std::to_string(static_cast<std::int64_t>(column.slot_names_bytes)) +
                    " bytes do not fit the " + counted(room, "byte") + " before the tail");
  }
  column.slot_names_count = static_cast<std::uint32_t>(count);
}

}  // namespace

std::vector<TocColumn> read_toc(const ByteSource& file, const Header& header) {
  std::vector<TocColumn> columns;
  if (header.columns == 0) return columns;
  const std::uint64_t room = header.tail_offset - header.toc_offset;
  ByteReader in(file.bytes(header.toc_offset, room), header.toc_offset, file.name());
  if (header.columns > room / kShortestEntry) {
    in.fail(header.toc_offset, "a table of contents of " + counted(header.columns, "column") +
                                   " does not fit the " + counted(room, "byte") +
                                   " before the tail");
  }
  std::uint64_t lookup_room = header.tail_offset - kHeaderBytes;
  for (std::uint32_t i = 0; i < header.columns; ++i) {
    TocColumn column;
    column.name = read_string(in, "a column's name");
    column.codec = read_codec(in);
    column.compression = static_cast<Compression>(in.le<std::uint8_t>("a compression"));
    read_block_rows(in, header, column);
    read_lookup_offset(in, header, column, lookup_room);
    if (header.version == kSlotNamesVersion) read_slot_names_place(in, header, column);
    if (header.version >= kMetadataVersion) {
      column.metadata_offset = read_offset(in, header, "a metadata table");
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

void put_toc_column(std::vector<std::byte>& out, const TocColumn& column) {
  put_string(out, column.name);
  put_codec(out, column.codec);
  append_le(out, static_cast<std::uint8_t>(column.compression));
  put_leb128(out, column.block_rows);
  append_le(out, column.lookup_offset);
  append_le(out, column.metadata_offset);
}

void MetadataRoom::take(const ByteSource& file, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes > stored_) {
    throw Error(Errc::corrupt, file.name(), offset,
                std::to_string(bytes) + " bytes of metadata overlap other metadata: only " +
                    std::to_string(stored_) + " bytes are left");
  }
  stored_ -= bytes;
}

std::vector<MetadataEntry> read_metadata_table(const ByteSource& file, const Header& header,
                                               const TocColumn& column, MetadataRoom& room) {
  std::vector<MetadataEntry> entries;
  if (column.metadata_offset == 0) return entries;
  const std::uint64_t start = column.metadata_offset;
  ByteReader in(file.bytes(start, header.tail_offset - start), start, file.name());
  const std::uint64_t count = read_leb128(in, "the number of metadata entries");
  // Kind, load name, parameters' length, compression, offset and size take 15 bytes at least.
  if (count == 0 || count > in.remaining() / 15) {
    in.fail(start, count == 0 ? "the metadata table has no entries"
                              : std::to_string(count) + " metadata entries do not fit the " +
                                    counted(in.remaining(), "byte") + " before the tail");
  }
  std::set<std::string> kinds;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = in.offset();
    MetadataEntry entry;
    entry.kind = read_string(in, "a metadata kind");
    if (entry.kind.empty()) in.fail(at, "the metadata kind is empty");
    if (!kinds.insert(entry.kind).second) {
      in.fail(at, "the metadata kind \"" + entry.kind + "\" is there twice");
    }
    entry.codec = read_codec(in);
    entry.compression = static_cast<Compression>(in.le<std::uint8_t>("a compression"));
    const std::uint64_t place = in.offset();
    entry.offset = in.le<std::uint64_t>("the offset of a metadata block");
    entry.bytes = read_leb128(in, "the size of a metadata block");
    if (entry.offset < kHeaderBytes || entry.offset > header.tail_offset || entry.bytes == 0 ||
        entry.bytes > header.tail_offset - entry.offset) {
      in.fail(place, entry.bytes == 0
                         ? "the metadata block is empty"
                         : misplaced("a metadata block of " + counted(entry.bytes, "byte"),
                                     entry.offset, header));
    }
    entries.push_back(std::move(entry));
  }
  room.take(file, start, in.offset() - start);
  return entries;
}

}  // namespace dapple::detail::idv
