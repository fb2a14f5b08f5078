// A row of zeros, which the cells of empty blocks are viewed as.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <new>

namespace dapple::detail {

/// Made when it is first asked for. Its pages take no memory: all of them are the system's one page
/// of zeros. Any thread.
class ZeroRow {
 public:
  ZeroRow() = default;
  ZeroRow(const ZeroRow&) = delete;
  ZeroRow& operator=(const ZeroRow&) = delete;
  ~ZeroRow() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  /// `bytes` zeros, which cannot be written, as long as this lives. REQUIRES the same number of
  /// bytes in every call, above 0. Throws bad_alloc.
  const std::byte* get(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (data_ == nullptr) {
      void* const made =
          ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (made == MAP_FAILED) throw std::bad_alloc();
      data_ = made;
      bytes_ = bytes;
    }
    return static_cast<const std::byte*>(data_);
  }

 private:
  std::mutex mutex_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace dapple::detail
