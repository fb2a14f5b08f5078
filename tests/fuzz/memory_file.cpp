#include "tests/fuzz/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace dapple::fuzz {

MemoryFile::MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
  if (fd_ < 0) throw std::runtime_error("cannot make a file in memory");
  path_ = "/proc/self/fd/" + std::to_string(fd_);
}

MemoryFile::~MemoryFile() { close(fd_); }

void MemoryFile::set(std::span<const std::byte> bytes) {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (ftruncate(fd_, size) != 0 || pwrite(fd_, bytes.data(), bytes.size(), 0) != size) {
    throw std::runtime_error("cannot write a file in memory");
  }
}

}  // namespace dapple::fuzz
