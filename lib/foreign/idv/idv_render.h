// Cells of any column as text, and the one value of a metadata block.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "dapple/region.h"
#include "lib/foreign/idv/idv_block.h"
#include "lib/foreign/idv/idv_codec.h"

namespace dapple::detail::idv {

/// Times and truth values as the numbers that are stored, or as columns of them are shown.
enum class Shown : std::uint8_t { stored, meant };

/// Calls `take(row, text)` for each of `rows` of a block of `n` values. Texts are passed as they
/// are, missing ones as nothing; FORMAT.md says how other values look. Throws corrupt.
void render_block(const BlockBytes& block, const ValueCodec& codec, std::uint64_t n, Range rows,
                  Shown shown,
                  const std::function<void(std::uint64_t row, std::string_view text)>& take);

/// Calls `take(slot, text)` for each item, as what it means, of the one vector that a block holds;
/// of texts those that are stored. Throws corrupt. O(slots).
void render_vector(const BlockBytes& block, const ValueCodec& codec,
                   const std::function<void(std::uint64_t slot, std::string&& text)>& take);

}  // namespace dapple::detail::idv
