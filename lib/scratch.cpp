#include "lib/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dapple::detail {

namespace {

constexpr std::uint64_t kInMemory = std::uint64_t{32} << 20;

std::string folder() {
  const char* name = ::getenv("TMPDIR");
  return name != nullptr && *name != '\0' ? name : "/tmp";
}

[[noreturn]] void fail(const std::string& action) {
  throw_io("a temporary file in " + folder(), action, errno);
}

}  // namespace

Scratch::Scratch(std::uint64_t size) : size_(size) {
  if (size <= kInMemory) {
    memory_ = std::make_unique<std::byte[]>(size);
    return;
  }
  fd_ = ::open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0) fail("create it");
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) {
    const int reason = errno;
    ::close(fd_);
    errno = reason;
    fail("give it " + std::to_string(size) + " bytes");
  }
  try {
    file_ = MappedFile::open("/proc/self/fd/" + std::to_string(fd_));
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

Scratch::~Scratch() {
  if (fd_ >= 0) ::close(fd_);
}

void Scratch::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (memory_ != nullptr) {
    if (!bytes.empty()) std::memcpy(memory_.get() + offset, bytes.data(), bytes.size());
    return;
  }
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0) {
      if (errno == EINTR) continue;
      fail("write it");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void Scratch::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (memory_ == nullptr) {
    file_->read_at(offset, out);
  } else if (!out.empty()) {
    std::memcpy(out.data(), memory_.get() + offset, out.size());
  }
}

const std::byte* Scratch::at(std::uint64_t offset, std::uint64_t n) const {
  if (memory_ != nullptr) return memory_.get() + offset;
  file_->map();
  return file_->at(offset, n);
}

}  // namespace dapple::detail
