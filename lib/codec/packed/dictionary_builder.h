// The distinct values of a stream, and the place of each value among them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lib/codec/packed/bit_kernels.h"

namespace dapple::detail::packed {

/// The distinct words, the most frequent first, so that most codes are small; nothing if there are
/// more than `most`. `codes` gets the place of each word; it may be nullptr. O(words).
template <Word W>
std::optional<std::vector<W>> make_dictionary(std::span<const W> words, std::size_t most, W* codes);

}  // namespace dapple::detail::packed
