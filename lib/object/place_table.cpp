#include "lib/object/place_table.h"

#include <sys/mman.h>

#include <cstdlib>

namespace dapple::detail {

PlaceTable::PlaceTable(std::uint64_t n) noexcept {
  constexpr std::uint64_t kSmall = 1024;  // words; clearing more costs as much as a map
  if (n <= kSmall) {
    words_ = static_cast<std::uint64_t*>(std::calloc(n, sizeof(std::uint64_t)));
    return;
  }
  if (n > (std::uint64_t{1} << 48) / sizeof(std::uint64_t)) return;  // beyond any address space
  const std::size_t bytes = n * sizeof(std::uint64_t);
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return;
  words_ = static_cast<std::uint64_t*>(p);
  mapped_ = bytes;
}

PlaceTable::~PlaceTable() {
  if (mapped_ > 0) {
    ::munmap(words_, mapped_);
  } else {
    std::free(words_);
  }
}

}  // namespace dapple::detail
