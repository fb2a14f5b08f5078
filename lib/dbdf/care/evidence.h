// What a damaged index still tells of blocks: an entry keeps its worth where the rest of the index,
// or bytes in front of it, are gone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/io/file.h"
#include "lib/object/index.h"

namespace dapple::detail::dbdf {

/// True when both tell of one block, wherever its bytes lie.
bool same_block(const Entry& a, const Entry& b) noexcept;

class Evidence {
 public:
  enum class Verdict : std::uint8_t {
    unknown,  // no entry is left for such a block
    whole,    // the block's bytes fit the hash of an entry
    damaged,  // an entry tells of this block, and was made of other bytes
  };

  /// What is left of the index whose payload starts at that byte. `file` must outlive this.
  Evidence(const MappedFile& file, std::uint64_t payload);

  /// What is known of a block whose bytes have this hash. O(log n), but for the first few of which
  /// entry and bytes disagree: there it may be the hash itself that was damaged, which takes O(n).
  Verdict judge(const Entry& block, std::uint64_t hash);

 private:
  bool is_entry_damaged(std::uint64_t line, std::uint64_t hash);

  std::span<const std::byte> index_;   // from its payload to the end of the file
  std::vector<std::uint64_t> hashes_;  // ascending
  std::vector<std::uint64_t> lines_;   // of entries, by position of their blocks
  unsigned tries_ = 16;                // how often the whole index is still hashed
};

}  // namespace dapple::detail::dbdf
