// Taking deflated members out of an archive.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dapple/region.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::zip {

struct Packed {
  Range bytes;         // of the archive
  std::uint64_t size;  // of the content
  std::uint32_t crc;   // CRC-32 of the content
  bool deflated;
};

/// Each part starts at a multiple of this.
inline constexpr std::uint64_t kUnpackedAlign = 64;

/// An unnamed temporary file with the contents of parts one after the other. Throws corrupt when
/// one is damaged, or is not as long as it should be; io. O(bytes); memory does not grow with them.
std::shared_ptr<ByteSource> unpack(const ByteSource& archive, std::span<const Packed> parts);

}  // namespace dapple::detail::zip
