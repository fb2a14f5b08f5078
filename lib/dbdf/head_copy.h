// What opening a file needs of bytes that are far from its end, once more right before the trailer
// of its index, so that one request for the end opens it (FORMAT.md, "The copy of the head").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dapple/blocked_object.h"
#include "lib/dbdf/index_block.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

class HintWriter;

/// Names and places of all hints of a file, what packing saves, and the bytes that opening it
/// reads.
struct HeadCopy {
  struct Listed {
    std::string_view tag;
    std::uint64_t offset, bytes;  // of the content
  };
  struct Piece {
    std::uint64_t offset;
    std::span<const std::byte> bytes;
  };
  std::vector<Listed> hints;  // the last one first
  std::vector<Piece> pieces;  // the first one is the file header
  PackedCounts packed{};
};

/// What packing saves, by all entries. O(blocks).
PackedCounts count_packed(const BlockIndex& index);

/// The copy, as whole lines to be put before the trailer of a file whose hints start at byte
/// `hints_at`. Empty where the end of the file is enough to open it, or the copy would be too large
/// for that end.
std::vector<std::byte> emit_head_copy(const BlockIndex& index, std::span<const std::byte> header,
                                      const HintWriter& hints, std::uint64_t hints_at);

/// The copy before `trailer`, which ends `file`; nothing where there is none or it is damaged. It
/// refers to bytes that the file keeps. Does not compare it with what it is a copy of.
std::optional<HeadCopy> find_head_copy(const ByteSource& file, const Trailer& trailer);

/// Throws corrupt where it differs from what it is a copy of. `first` is the lowest byte where a
/// hint may start.
void check_head_copy(const ByteSource& file, std::uint64_t first, const Trailer& trailer);

}  // namespace dapple::detail::dbdf
