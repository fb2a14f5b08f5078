#include "lib/io/residency.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace dapple::detail {

namespace {

// Of a piece this large the page in the middle stands for all of it.
constexpr std::uint64_t kLarge = 64 << 10;
// What is asked about at once for smaller pieces, which often have neighbours that follow.
constexpr std::uint64_t kWindow = 256 << 10;
constexpr std::size_t kMostPages = kWindow / 4096;  // pages are never smaller

}  // namespace

static_assert(sizeof(std::atomic<std::uint8_t>) == 1, "zero bytes must be states");

Residency::Residency(const std::byte* base, std::uint64_t size) noexcept
    : base_(base),
      size_(size),
      page_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))),
      states_(static_cast<std::atomic<State>*>(
          std::calloc(size / kWindow + 1, sizeof(std::atomic<State>)))) {}

void Residency::Free::operator()(std::atomic<State>* states) const noexcept { std::free(states); }

// REQUIRES bytes on at most kMostPages pages.
bool Residency::all_in_memory(std::uint64_t offset, std::uint64_t n) const noexcept {
  std::array<unsigned char, kMostPages> pages;
  const std::uint64_t begin = offset & ~(page_ - 1);
  const std::uint64_t bytes = offset - begin + n;
  if (::mincore(const_cast<std::byte*>(base_) + begin, bytes, pages.data()) != 0) return false;
  const std::uint64_t count = (bytes - 1) / page_ + 1;
  return std::all_of(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(count),
                     [](unsigned char page) { return (page & 1) != 0; });
}

Residency::State Residency::state_of(std::uint64_t window) noexcept {
  State state = states_[window].load(std::memory_order_relaxed);
  if (state == State::unknown) {
    const std::uint64_t begin = window * kWindow;
    state =
        all_in_memory(begin, std::min(kWindow, size_ - begin)) ? State::in_memory : State::in_part;
    states_[window].store(state, std::memory_order_relaxed);
  }
  return state;
}

bool Residency::Streak::is_granted() noexcept {
  const unsigned left = granted_.load(std::memory_order_relaxed);
  if (left > 0) granted_.store(left - 1, std::memory_order_relaxed);
  return left > 0;
}

void Residency::Streak::tell(bool same) noexcept {
  const unsigned told = same ? std::min(told_.load(std::memory_order_relaxed) + 1, kTrust) : 0;
  told_.store(told, std::memory_order_relaxed);
  if (told == kTrust) granted_.store(kTrust, std::memory_order_relaxed);
}

bool Residency::holds_large(std::uint64_t offset, std::uint64_t n) noexcept {
  if (large_held_.is_granted()) return true;
  const bool held = all_in_memory(offset + n / 2, 1);
  large_held_.tell(held);
  return held;
}

bool Residency::holds(std::uint64_t offset, std::uint64_t n) noexcept {
  if (n >= kLarge || states_ == nullptr) return holds_large(offset, n);
  const std::uint64_t first = offset / kWindow, last = (offset + n - 1) / kWindow;
  const auto known = [&](std::uint64_t window) {
    return states_[window].load(std::memory_order_relaxed) == State::in_memory;
  };
  if (known(first) && known(last)) return true;
  if (small_missing_.is_granted()) return false;
  // Where storage has to be waited for, no more is asked than about the bytes themselves.
  const bool held = all_in_memory(offset, n);
  small_missing_.tell(!held);
  if (!held) return false;
  state_of(first);
  state_of(last);
  return true;
}

}  // namespace dapple::detail
