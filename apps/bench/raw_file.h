// Files as the limits use them: an address or a descriptor, and nothing else.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>

namespace dapple::bench {

/// A descriptor. Throws std::system_error.
class RawFile {
 public:
  explicit RawFile(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail();
  }
  ~RawFile() { ::close(fd_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  int descriptor() const noexcept { return fd_; }

  std::uint64_t size() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail();
    return static_cast<std::uint64_t>(status.st_size);
  }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const {
    if (::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(out.size())) {
      fail();
    }
  }

 private:
  [[noreturn]] static void fail() {
    throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), "dapple-bench");
  }
  int fd_;
};

/// A whole file, mapped to be read, with all of its pages. Throws std::system_error.
class RawMap {
 public:
  explicit RawMap(const std::filesystem::path& path) {
    const RawFile file(path);
    size_ = file.size();
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_POPULATE, file.descriptor(), 0);
    if (data_ == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), path.string());
    }
  }
  ~RawMap() { ::munmap(data_, size_); }
  RawMap(const RawMap&) = delete;
  RawMap& operator=(const RawMap&) = delete;

  const std::byte* data() const noexcept { return static_cast<const std::byte*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dapple::bench
