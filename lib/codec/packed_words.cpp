#include "lib/codec/packed_words.h"

#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "dapple/array.h"
#include "lib/base/bytes.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kFewest = 4096;  // bytes that are worth packing

}

std::vector<std::byte> pack_words(std::span<const std::byte> offsets,
                                  std::span<const std::byte> words) {
  const std::size_t n = offsets.size() / 8 - 1, plain = offsets.size() + words.size();
  if (plain < kFewest) return {};
  std::vector<std::byte> content(n * 4 + words.size());
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = load_le<std::uint64_t>(offsets.data() + i * 8);
    const std::uint64_t length = load_le<std::uint64_t>(offsets.data() + i * 8 + 8) - begin;
    if (length > std::numeric_limits<std::uint32_t>::max()) return {};
    store_le(content.data() + i * 4, static_cast<std::uint32_t>(length));
  }
  std::copy(words.begin(), words.end(), content.begin() + static_cast<std::ptrdiff_t>(n * 4));
  std::vector<std::byte> frame(ZSTD_compressBound(content.size()));
  const std::size_t size =
      ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 3);
  // With that much room, only memory can be short.
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  if (size > plain / 20 * 19 || content.size() / kMostWordRatio > size) return {};
  frame.resize(size);
  return frame;
}

bool unpack_words(std::span<const std::byte> frame, std::span<std::byte> offsets,
                  std::span<std::byte> words) {
  const std::size_t n = offsets.size() / 8 - 1;
  Array<std::byte> content(n * 4 + words.size());
  const std::size_t size =
      ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0 || size != content.size()) return false;
  std::uint64_t end = 0;
  store_le(offsets.data(), end);
  for (std::size_t i = 0; i < n; ++i) {
    end += load_le<std::uint32_t>(content.data() + i * 4);
    store_le(offsets.data() + i * 8 + 8, end);
  }
  if (end != words.size()) return false;
  std::copy(content.begin() + n * 4, content.end(), words.begin());
  return true;
}

}  // namespace dapple::detail
