#include "dapple/array.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "lib/base/bytes.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kCacheLine = 64;

}  // namespace

// Not by aligned_alloc: the few bytes that it cuts off in front of an array are kept for small
// requests, so that an array of the same size does not fit into the place of one that was freed,
// and gets pages that the system has to clear first. Where the allocator's memory starts is kept in
// front.
void* allocate_array(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20, kPage = 4096;
  if (bytes > static_cast<std::size_t>(-1) / 2)
    throw std::bad_alloc();  // more than any machine has
  void* const memory = std::malloc(bytes + kCacheLine);
  if (memory == nullptr) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  static_assert(alignof(std::max_align_t) >= sizeof memory);
  const std::uintptr_t first = start / kCacheLine * kCacheLine + kCacheLine;
  auto* const array = static_cast<std::byte*>(memory) + (first - start);
  std::memcpy(array - sizeof memory, &memory, sizeof memory);
  if (bytes >= 2 * kLargePage) {
    const std::uintptr_t begin = round_up(first, kPage);
    // A hint, may fail.
    ::madvise(reinterpret_cast<void*>(begin), bytes - (begin - first), MADV_HUGEPAGE);
  }
  return array;
}

void FreeArray::operator()(void* p) const noexcept {
  void* memory;
  std::memcpy(&memory, static_cast<std::byte*>(p) - sizeof memory, sizeof memory);
  std::free(memory);
}

}  // namespace dapple::detail
