#include "dapple/array.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "lib/bytes.h"

namespace dapple::detail {

void* allocate_array(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  constexpr std::size_t kLarge = 2 * kLargePage;
  if (bytes < kLarge) {
    void* const p = std::malloc(bytes);
    if (p == nullptr) throw std::bad_alloc();
    return p;
  }
  if (bytes > static_cast<std::size_t>(-1) - kLargePage) throw std::bad_alloc();
  const std::size_t whole = round_up(bytes, kLargePage);
  void* const p = std::aligned_alloc(kLargePage, whole);
  if (p == nullptr) throw std::bad_alloc();
  ::madvise(p, whole, MADV_HUGEPAGE);  // a hint
  return p;
}

void FreeArray::operator()(void* p) const noexcept { std::free(p); }

}  // namespace dapple::detail
