// Whether the numbers of a frame's columns stand for anything: codes for words, 0 and 1 for truth
// values (FORMAT.md, "Columns").
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dapple/block.h"
#include "dapple/region.h"
#include "lib/dbdf/write/block_plan.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// True when one of these columns holds codes or truth values, so that some numbers stand for
/// nothing.
bool hold_codes(const Schema& schema, Range cols);

/// Says which cell of the block at `pos` has no meaning, or nothing when all have
/// one. REQUIRES cells of their columns' value type.
std::optional<std::string> find_bad_code(const Schema& schema, BlockPos pos,
                                         const DenseCells& cells);
/// Passes over entries outside the block.
std::optional<std::string> find_bad_code(const Schema& schema, BlockPos pos, const CsrCells& cells);

}  // namespace dapple::detail::dbdf
