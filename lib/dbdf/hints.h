// Hints: optional auxiliary blocks right before the index block, found from the end of the file
// (FORMAT.md, "Hints"). What a hint says is compared before it is believed; a file without it reads
// the same cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/dbdf/index_block.h"
#include "lib/io/file.h"

namespace dapple::detail::dbdf {

/// A hint ends in a trailer that tells its length, and whether another hint ends before its block.
inline constexpr std::size_t kHintTrailer = 40;
namespace hint_at {
inline constexpr std::size_t bytes = 0, hash = 8, tag = 16, flags = 24, own_hash = 32;
}
inline constexpr std::uint32_t kMoreHints = 1;

/// The content of a hint: bytes of the file, which start with its tag.
struct Hint {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t hash = 0;  // XXH3-64 of the content, as its trailer has it
};

/// Hints of a file that is being written, in file order: each content starts with a tag of eight
/// characters. `offset` is where the block of the first one would go.
class HintWriter {
 public:
  void add(std::vector<std::byte> content);
  bool empty() const noexcept { return contents_.empty(); }
  /// Bytes that must come before the first hint, modulo 64, for the payload of the index block
  /// after the last one to be aligned to 64.
  std::uint64_t alignment() const noexcept;
  /// Hands out the blocks, the first of which starts at byte `offset`.
  void emit(std::uint64_t offset, const std::function<void(std::span<const std::byte>)>& put) const;

 private:
  std::vector<std::vector<std::byte>> contents_;
};

/// The hint with this tag, in front of the index that `trailer` belongs to; nothing when the file
/// has none. `first` is the lowest byte where one may start. Its content's hash is not compared.
/// Throws corrupt when the chain of hints is damaged. O(hints).
std::optional<Hint> find_hint(const MappedFile& file, std::uint64_t first, const Trailer& trailer,
                              std::string_view tag);

/// Calls f(tag, hint) for every hint. Throws corrupt as above.
void for_each_hint(const MappedFile& file, std::uint64_t first, const Trailer& trailer,
                   const std::function<void(std::string_view, const Hint&)>& f);

/// True when the content is what its hash was made of, followed by nothing but zeros. O(bytes).
bool is_whole(const MappedFile& file, const Hint& hint);

}  // namespace dapple::detail::dbdf
