// Files of the published format with their blocks encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/codec/packed/stream.h"
#include "lib/index/entry.h"

namespace dapple::test {

/// One block of a file as it will be written: its entry without a place, and its payload.
struct EncodedBlock {
  detail::Entry entry;
  std::vector<std::byte> payload;
};

/// An item of a file: position, the header of an encoded block as FORMAT.md has it, the payload.
std::vector<std::byte> encoded_item(const EncodedBlock& block);

/// A copy of a file without an index, in which each block that packing makes smaller is packed.
/// Counts these in `packed`.
std::vector<std::byte> with_packed_blocks(
    std::span<const std::byte> file, std::uint64_t& packed,
    detail::packed::Effort effort = detail::packed::Effort::fast);

}  // namespace dapple::test
