// The driver of Futhark files: binary values in place.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/foreign/futhark/element.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/object/store.h"

namespace dapple::detail::futhark {

/// How the elements of one binary value are stored.
struct Layout {
  ElementType element = ElementType::i32;
  std::uint64_t row_bytes = 0;  // from one row to the next
};

struct FutharkState final : DriverState {
  std::vector<Layout> values;  // of a frame one per column; of a matrix one

  const Layout& layout(std::uint64_t col) const {
    return values.size() == 1 ? values.front() : values[col];
  }
};

extern const Driver kDriver;

}  // namespace dapple::detail::futhark
