// Bytes that keep the source that they come from.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "lib/io/byte_source.h"

namespace dapple::detail {

/// As `ByteSource::hold` of `source`, which `owner` keeps alive; the result keeps `owner`.
inline HeldBytes hold_owned(const ByteSource& source, std::shared_ptr<const void> owner,
                            std::uint64_t offset, std::uint64_t n) {
  HeldBytes held = source.hold(offset, n);
  if (held.keep == nullptr) return {held.bytes, std::move(owner), true};
  using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  return {held.bytes, std::make_shared<const Both>(std::move(held.keep), std::move(owner))};
}

}  // namespace dapple::detail
