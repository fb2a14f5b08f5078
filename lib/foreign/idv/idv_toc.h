// The table of contents: what the columns are, and where their lookup tables, metadata and slot
// names are. The version in the file's header decides which fields an entry has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/codec/inflate.h"
#include "lib/foreign/idv/idv_codec.h"
#include "lib/foreign/idv/idv_header.h"

namespace dapple::detail::idv {

/// How blocks are compressed. Any other number in a file makes its column unreadable.
enum class Compression : std::uint8_t {
  none = 0,
  deflate = 1,  // RFC 1951
  zlib = 2,     // RFC 1950; never written by ML.NET
};
constexpr bool is_known(Compression c) noexcept { return c <= Compression::zlib; }
/// REQUIRES compression other than none.
constexpr Wrapper wrapper_of(Compression compression) noexcept {
  return compression == Compression::zlib ? Wrapper::zlib : Wrapper::raw;
}

/// One column as the file has it.
struct TocColumn {
  std::string name;
  ValueCodec codec;
  Compression compression = Compression::none;
  std::uint64_t block_rows = 1;       // rows per block, at least 1
  std::uint64_t lookup_offset = 0;    // of no meaning in a file without rows
  std::uint64_t metadata_offset = 0;  // 0: none
  // Version 1.1.1.3 only.
  std::uint64_t slot_names_offset = 0;  // 0: none
  std::uint64_t slot_names_bytes = 0;
  std::uint32_t slot_names_count = 0;

  /// Its values can be read. ML.NET calls other columns dead and goes on without them.
  bool alive() const noexcept { return codec.known() && is_known(compression); }
};

/// All columns. Everything that they point to is inside the file afterwards: lookup tables,
/// and at least the first byte of metadata tables. Throws corrupt. O(columns).
std::vector<TocColumn> read_toc(const ByteSource& file, const Header& header);

/// Number of blocks of `block_rows` rows that hold `rows` rows.
constexpr std::uint64_t block_count(std::uint64_t rows, std::uint64_t block_rows) noexcept {
  return rows / block_rows + (rows % block_rows != 0 ? 1 : 0);
}

/// What the writer puts for one column.
void put_toc_column(std::vector<std::byte>& out, const TocColumn& column);

/// One entry of a column's metadata table: a block that holds one value.
struct MetadataEntry {
  std::string kind;
  ValueCodec codec;
  Compression compression = Compression::none;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool alive() const noexcept { return codec.known() && is_known(compression); }
};

/// What the metadata of all columns may take while somebody goes through it: together no more bytes
/// than there are between header and tail, since no program lets columns share them, and a limit
/// once they are inflated. A short file could say gigabytes otherwise, and take time in its square.
class MetadataRoom {
 public:
  static constexpr std::uint64_t kMostInflated = std::uint64_t{64} << 20;

  explicit MetadataRoom(const Header& header) noexcept
      : stored_(header.tail_offset - kHeaderBytes) {}

  /// Throws corrupt when `bytes` bytes at `offset` are more than what is left.
  void take(const ByteSource& file, std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t inflated() const noexcept { return inflated_; }
  /// REQUIRES bytes <= inflated().
  void take_inflated(std::uint64_t bytes) noexcept { inflated_ -= bytes; }

 private:
  std::uint64_t stored_;
  std::uint64_t inflated_ = kMostInflated;
};

/// The column's metadata table; nothing when it has none. Throws corrupt.
std::vector<MetadataEntry> read_metadata_table(const ByteSource& file, const Header& header,
                                               const TocColumn& column, MetadataRoom& room);

}  // namespace dapple::detail::idv
