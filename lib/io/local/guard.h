// Maps of files that others may truncate. Touching a truncated page raises SIGBUS; while a
// GuardedMap lives, that page reads as zeros instead, and the loss is recorded. The handler is
// the library's only global state: the first GuardedMap installs it, the last one restores the
// previous handler, which also receives all signals that are not about a GuardedMap.
#pragma once

#include <cstddef>

namespace dapple::detail {

struct GuardSlot;

/// Guards bytes [begin, begin + size), a map of the whole file `fd`. Both must outlive it.
class GuardedMap {
 public:
  /// Throws std::bad_alloc.
  GuardedMap(const std::byte* begin, std::size_t size, int fd);
  ~GuardedMap();
  GuardedMap(const GuardedMap&) = delete;
  GuardedMap& operator=(const GuardedMap&) = delete;

  /// True when a truncated page was touched, so that bytes of the map may have read as zero.
  bool lost() const noexcept;

 private:
  GuardSlot* slot_;
};

}  // namespace dapple::detail
