#include "lib/opening.h"

// The linker's names for where a section begins and ends.
extern "C" {
extern const char __start_dapple_opening[] __attribute__((visibility("hidden")));
extern const char __stop_dapple_opening[] __attribute__((visibility("hidden")));
}

namespace dapple::detail {

void ask_for_opening() noexcept {
  constexpr int kLine = 64, kSecondCache = 2;
  // Some lines at once, in half the instructions; those behind the end do no harm.
  for (const char* p = __start_dapple_opening; p < __stop_dapple_opening; p += 4 * kLine) {
    __builtin_prefetch(p, 0, kSecondCache);
    __builtin_prefetch(p + kLine, 0, kSecondCache);
    __builtin_prefetch(p + 2 * kLine, 0, kSecondCache);
    __builtin_prefetch(p + 3 * kLine, 0, kSecondCache);
  }
}

}  // namespace dapple::detail
