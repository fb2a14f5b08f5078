// What a damaged index still proves about blocks. An entry is useful even when the rest of the
// index is gone, or when bytes before it are missing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// True when both describe the same block, whatever its offset.
bool same_block(const Entry& a, const Entry& b) noexcept;

class Evidence {
 public:
  enum class Verdict : std::uint8_t {
    unknown,  // no entry for the block is left
    whole,    // the bytes of the block match the hash of an entry
    damaged,  // an entry describes the block, but has another hash
  };

  /// For what is left of the index whose payload starts at this byte. `file` must outlive this.
  Evidence(const ByteSource& file, std::uint64_t payload);

  /// What the index says about a block whose bytes have this hash. O(log n); O(n) for the first few
  /// that do not match their entry, since it may be the hash in the entry that is damaged.
  Verdict judge(const Entry& block, std::uint64_t hash);

 private:
  bool is_entry_damaged(std::uint64_t line, std::uint64_t hash);

  std::span<const std::byte> index_;   // from its payload to the end of the file
  std::vector<std::uint64_t> hashes_;  // ascending
  std::vector<std::uint64_t> lines_;   // of entries, by position of their blocks
  unsigned tries_ = 16;                // how often the whole index may still be hashed
};

}  // namespace dapple::detail::dbdf
