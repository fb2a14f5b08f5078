// Hints: optional auxiliary blocks right before the index block, found from the end of the file
// (FORMAT.md, "Hints"). A hint is checked before it is used. It never changes the stored cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// A hint ends in a trailer with its length, which also says whether another hint precedes it.
inline constexpr std::size_t kHintTrailer = 40;
namespace hint_at {
inline constexpr std::size_t bytes = 0, hash = 8, tag = 16, flags = 24, own_hash = 32;
}
inline constexpr std::uint32_t kMoreHints =
    1;  // the other bits, and the four bytes after, are zero

/// The content of a hint: bytes of the file, which start with its tag.
struct Hint {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t hash = 0;  // XXH3-64 of the content, according to the trailer
};

/// Bytes of the position and the header of a block that holds a hint.
inline constexpr std::uint64_t kHintHeader = kPosition + kDenseHeader;
/// Both, of a hint with `content` bytes of content.
std::array<std::byte, kHintHeader> hint_header(std::uint64_t content);
/// The payload of a hint with `content` bytes of content: whole lines.
constexpr std::uint64_t hint_payload(std::uint64_t content) noexcept {
  return round_up(content + kHintTrailer, kLine);
}
/// What follows the content that starts at byte `offset`, up to the end of the block: zeros and the
/// trailer.
std::vector<std::byte> hint_end(std::span<const std::byte> content, std::uint64_t offset,
                                bool more);

/// The hints of a file that is being written, in file order. Each content starts with a tag of
/// eight characters.
class HintWriter {
 public:
  /// Empty content is no hint.
  void add(std::vector<std::byte> content);
  /// What the columns of a frame mean, or the names of those of a matrix.
  void add_columns(std::vector<std::byte> content, ObjectKind of);
  bool empty() const noexcept { return contents_.empty(); }
  const std::vector<std::vector<std::byte>>& contents() const noexcept { return contents_; }
  /// The content with this tag; empty when there is none.
  std::span<std::byte> find(std::string_view tag) noexcept;
  /// Of all blocks.
  std::uint64_t bytes() const noexcept;
  Hints kind() const noexcept {
    if (names_) return Hints::with_names;
    return empty() ? Hints::none : Hints::some;
  }
  /// How many bytes after byte `offset` the first hint has to start, or else the index block, for
  /// the payload of that block to be aligned to 64.
  std::uint64_t gap_after(std::uint64_t offset) const noexcept;
  /// Hands out the blocks, the first of which starts at byte `offset`.
  void emit(std::uint64_t offset, const std::function<void(std::span<const std::byte>)>& put) const;

 private:
  std::vector<std::vector<std::byte>> contents_;
  bool names_ = false;
};

/// Hands out the hints and the index of what has `size` bytes and is no dbdf file: the sidecar of
/// one, or the state of a data set. They are where a file has them, but there are zeros in place of
/// the padding and of the header of the index block.
void emit_index_apart(const BlockIndex& index, std::uint64_t header_hash, std::uint64_t size,
                      HintWriter hints, const std::function<void(std::span<const std::byte>)>& put);

/// The last hint with this tag before the index that `trailer` belongs to, or nothing. `first` is
/// the lowest byte where a hint may start. Does not compare the content with its hash. Throws
/// corrupt when the chain of hints is damaged. O(hints).
std::optional<Hint> find_hint(const ByteSource& file, std::uint64_t first, const Trailer& trailer,
                              std::string_view tag);

/// Calls f(tag, hint) for every hint. Throws corrupt as above, and when there is one more than the
/// flags say.
void for_each_hint(const ByteSource& file, std::uint64_t first, const Trailer& trailer,
                   const std::function<void(std::string_view, const Hint&)>& f);

/// The hint with this tag whose trailer ends at byte `end`, and that takes at most `room` bytes;
/// nothing where there is none.
std::optional<Hint> hint_ending_at(const ByteSource& file, std::uint64_t end, std::uint64_t room,
                                   std::string_view tag);

/// True when an auxiliary block that a walk came across is a hint with this tag, according to its
/// content or to its trailer, so that one of them may be damaged.
bool may_be_hint(const ByteSource& file, const Entry& block, std::string_view tag);

/// The hint in a block of hints. Throws corrupt when its trailer is damaged.
Hint hint_in(const ByteSource& file, const Entry& block);

/// True when the content matches its hash and only zeros follow it. O(bytes).
bool is_whole(const ByteSource& file, const Hint& hint);

}  // namespace dapple::detail::dbdf
