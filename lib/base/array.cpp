#include "dapple/array.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "lib/base/bytes.h"

namespace dapple::detail {

void* allocate_array(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  constexpr std::size_t kPage = 4096, kLine = 64;
  if (bytes > static_cast<std::size_t>(-1) / 2)
    throw std::bad_alloc();  // more than any machine has
  const std::size_t whole = round_up(bytes, kLine);
  // Aligned to no more than that, so that the allocator gives memory that was freed before.
  void* const p = std::aligned_alloc(kLine, whole);
  if (p == nullptr) throw std::bad_alloc();
  if (whole >= 2 * kLargePage) {
    const auto begin = round_up(reinterpret_cast<std::uintptr_t>(p), kPage);
    const auto left = whole - (begin - reinterpret_cast<std::uintptr_t>(p));
    ::madvise(reinterpret_cast<void*>(begin), left, MADV_HUGEPAGE);  // a hint, may fail
  }
  return p;
}

void FreeArray::operator()(void* p) const noexcept { std::free(p); }

}  // namespace dapple::detail
