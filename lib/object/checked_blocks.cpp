#include "lib/object/checked_blocks.h"

#include <sys/mman.h>

namespace dapple::detail {

static_assert(sizeof(std::atomic<std::uint8_t>) == 1 &&
                  sizeof(std::atomic<const std::byte*>) == sizeof(std::byte*),
              "zero bytes must be tags and addresses");

namespace {
constexpr std::size_t kBytes = sizeof(std::byte*) + 1;  // of each block
}

// Zero pages, which cost neither time nor memory until they are written.
bool CheckedBlocks::allocate(std::uint64_t n) noexcept {
  if (n == 0 || n > (std::uint64_t{1} << 48) / kBytes) return false;  // beyond any address space
  void* const p = ::mmap(nullptr, n * kBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return false;
  addresses_ = static_cast<std::atomic<const std::byte*>*>(p);
  n_ = n;
  return true;
}

CheckedBlocks::~CheckedBlocks() {
  if (addresses_ != nullptr) ::munmap(static_cast<void*>(addresses_), n_ * kBytes);
}

void CheckedBlocks::set_tag(std::uint64_t number, std::uint8_t tag) noexcept {
  if (auto* const tags = tags_.load(std::memory_order_acquire)) {
    tags[number].store(tag, std::memory_order_release);
  }
}

void CheckedBlocks::set_compared(std::uint64_t number, const std::byte* values,
                                 ValueType type) noexcept {
  if (tags_.load(std::memory_order_acquire) == nullptr) return;
  if (even_.step != 0 && values == even_.values + number * even_.step) {
    set_tag(number, tag_of(type));
  } else {
    addresses_[number].store(values, std::memory_order_relaxed);
    set_tag(number, kElsewhere | tag_of(type));
  }
}

}  // namespace dapple::detail
