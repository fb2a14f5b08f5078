// A stored block as Python holds it: it keeps its file mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "core.h"

namespace pydapple {

/// Where the values of a dense block lie that is stored as declared.
struct BlockView {
  const std::byte* data = nullptr;
  std::size_t row_bytes = 0;
  bool aligned = false;
};

struct BlockHandle {
  std::shared_ptr<const dapple::BlockedObject> object;
  dapple::Block block;
  dapple::BlockInfo info;
  dapple::ValueType declared;  // the object's type there, which may be wider than the stored one
  bool far;                    // as of its Handle

  /// Nothing where the values cannot be viewed, whatever the reason.
  std::optional<BlockView> view() const;
};

}  // namespace pydapple
