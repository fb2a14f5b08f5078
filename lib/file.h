// Files: mapped in, published out. The only user of Boost.Interprocess.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

struct iovec;

namespace dapple::detail {

/// What tells one state of a file from another.
struct FileStamp {
  std::uint64_t size = 0;
  std::uint64_t mtime_ns = 0;  // since the epoch
  std::uint64_t ctime_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// A read-only regular file. Mapping and its first page faults cost more than a few small reads
/// (measured: 3 preads 5 us, the same through a fresh map 14 us), so the first few requests are
/// read into a small private buffer and the map is made when more, or larger ones, follow.
/// Any thread. Bytes handed out stay valid for the life of the object.
class MappedFile {
 public:
  /// Throws io: no such file, a folder, not a regular file, no permission.
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path);
  /// A file without a name that holds what is left to read of `fd` (for pipes). `name` is used
  /// in messages.
  static std::shared_ptr<MappedFile> spool(int fd, std::string name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return stamp_.size; }
  const FileStamp& stamp() const noexcept { return stamp_; }

  /// Bytes [offset, offset + n). REQUIRES that they lie inside size(). Throws io when the file
  /// shrank.
  const std::byte* at(std::uint64_t offset, std::uint64_t n) const {
    const std::byte* base = base_.load(std::memory_order_acquire);
    return base != nullptr ? base + offset : at_before_map(offset, n);
  }
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t n) const {
    return {at(offset, n), static_cast<std::size_t>(n)};
  }

  /// Copies bytes without touching the map. REQUIRES that they lie inside size(). Throws io.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// The map's first byte; nullptr while nothing is mapped.
  const std::byte* base() const noexcept { return base_.load(std::memory_order_acquire); }
  /// Makes the map now. Throws io.
  const std::byte* map() const;

  /// Asks the system to read these bytes now; a hint, never fails.
  void will_need(std::uint64_t offset, std::uint64_t n) const noexcept;

 private:
  struct Map;
  struct Early {  // bytes [offset, offset + size) of the file at early_[at]
    std::uint64_t offset, size;
    std::size_t at;
  };
  MappedFile(int fd, std::string name, FileStamp stamp);
  const std::byte* at_before_map(std::uint64_t offset, std::uint64_t n) const;

  int fd_;
  std::string name_;
  FileStamp stamp_;
  mutable std::atomic<const std::byte*> base_{nullptr};
  mutable std::mutex mutex_;  // guards what follows; never taken once mapped
  mutable std::unique_ptr<Map> map_;
  mutable std::unique_ptr<std::byte[]> early_;
  mutable std::vector<Early> early_parts_;
};

/// A file that appears at its destination whole or not at all (rule 2.10). Until publish() it has
/// no name (O_TMPFILE), or a temporary one in the same folder where the file system lacks that.
class OutputFile {
 public:
  /// Throws io; invalid_argument when `path` exists and `overwrite` is false.
  OutputFile(std::filesystem::path path, bool overwrite);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  const std::string& name() const noexcept { return name_; }

  /// Writes all of the bytes at `offset`; any thread. Throws io.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// The same for several runs of bytes in one call; `parts` is used up.
  void write_at(std::uint64_t offset, std::span<iovec> parts) const;
  /// Writes behind everything that `append` wrote before; one thread.
  void append(std::span<const std::byte> bytes);
  std::uint64_t appended() const noexcept { return appended_; }

  /// Syncs the contents (unless told not to), gives the file its name, syncs the folder.
  /// Permissions of a replaced file are kept. Throws io, invalid_argument.
  void publish(bool sync = true);

 private:
  void discard() noexcept;

  std::filesystem::path path_;
  std::string name_;
  std::filesystem::path temporary_;  // empty while the file has no name
  int fd_ = -1;
  bool overwrite_ = false;
  std::uint64_t appended_ = 0;
};

/// Throws io with the system's reason for `errno_value`: "expected to <action>, got <reason>".
[[noreturn]] void throw_io(const std::string& file, const std::string& action, int errno_value);

}  // namespace dapple::detail
