#include "lib/opening.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

// The linker's names for where a section begins and ends.
extern "C" {
extern const char __start_dapple_opening[] __attribute__((visibility("hidden")));
extern const char __stop_dapple_opening[] __attribute__((visibility("hidden")));
// In front of this stand the addresses of other libraries' functions.
extern const char _GLOBAL_OFFSET_TABLE_[] __attribute__((visibility("hidden")));
}

namespace dapple::detail {

namespace {

constexpr int kCacheLine = 64, kSecondLevel = 2;

// Four lines at once, in half the instructions; those behind the end do no harm.
void ask_for(const char* begin, const char* end) noexcept {
  for (const char* p = begin; p < end; p += 4 * kCacheLine) {
    __builtin_prefetch(p, 0, kSecondLevel);
    __builtin_prefetch(p + kCacheLine, 0, kSecondLevel);
    __builtin_prefetch(p + 2 * kCacheLine, 0, kSecondLevel);
    __builtin_prefetch(p + 3 * kCacheLine, 0, kSecondLevel);
  }
}

}  // namespace

void ask_for_opening() noexcept {
  constexpr int kAddresses = 2560;  // bytes
  ask_for(_GLOBAL_OFFSET_TABLE_ - kAddresses, _GLOBAL_OFFSET_TABLE_);
  ask_for(__start_dapple_opening, __stop_dapple_opening);
}

DAPPLE_OPENING void ask_for_functions() noexcept {
  const auto ask = [](auto* function) {
    const char* const p = reinterpret_cast<const char*>(function);
    __builtin_prefetch(p, 0, kSecondLevel);
    __builtin_prefetch(p + kCacheLine, 0, kSecondLevel);
  };
  ask(&::pread);
  ask(&::fstat);
  ask(&std::memcpy);
  ask(&::pthread_mutex_lock);
  ask(&::pthread_mutex_unlock);
  ask(&std::malloc);
  ask(static_cast<void* (*)(std::size_t)>(&::operator new));
}

}  // namespace dapple::detail
