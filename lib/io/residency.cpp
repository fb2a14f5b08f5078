#include "lib/io/residency.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace dapple::detail {

namespace {

constexpr std::uint64_t kWindow = 2 << 20;
constexpr std::size_t kMostPages = kWindow / 4096;  // pages are never smaller

}  // namespace

static_assert(sizeof(std::atomic<std::uint8_t>) == 1, "zero bytes must be states");

Residency::Residency(const std::byte* base, std::uint64_t size) noexcept
    : base_(base),
      size_(size),
      states_(static_cast<std::atomic<State>*>(
          std::calloc(size / kWindow + 1, sizeof(std::atomic<State>)))) {}

bool Residency::holds_window(std::uint64_t window) noexcept {
  State state = states_[window].load(std::memory_order_relaxed);
  if (state == State::unknown) {
    const std::uint64_t begin = window * kWindow, n = std::min(kWindow, size_ - begin);
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::array<unsigned char, kMostPages> pages;
    const auto end = pages.begin() + static_cast<std::ptrdiff_t>((n - 1) / page + 1);
    const bool all = ::mincore(const_cast<std::byte*>(base_) + begin, n, pages.data()) == 0 &&
                     std::all_of(pages.begin(), end, [](auto p) { return (p & 1) != 0; });
    state = all ? State::in_memory : State::in_part;
    states_[window].store(state, std::memory_order_relaxed);
  }
  return state == State::in_memory;
}

bool Residency::holds(std::uint64_t offset, std::uint64_t n) noexcept {
  if (states_ == nullptr) return false;
  const std::uint64_t first = offset / kWindow, last = (offset + n - 1) / kWindow;
  return holds_window(first) && (last == first || holds_window(last));
}

}  // namespace dapple::detail
