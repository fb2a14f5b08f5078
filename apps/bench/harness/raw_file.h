// Files as the limits use them: an address or a descriptor, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace dapple::bench {

/// A whole file, mapped to be read. Throws std::system_error.
class RawMap {
 public:
  enum class Fill : std::uint8_t { on_touch, now };  // when its pages are mapped
  explicit RawMap(const std::filesystem::path& path, Fill fill = Fill::on_touch);
  ~RawMap();
  RawMap(const RawMap&) = delete;
  RawMap& operator=(const RawMap&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A descriptor. Throws std::system_error.
class RawFile {
 public:
  enum class For : std::uint8_t { reading, writing };  // writing: a new file
  explicit RawFile(const std::filesystem::path& path, For use = For::reading);
  ~RawFile();
  RawFile(RawFile&& other) noexcept;
  RawFile& operator=(RawFile&&) = delete;

  std::uint64_t size() const;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// The same, but the file may end before `out` is full: how many bytes there were.
  std::size_t read_some_at(std::uint64_t offset, std::span<std::byte> out) const;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void sync() const;

 private:
  friend class RawMap;
  int fd_ = -1;
};

}  // namespace dapple::bench
