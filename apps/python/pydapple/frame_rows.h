// Rows of a frame in any order. No Python in here.
#pragma once

#include <cstdint>
#include <span>

#include "dapple/frame.h"

namespace pydapple {

/// Copies rows of columns, in the order of `wanted`, in which one may be there twice. Rows that are
/// near each other are read at once. Throws what Frame::read_rows throws.
void gather_rows(const dapple::Frame& frame, std::span<const std::uint64_t> wanted,
                 std::span<const dapple::ColumnBuffer> out,
                 const dapple::ReadOptions& options = {});

}  // namespace pydapple
