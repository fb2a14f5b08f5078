// Where the bytes of blocks come from.

#include "lib/object/store.h"

namespace dapple::detail {

std::uint64_t Store::payload_offset(const Entry& entry) const {
  return entry.offset + (driver_->header_size != nullptr ? driver_->header_size(entry) : 0);
}

HeldBytes Store::payload(const Entry& entry) const {
  return payload(entry, {0, entry.offset + entry.bytes - payload_offset(entry)});
}

HeldBytes Store::payload(const Entry& entry, Range part) const {
  return file_->hold(payload_offset(entry) + part.begin, part.size());
}

}  // namespace dapple::detail
