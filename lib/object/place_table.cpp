#include "lib/object/place_table.h"

#include <sys/mman.h>

#include <cstdlib>

namespace dapple::detail {

PlaceTable::PlaceTable(std::uint64_t n) noexcept : n_(n) {
  constexpr std::size_t kBytes = sizeof(std::uint64_t) + sizeof(Place::Tag);
  constexpr std::uint64_t kSmall = 1024;  // blocks; clearing more costs as much as a map
  if (n > (std::uint64_t{1} << 48) / kBytes) return;  // beyond any address space
  const std::size_t bytes = n * kBytes + sizeof(Place::Tag);
  if (n <= kSmall) {
    words_ = static_cast<std::uint64_t*>(std::calloc(bytes, 1));
    return;
  }
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
