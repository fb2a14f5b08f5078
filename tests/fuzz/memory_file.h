// A file that lives in memory and has a path, so that fuzz targets, and tests that damage a file
// in thousands of ways, go through the front door of the library without touching a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace dapple::fuzz {

class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Replaces the contents. Nothing may have the old ones mapped.
  void set(std::span<const std::byte> bytes);
  void set(std::span<const std::uint8_t> bytes) { set(std::as_bytes(bytes)); }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  int fd_;
  std::filesystem::path path_;
};

}  // namespace dapple::fuzz
