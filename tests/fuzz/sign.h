// Right hashes for an index that lies, so that the lie reaches the code behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/io/hash.h"

namespace dapple::fuzz {

/// Signs the index at the end of `file` (lib/dbdf/FORMAT.md, "The index"), if there is room.
inline void sign_index(std::vector<std::byte>& file) {
  using detail::load_le, detail::store_le, detail::xxh3;
  constexpr std::size_t line = 64;
  if (file.size() < 2 * line) return;
  std::byte* const trailer = file.data() + file.size() - line;
  const auto bytes = load_le<std::uint64_t>(trailer + 8);
  if (bytes >= 2 * line && bytes <= file.size()) {
    std::byte* const head = file.data() + file.size() - bytes;
    store_le(head + 48, xxh3({head, 48}));
    store_le(trailer, xxh3({head, static_cast<std::size_t>(bytes) - line}));
  }
  store_le(trailer + 40, std::uint32_t{1});
  store_le(trailer + 48, xxh3({trailer, 48}, file.size()));
  std::memcpy(trailer + 56, "DPL-TAIL", 8);
}

}  // namespace dapple::fuzz
