// Where the bytes of blocks come from.

#include "lib/object/store.h"

namespace dapple::detail {

HeldBytes Store::payload(const Entry& entry) const {
  const std::uint64_t header = driver_->header_size != nullptr ? driver_->header_size(entry) : 0;
  return payload(entry, {0, entry.bytes - header});
}

HeldBytes Store::payload(const Entry& entry, Range part) const {
  const std::uint64_t header = driver_->header_size != nullptr ? driver_->header_size(entry) : 0;
  return file_->hold(entry.offset + header + part.begin, part.size());
}

}  // namespace dapple::detail
