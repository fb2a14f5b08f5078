// Bytes of a file in its map, or in memory that is kept for them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace dapple::detail {

/// Bytes that somebody needs for a while: mostly the payload of a block. Cheap to copy. Valid as
/// long as a copy of this and the source of the bytes live.
struct HeldBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keep;  // their owner; null: the map
  bool keeps_map = false;            // the owner has them in a map, too

  const std::byte* data() const noexcept { return bytes.data(); }
  std::size_t size() const noexcept { return bytes.size(); }
  /// True when they are in the map, and so are valid without `keep`.
  bool is_mapped() const noexcept { return keep == nullptr; }
  /// True when they are bytes of a file, and no memory is taken for them.
  bool is_in_file() const noexcept { return is_mapped() || keeps_map; }
};

}  // namespace dapple::detail
