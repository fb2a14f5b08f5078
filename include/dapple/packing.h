// What packing saves, before anything is written. `WriteOptions::pack` packs.
#pragma once

#include <cstdint>
#include <variant>

#include "dapple/convert.h"

namespace dapple {

/// Bytes of a dbdf file.
struct PackingEstimate {
  std::uint64_t plain = 0, fast = 0, small = 0;  // as `Packing` has them
  bool sampled = false;                          // the object is large: they are estimates
};

/// How large a dbdf file of the whole object is, without packing and with it. Eight runs of its
/// rows, of about 4 MiB each, are packed and measured, or all of an object that is not larger than
/// they are; nothing is written. Throws what `convert` throws.
PackingEstimate estimate_packing(const std::variant<Matrix, Frame>& in,
                                 const ConvertOptions& options = {});

}  // namespace dapple
