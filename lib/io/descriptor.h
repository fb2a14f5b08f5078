// File descriptors, and system calls that signals may interrupt.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace dapple::detail {

/// Repeats `f` while a signal interrupts it. `f` returns -1 and sets errno on failure.
template <class F>
auto uninterrupted(const F& f) {
  for (;;) {
    const auto result = f();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Owns a file descriptor, or none (negative).
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = other.release();
    }
    return *this;
  }

  int get() const noexcept { return fd_; }
  bool is_open() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  /// Keeps errno, so that an earlier failure can still be reported.
  void close() noexcept {
    const int reason = errno;
    if (is_open()) ::close(release());
    errno = reason;
  }

 private:
  int fd_;
};

}  // namespace dapple::detail
