// Memory for bytes of a RangedSource.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/array.h"
#include "lib/io/ranged_source.h"

namespace dapple::detail {

/// Bytes [offset, offset + size) of the source, aligned as there.
struct RangedSource::Buffer {
  static constexpr std::uint64_t kAlignment = 64;  // that `at` promises

  Buffer(std::uint64_t first, std::uint64_t n)
      : offset(first), size(n), memory(static_cast<std::size_t>(n + kAlignment)) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    data = memory.data() + (first - address) % kAlignment;
  }
  const std::byte* at(std::uint64_t from) const noexcept { return data + (from - offset); }

  std::uint64_t offset, size;
  mutable std::uint64_t asked = 0, taken = 0;  // where they wait: how many of them
  Array<std::byte> memory;                     // in huge pages where it is large
  std::byte* data;
};

}  // namespace dapple::detail
