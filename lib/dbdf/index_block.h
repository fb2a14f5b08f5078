// The block index as bytes: the payload of an index block, and of a sidecar (FORMAT.md,
// "The index"). Written when a file is finished, and found from the end of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "lib/io/file.h"
#include "lib/object/index.h"

namespace dapple::detail::dbdf {

/// The payload consists of lines of 64 bytes: a head, one line per entry, file order and cover tree
/// together, a trailer.
inline constexpr std::size_t kLine = 64;

/// How a trailer ends, and the positions of its fields.
inline constexpr char kTrailerTag[9] = "DPL-TAIL";
namespace trailer_at {
inline constexpr std::size_t table_hash = 0, bytes = 8, count = 16, tree_words = 24, tile_rows = 32,
                             tile_cols = 36, version = 40, flags = 44, hash = 48, magic = 56;
}

/// Length of the payload that `emit_index` makes. A multiple of kLine.
std::uint64_t index_bytes(const BlockIndex& index);

/// Hands out the index payload up to its trailer, in order and in pieces; returns its hash.
/// `header_hash` is that of the header of the file whose blocks it lists.
std::uint64_t emit_table(const BlockIndex& index, std::uint64_t header_hash,
                         const std::function<void(std::span<const std::byte>)>& put);

/// Hands out the whole payload likewise. It will be the end of a file of `file_size` bytes; with
/// `hints`, one ends right before its block.
void emit_index(const BlockIndex& index, std::uint64_t header_hash, std::uint64_t file_size,
                bool hints, const std::function<void(std::span<const std::byte>)>& put);

/// What the trailer at the end of a file says.
struct Trailer {
  std::uint64_t payload = 0;     // byte of the file where the index payload starts
  std::uint64_t table_hash = 0;  // of all payload bytes before the trailer
  BlockIndex::Place place;       // without `origin` and `run`; see `complete`
  bool even = false;             // the entries are the tiles of a run
  bool hints = false;            // a hint ends right before the index block (hints.h)
};

/// True when the file ends as every trailer does. Reads the end of the file only.
bool ends_in_tag(const MappedFile& file);

/// The trailer that ends `file`; nothing when there is none, or a damaged one. `first` is the
/// lowest byte where an index payload may start. Reads the end of the file only.
std::optional<Trailer> find_trailer(const MappedFile& file, std::uint64_t first);

/// Fills in what the object tells about the index. False when the tile shape does not fit the
/// object and the number of blocks, so that the index is damaged.
bool complete(BlockIndex::Place& place, std::uint64_t rows, std::uint64_t cols);

/// The index of a trailer, used in place.
BlockIndex index_at(std::shared_ptr<const MappedFile> file, const Trailer& trailer,
                    IndexOrigin origin);

/// True when the hash of the index's bytes is what the trailer says. Reads all of the index.
bool is_whole(const MappedFile& file, const Trailer& trailer);

/// False when the index at the end of the file has a hash of the file's header, the bytes before
/// `body`, and it is another one.
bool knows_header(const MappedFile& file, std::uint64_t body, const Trailer& trailer);
/// The error for a header that the index does not know.
Error header_error(const MappedFile& file);

}  // namespace dapple::detail::dbdf
