// The program's own operator new, which can be made to fail.

#include "tests/no_memory/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <optional>

namespace {

// How many more allocations succeed before one fails; none fails while there is no number.
thread_local std::optional<std::uint64_t> allocations_left;
thread_local bool has_failed = false;
std::atomic<std::int64_t> objects{0};

bool may_allocate() noexcept {
  if (!allocations_left) return true;
  if ((*allocations_left)-- > 0) return true;
  allocations_left.reset();
  has_failed = true;
  return false;
}

void* allocate(std::size_t align, std::size_t n) noexcept {
  void* p = nullptr;
  return may_allocate() && ::posix_memalign(&p, align, n) == 0 ? p : nullptr;
}

void* allocate_or_throw(std::size_t align, std::size_t n) {
  void* const p = allocate(align, n);
  if (p == nullptr) throw std::bad_alloc();
  ++objects;
  return p;
}

void give_back(void* p) noexcept {
  if (p != nullptr) --objects;
  std::free(p);
}

}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(alignof(std::max_align_t), n); }
void* operator new(std::size_t n, std::align_val_t align) {
  return allocate_or_throw(static_cast<std::size_t>(align), n);
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  void* const p = allocate(alignof(std::max_align_t), n);
  if (p != nullptr) ++objects;
  return p;
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }

// Arrays come from here.
extern "C" void* aligned_alloc(std::size_t align, std::size_t n) noexcept {
  return allocate(align, n);
}

namespace dapple::test {

void fail_after(std::uint64_t n) {
  has_failed = false;
  allocations_left = n;
}

bool stop_failing() {
  allocations_left.reset();
  return has_failed;
}

std::int64_t live_objects() { return objects; }

}  // namespace dapple::test
