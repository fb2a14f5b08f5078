// Files: mapped in, published out. The only user of Boost.Interprocess.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "dapple/error.h"
#include "lib/io/descriptor.h"
#include "lib/io/residency.h"

struct iovec;
struct stat;

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
/// Any thread. Bytes handed out stay valid for the life of the object, and are aligned to 64 bytes
/// where they are in the file.
class MappedFile {
 public:
  /// Throws io: no such file, a folder, not a regular file, no permission. `guarded`: bytes that
  /// somebody cuts off the file while it is mapped read as zero, and `require_intact` tells.
  static std::shared_ptr<MappedFile> open(std::string name, bool guarded = false);
  /// The same without an error: none when `open` would throw.
  static std::shared_ptr<MappedFile> open_if_there(std::string name, bool guarded = false);
  /// The file that is open as `fd`. Throws io as above. `name` is used in messages.
  static std::shared_ptr<MappedFile> adopt(Descriptor fd, std::string name, bool guarded = false);
  /// A file without a name that holds what is left to read of `fd` (for pipes). `name` is used
  /// in messages.
  static std::shared_ptr<MappedFile> spool(int fd, std::string name);
  class Key;  // only the functions above make one
  MappedFile(Key, Descriptor fd, std::string name, const struct stat& s, bool guarded);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// False for one that was spooled: what `name` is of may be another file, or none.
  bool has_path() const noexcept { return has_path_; }
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

  /// True when the next request is read into private memory, if it is for these bytes, and not
  /// touched in the map.
  bool is_read_early(std::uint64_t offset, std::uint64_t n) const noexcept;

  /// The map's first byte; nullptr while nothing is mapped.
  const std::byte* base() const noexcept { return base_.load(std::memory_order_acquire); }
  /// Makes the map now. Throws io.
  const std::byte* map() const;

  bool guarded() const noexcept { return guarded_; }
  /// False when the file is guarded and was cut or changed since it was opened, so that what was
  /// read may be wrong. One system call, where the file is guarded.
  bool is_intact() const noexcept { return !guarded_ || is_unchanged(); }
  /// Throws io for a file that is not intact; `reading` is what may have come out wrong.
  [[noreturn]] void fail_changed(const std::string& reading) const;

  /// From now on each of these bytes is likely to be looked at alone, so that the system reads the
  /// page that one is on and not megabytes around it (cold tiles of 4 KiB by a random index: 4.5
  /// times the bytes that are needed). A hint.
  void expect_single_looks(std::uint64_t offset, std::uint64_t n) const noexcept;

  /// Asks the system to read these bytes now; a hint, never fails.
  void will_need(std::uint64_t offset, std::uint64_t n) const noexcept;

 private:
  struct Map;
  struct Early {  // bytes [offset, offset + size) of the file, at early_bytes(at)
    std::uint64_t offset;
    std::uint32_t size, at;
  };
  // Requests served by pread before the file is mapped. An open followed by one small block makes
  // four: file header, index trailer, index entry, block.
  static constexpr unsigned kEarlyRequests = 8;
  // On lines of their own. Those four of a block of 8 x 8 u8 fit in here, and the object into what
  // the C library keeps at hand; for a larger one memory is taken when something goes there (with
  // 32 KiB in every object, opening after idling takes 2 % longer).
  static constexpr std::uint32_t kNearBytes = 640, kFarBytes = (32 << 10) - kNearBytes;
  bool is_lost() const noexcept;
  bool is_unchanged() const noexcept;
  const std::byte* at_before_map(std::uint64_t offset, std::uint64_t n) const;
  const std::byte* find_early(std::uint64_t offset, std::uint64_t n) const noexcept;
  std::byte* early_bytes(std::uint32_t at) const noexcept;
  std::optional<std::uint32_t> early_room(std::uint64_t offset, std::uint64_t n) const noexcept;

  Descriptor fd_;
  std::string name_;
  FileStamp stamp_;
  uid_t owner_;
  bool guarded_;
  bool has_path_ = true;
  mutable std::atomic<const std::byte*> base_{nullptr};
  mutable std::mutex mutex_;  // guards what follows; never taken once mapped
  mutable std::unique_ptr<Map> map_;
  mutable std::uint64_t single_looks_ = 0, single_looks_size_ = 0;  // bytes, from an offset
  // Of these the first `early_count_` stay as they are, and are looked at without the mutex.
  mutable std::array<Early, kEarlyRequests> early_parts_;
  mutable std::atomic<unsigned> early_count_{0};
  // Aligned by hand: the C library takes much longer for an object that asks for it.
  mutable std::array<std::byte, kNearBytes + 64> near_;
  mutable std::unique_ptr<std::byte[]> far_;
};

/// As `watched` below, of a guarded file.
template <class F, class Reading>
[[gnu::noinline]] auto watched_guarded(const MappedFile& file, const F& f, const Reading& reading) {
  const auto check = [&] {
    if (!file.is_intact()) file.fail_changed(reading());
  };
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      check();
    } else {
      auto result = f();
      check();
      return result;
    }
  } catch (const Error& error) {
    const bool told = error.code() == Errc::io && error.file() == file.name();
    if (!told) check();
    throw;
  }
}
/// Runs `f`, which reads the file. When that is not intact, throws io whatever `f` returned or
/// threw; `reading()` says what was read.
template <class F, class Reading>
auto watched(const MappedFile& file, const F& f, const Reading& reading) {
  return file.guarded() ? watched_guarded(file, f, reading) : f();
}
template <class F>
auto watched(const MappedFile& file, const F& f) {
  return watched(file, f, [] { return std::string("it"); });
}

/// A file that appears at its destination whole or not at all (rule 2.10). Until publish() it has
/// no name (O_TMPFILE), or a hidden one in the same folder where the file system lacks that; the
/// next writer of the same file clears it away if this one dies.
class OutputFile {
 public:
  /// Throws io; invalid_argument when `path` exists (no regular file: even with `overwrite`).
  OutputFile(std::filesystem::path path, bool overwrite);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  const std::string& name() const noexcept { return name_; }

  /// Claims storage for so many bytes that will be written in pieces; any thread. A hint: what
  /// cannot be claimed shows when it is written. Bytes that are written at once need none.
  void will_write(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// Writes all of the bytes at `offset`; any thread. Throws io.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// The same for several runs of bytes in one call; `parts` is used up.
  void write_at(std::uint64_t offset, std::span<iovec> parts) const;
  /// Takes back what was written and claimed from `offset` on. Throws io.
  void cut(std::uint64_t offset) const;
  /// Writes behind everything that `append` wrote before; one thread.
  void append(std::span<const std::byte> bytes);
  std::uint64_t appended() const noexcept { return appended_; }

  /// Brings the contents to storage, which `publish` does not do again: nothing may be written
  /// afterwards. Throws io.
  void sync();
  /// Syncs the contents (unless told not to), gives the file its name, syncs the folder.
  /// Permissions of a replaced file are kept, and its owner where the system allows that. A link
  /// that stands there is replaced, not followed. Throws io, invalid_argument.
  void publish(bool sync = true);

 private:
  void discard() noexcept;
  void give_name();

  std::filesystem::path path_;
  std::string name_;
  std::filesystem::path hidden_;  // empty while the file has no name
  Descriptor fd_;
  bool overwrite_ = false;
  bool synced_ = false;  // the contents
  std::uint64_t appended_ = 0;
};

/// Throws io with the system's reason for `errno_value`: "cannot <action>: <reason>".
[[noreturn]] void throw_io(const std::string& file, std::string_view action, int errno_value);

}  // namespace dapple::detail
