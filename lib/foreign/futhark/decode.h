// The drivers of Futhark files: binary values in place, text tile by tile.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/foreign/futhark/element.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/object/store.h"

namespace dapple::detail::futhark {

/// How the elements of one value are stored.
struct Layout {
  ElementType element = ElementType::i32;
  bool binary = false;
  std::uint64_t row_bytes = 0;  // of a binary value, from one row to the next
};

struct FutharkState final : DriverState {
  Dialect dialect = Dialect::untyped;
  std::vector<Layout> values;            // of a frame one per column; of a matrix one
  std::vector<TileStart> string_starts;  // tiles that start inside "...", by offset

  const Layout& layout(std::uint64_t col) const {
    return values.size() == 1 ? values.front() : values[col];
  }
};

/// For objects of binary values only, and for those with text.
extern const Driver kBinaryDriver;
extern const Driver kTextDriver;

}  // namespace dapple::detail::futhark
