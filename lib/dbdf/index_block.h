// The block index as bytes: the payload of an index block or a sidecar (FORMAT.md, "The index").
// Written when a file is finished, and found from the end of the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "lib/dbdf/header.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// The payload consists of lines of 64 bytes: a head, one line per entry, file order and cover tree
/// together, a trailer.
inline constexpr std::size_t kLine = 64;

/// The last bytes of a trailer, and the positions of its fields.
namespace trailer_at {
inline constexpr std::size_t table_hash = 0, bytes = 8, count = 16, tree_words = 24, tile_rows = 32,
                             tile_cols = 36, version = 40, flags = 44, hash = 48, magic = 56;
}

/// The bytes at the end of a file that are fetched first where it is far away.
inline constexpr std::uint64_t kEndFetched = 64 << 10;

/// The length of the payload that `emit_index` makes without a copy, a multiple of kLine.
std::uint64_t index_bytes(const BlockIndex& index);

/// The first line of the payload.
std::array<std::byte, kLine> index_head(const BlockIndex& index, std::uint64_t header_hash);

/// Calls `put` with the pieces of the payload before its trailer, in order, and returns their hash.
/// `header_hash` is the hash of the header of the file whose blocks it lists; `head_copy` whole
/// lines that come last (head_copy.h).
std::uint64_t emit_table(const BlockIndex& index, std::uint64_t header_hash,
                         const std::function<void(std::span<const std::byte>)>& put,
                         std::span<const std::byte> head_copy = {});

/// Whether a hint ends right before the index block, and whether one names the columns of a matrix.
enum class Hints : std::uint8_t { none, some, with_names };

/// The same for the whole payload. It will be the end of a file of `file_size` bytes.
void emit_index(const BlockIndex& index, std::uint64_t header_hash, std::uint64_t file_size,
                Hints hints, const std::function<void(std::span<const std::byte>)>& put,
                std::span<const std::byte> head_copy = {});

/// What the trailer at the end of a file says.
struct Trailer {
  std::uint64_t payload = 0;     // byte of the file where the index payload starts
  std::uint64_t table_hash = 0;  // of all payload bytes before the trailer
  BlockIndex::Place place;       // without `origin`; see `complete`
  bool hints = false;            // a hint ends right before the index block (hints.h)
  bool names = false;            // one names the columns of a matrix
};

/// True when the file ends like a trailer. Reads only the end of the file.
bool ends_in_tag(const ByteSource& file);

/// The trailer at the end of `file`; nothing when there is none or it is damaged. `first` is the
/// lowest byte where an index payload may start. Reads only the end of the file.
std::optional<Trailer> find_trailer(const ByteSource& file, std::uint64_t first);

/// Completes `place` with the shape of the object. False when the tile shape does not fit the
/// object and the number of blocks, so that the index is damaged.
bool complete(BlockIndex::Place& place, std::uint64_t rows, std::uint64_t cols);

/// The index before a trailer, used in place.
BlockIndex index_at(std::shared_ptr<const ByteSource> file, const Trailer& trailer,
                    IndexOrigin origin);

/// True when the index matches the hash in its trailer. Reads all of the index.
bool is_whole(const ByteSource& file, const Trailer& trailer);

/// The hash of the header that belongs to an index; 0: not known. REQUIRES its trailer.
std::uint64_t header_hash(const ByteSource& file, const Trailer& trailer);

/// False when the hash of the file's header (the bytes before `body`) in the index is not that of
/// the header.
bool knows_header(const ByteSource& file, std::uint64_t body, const Trailer& trailer);
/// The header of a matrix in regular tiles, told from the end of a file of which no more has been
/// fetched: rows and columns are those of the last tile's end, and the rest is what has the hash in
/// the index. Nothing when that does not tell.
std::optional<std::array<std::byte, kMatrixHeader>> header_from_index(const ByteSource& file);
/// The error for a header of this kind.
Error header_error(const ByteSource& file);

}  // namespace dapple::detail::dbdf
