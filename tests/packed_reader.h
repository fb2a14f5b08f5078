// A second reader of packed payloads, written from lib/codec/packed/FORMAT.md alone: bit by bit,
// all of a block at once, with nothing of the library but the names of types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dapple/block.h"
#include "dapple/value_type.h"

namespace dapple::test {

/// The payload of the plain block. Throws std::runtime_error when a rule of the page is broken.
std::vector<std::byte> read_packed(BlockKind kind, ValueType type, std::uint64_t rows,
                                   std::uint64_t cols, std::uint64_t stored,
                                   std::span<const std::byte> packed);

}  // namespace dapple::test
