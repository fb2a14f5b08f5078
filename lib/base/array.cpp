#include "dapple/array.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "lib/base/bytes.h"

namespace dapple::detail {

void* allocate_array(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  constexpr std::size_t kLine = 64;
  if (bytes > static_cast<std::size_t>(-1) / 2)
    throw std::bad_alloc();  // more than any machine has
  const bool large = bytes >= 2 * kLargePage;
  const std::size_t unit = large ? kLargePage : kLine;
  const std::size_t whole = round_up(bytes, unit);
  void* const p = std::aligned_alloc(unit, whole);
  if (p == nullptr) throw std::bad_alloc();
  if (large) ::madvise(p, whole, MADV_HUGEPAGE);  // a hint, may fail
  return p;
}

void FreeArray::operator()(void* p) const noexcept { std::free(p); }

}  // namespace dapple::detail
