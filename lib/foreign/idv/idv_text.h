// A block of texts: end positions in UTF-16 code units, then one UTF-8 string of all of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/foreign/idv/idv_block.h"

namespace dapple::detail::idv {

class TextRun {
 public:
  /// The `n` texts that the rest of `in` holds. Throws corrupt when their number, their positions
  /// or the UTF-8 are not in order, or bytes are left. Borrows the block's bytes. O(bytes).
  TextRun(BlockReader& in, std::uint64_t n);

  /// Appends text `i` as UTF-8; nothing for a missing one. A position may lie between the two
  /// halves of a surrogate pair: each half becomes U+FFFD, as .NET writes it. REQUIRES i < n.
  void append(std::uint64_t i, std::string& out) const;
  bool missing(std::uint64_t i) const noexcept { return ends_[i].missing; }

 private:
  struct End {
    std::uint32_t units = 0;  // position in UTF-16 code units
    std::uint32_t byte = 0;   // and in the string: of the sequence that a split one splits
    bool split = false;
    bool missing = false;
  };
  void place_ends(const BlockReader& in, std::uint64_t text_at);

  std::vector<End> ends_;
  std::string_view text_;
};

}  // namespace dapple::detail::idv
