// Right hashes for a forged index or hint, so that what is forged gets past them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"

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

/// Signs the trailer of a hint whose content was changed (lib/dbdf/FORMAT.md, "Hints").
inline void sign_hint(std::vector<std::byte>& file, const detail::dbdf::Hint& hint) {
  using namespace detail::dbdf;
  using detail::store_le, detail::xxh3;
  const std::uint64_t end =
      hint.offset + detail::round_up(hint.bytes + kHintTrailer, kLine) - kHintTrailer;
  std::byte* const trailer = file.data() + end;
  store_le(trailer + hint_at::hash, xxh3({file.data() + hint.offset, hint.bytes}));
  store_le(trailer + hint_at::own_hash, xxh3({trailer, hint_at::own_hash}, end));
}

/// The hint with this tag of a sound file. Throws when there is none.
inline detail::dbdf::Hint hint_of(const std::string& path, std::string_view tag) {
  using namespace detail::dbdf;
  const auto file = detail::LocalFile::open(path);
  std::uint64_t body = 0;
  read_header(*file, body);
  return find_hint(*file, body, find_trailer(*file, body).value(), tag).value();
}

}  // namespace dapple::fuzz
