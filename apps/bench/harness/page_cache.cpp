#include "harness/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <system_error>
#include <utility>
#include <vector>

namespace dapple::bench {

namespace {

int open_to_read(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), path.string());
  return fd;
}

}  // namespace

Pin::Pin(const std::filesystem::path& path) : size_(std::filesystem::file_size(path)) {
  evict(path);
  const int fd = open_to_read(path);
  std::vector<char> buffer(std::size_t{8} << 20);
  while (::read(fd, buffer.data(), buffer.size()) > 0) {
  }
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
  ::close(fd);
  if (data_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), path.string());
  locked_ = ::mlock(data_, size_) == 0;
}

Pin::Pin(Pin&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(other.size_),
      locked_(std::exchange(other.locked_, false)) {}

Pin::~Pin() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void evict(const std::filesystem::path& path) {
  const int fd = open_to_read(path);
  ::fdatasync(fd);  // dirty pages stay
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

}  // namespace dapple::bench
