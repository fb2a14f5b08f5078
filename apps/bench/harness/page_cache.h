// Keeping files in memory, and getting them out of it.
#pragma once

#include <cstddef>
#include <filesystem>

namespace dapple::bench {

/// Reads a file in order into the page cache, so that every file is there in pages as large as they
/// get, whoever touched it before; and keeps it there (mlock), because some kernels take idle pages
/// away by themselves. Where locking is not allowed the file is only read.
class Pin {
 public:
  explicit Pin(const std::filesystem::path& path);
  Pin(Pin&&) noexcept;
  Pin& operator=(Pin&&) = delete;
  ~Pin();

  bool locked() const { return locked_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  bool locked_ = false;
};

/// Takes a file out of the page cache, so that reading it reads storage (or the host's cache of
/// it, which a guest cannot see). Nothing may have it mapped.
void evict(const std::filesystem::path& path);

}  // namespace dapple::bench
