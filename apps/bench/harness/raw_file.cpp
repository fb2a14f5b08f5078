#include "harness/raw_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace dapple::bench {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

RawMap::RawMap(const std::filesystem::path& path, Fill fill) {
  const RawFile file(path);
  size_ = file.size();
  void* const map = ::mmap(nullptr, size_, PROT_READ,
                           MAP_SHARED | (fill == Fill::now ? MAP_POPULATE : 0), file.fd_, 0);
  if (map == MAP_FAILED) fail("mmap");
  data_ = static_cast<const std::byte*>(map);
}

RawMap::~RawMap() { ::munmap(const_cast<std::byte*>(data_), size_); }

RawFile::RawFile(const std::filesystem::path& path, For use)
    : fd_(::open(
          path.c_str(),
          use == For::reading ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
          0644)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), path.string());
}

RawFile::~RawFile() {
  if (fd_ >= 0) ::close(fd_);
}

RawFile::RawFile(RawFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

std::uint64_t RawFile::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail("fstat");
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t RawFile::read_some_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0) fail("pread");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void RawFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (read_some_at(offset, out) != out.size()) {
    throw std::system_error(EIO, std::generic_category(), "pread behind the file's end");
  }
}

void RawFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0) fail("pwrite");
    done += static_cast<std::size_t>(n);
  }
}

void RawFile::sync() const {
  if (::fsync(fd_) != 0) fail("fsync");
}

}  // namespace dapple::bench
