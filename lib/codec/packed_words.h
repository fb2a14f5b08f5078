// The words of a dictionary in fewer bytes: a frame of zstd that holds the length of each word, as
// u32, and then the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dapple::detail {

/// Words and lengths are at most this many times as large as their frame: one that claims more is
/// not decoded.
inline constexpr std::uint64_t kMostWordRatio = 1000;

/// The frame for `offsets`, one more u64 than words, and the words. Empty where they are
/// few, that saves less than 5 %, or a word is 4 GiB long.
std::vector<std::byte> pack_words(std::span<const std::byte> offsets,
                                  std::span<const std::byte> words);

/// Decodes a frame to offsets and words, of which it has these sizes. False if it is damaged.
/// Throws bad_alloc.
bool unpack_words(std::span<const std::byte> frame, std::span<std::byte> offsets,
                  std::span<std::byte> words);

}  // namespace dapple::detail
