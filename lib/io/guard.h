// Maps of files that others may cut short. Touching a page that is gone raises SIGBUS; while a
// GuardedMap lives, such a page reads as zero instead and the loss is noted. The handler is the
// library's only global state: it is installed with the first GuardedMap and taken back with the
// last; signals that have nothing to do with one go to the handler that was there before.
#pragma once

#include <cstddef>

namespace dapple::detail {

struct GuardSlot;

/// Watches bytes [begin, begin + size), a map of the whole file `fd`; both must outlive it.
class GuardedMap {
 public:
  /// Throws std::bad_alloc.
  GuardedMap(const std::byte* begin, std::size_t size, int fd);
  ~GuardedMap();
  GuardedMap(const GuardedMap&) = delete;
  GuardedMap& operator=(const GuardedMap&) = delete;

  /// True when a page was gone as somebody touched it: bytes of the map may have read as zero.
  bool lost() const noexcept;

 private:
  GuardSlot* slot_;
};

}  // namespace dapple::detail
