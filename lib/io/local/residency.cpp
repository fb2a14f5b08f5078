#include "lib/io/local/residency.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace dapple::detail {

namespace {

constexpr std::uint64_t kLarge = 64 << 10, kWindow = 256 << 10;
constexpr std::size_t kMostPages = kWindow / 4096;  // pages are never smaller

}  // namespace

static_assert(sizeof(std::atomic<std::uint8_t>) == 1, "zero bytes must be states");

Residency::Residency(const std::byte* base, std::uint64_t size) noexcept
    : base_(base),
      size_(size),
      page_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))),
      windows_(size / kWindow + (size % kWindow != 0 ? 1 : 0)),
      states_(static_cast<std::atomic<State>*>(
          std::calloc(size / kWindow + 1, sizeof(std::atomic<State>)))) {}

// REQUIRES bytes on at most kMostPages pages.
bool Residency::in_memory(std::uint64_t offset, std::uint64_t n) const noexcept {
  std::array<unsigned char, kMostPages> pages;
  const std::uint64_t before = offset % page_;
  const auto end = pages.begin() + static_cast<std::ptrdiff_t>((before + n - 1) / page_ + 1);
  return ::mincore(const_cast<std::byte*>(base_) + (offset - before), before + n, pages.data()) ==
             0 &&
         std::all_of(pages.begin(), end, [](unsigned char page) { return (page & 1) != 0; });
}

void Residency::look_at(std::uint64_t window) noexcept {
  if (states_[window].load(std::memory_order_relaxed) != State::unknown) return;
  const std::uint64_t begin = window * kWindow;
  const bool all = in_memory(begin, std::min(kWindow, size_ - begin));
  const State before =
      states_[window].exchange(all ? State::in_memory : State::in_part, std::memory_order_relaxed);
  if (all && before != State::in_memory) in_memory_.fetch_add(1, std::memory_order_relaxed);
  if (!all && before == State::in_memory) in_memory_.fetch_sub(1, std::memory_order_relaxed);
}

void Residency::refresh() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
  std::int64_t last = refreshed_.load(std::memory_order_relaxed);
  if (states_ == nullptr || now - last < 1000 || !refreshed_.compare_exchange_strong(last, now)) {
    return;
  }
  for (std::uint64_t window = 0; window < windows_; ++window) {
    std::atomic<State>& state = states_[window];
    if (state.load(std::memory_order_relaxed) == State::unknown) continue;
    if (state.exchange(State::unknown, std::memory_order_relaxed) == State::in_memory) {
      in_memory_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

bool Residency::holds(std::uint64_t offset, std::uint64_t n) noexcept {
  if (n >= kLarge || states_ == nullptr) return in_memory(offset + n / 2, 1);
  const std::uint64_t first = offset / kWindow, last = (offset + n - 1) / kWindow;
  const auto known = [&](std::uint64_t window) {
    return states_[window].load(std::memory_order_relaxed) == State::in_memory;
  };
  if (known(first) && known(last)) return true;
  // Where storage has to be waited for, the system is asked about no more than these bytes: it
  // takes 10 us to look at 2 MiB.
  if (!in_memory(offset, n)) return false;
  look_at(first);
  look_at(last);
  return true;
}

}  // namespace dapple::detail
