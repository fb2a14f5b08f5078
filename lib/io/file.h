// Files: mapped for reading, published when written. The only user of Boost.Interprocess.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dapple/error.h"
#include "lib/base/bus_signal.h"
#include "lib/io/descriptor.h"
#include "lib/io/held_bytes.h"
#include "lib/io/residency.h"

struct iovec;
struct stat;

namespace dapple {
enum class Check : std::uint8_t;
}

namespace dapple::detail {

/// Identifies one state of a file.
struct FileStamp {
  std::uint64_t size = 0;
  std::uint64_t mtime_ns = 0;  // since the epoch
  std::uint64_t ctime_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// A read-only regular file. Mapping it and the first page faults cost three times as much as a few
/// small reads, so the first small requests are read into private memory; the file is mapped when
/// more or larger ones follow. Thread-safe. Returned bytes are valid as long as the object lives,
/// and have the same alignment modulo 64 as in the file.
class MappedFile {
 public:
  /// Throws io when the file does not exist, may not be read, or is not a regular file. With
  /// `guarded`, bytes that are truncated while the file is mapped read as zero, and `is_intact`
  /// becomes false.
  static std::shared_ptr<MappedFile> open(std::string name, bool guarded = false);
  /// The same, but returns nullptr instead of throwing.
  static std::shared_ptr<MappedFile> open_if_there(std::string name, bool guarded = false);
  /// Takes over the open file `fd`; `name` is for messages. Throws io.
  static std::shared_ptr<MappedFile> adopt(Descriptor fd, std::string name, bool guarded = false);
  /// Copies what is left to read of `fd`, for example a pipe, to an unnamed temporary file and
  /// opens that. `name` is for messages. Throws io.
  static std::shared_ptr<MappedFile> spool(int fd, std::string name);
  /// The same for bytes that `read` copies to a buffer; it returns how many, 0 at the end.
  using ReadSome = std::function<std::size_t(std::span<std::byte> buffer)>;
  static std::shared_ptr<MappedFile> spool(const ReadSome& read, std::string name);
  class Key;  // only the functions above make one
  MappedFile(Key, Descriptor fd, std::string name, const struct stat& s, bool guarded);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// What is read of a file that may hold several objects, as it was asked for; "" otherwise. Set
  /// before the file is shared.
  const std::string& chosen() const noexcept { return chosen_; }
  void set_chosen(std::string chosen) noexcept { chosen_ = std::move(chosen); }
  /// When hashes are to be looked at, here and in the files beside it. Set before it is shared.
  Check check() const noexcept { return check_; }
  void set_check(Check check) noexcept { check_ = check; }
  /// The open file, for a library that reads it itself. Owned by this.
  int descriptor() const noexcept { return fd_.get(); }
  /// False for a spooled file.
  bool has_path() const noexcept { return has_path_; }
  std::uint64_t size() const noexcept { return stamp_.size; }
  const FileStamp& stamp() const noexcept { return stamp_; }

  /// Bytes [offset, offset + n). REQUIRES that they are inside size(). Throws io when the file has
  /// shrunk.
  const std::byte* at(std::uint64_t offset, std::uint64_t n) const {
    const std::byte* base = base_.load(std::memory_order_acquire);
    return base != nullptr ? base + offset : at_before_map(offset, n);
  }
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t n) const {
    return {at(offset, n), static_cast<std::size_t>(n)};
  }

  /// The same bytes for as long as the result lives.
  HeldBytes hold(std::uint64_t offset, std::uint64_t n) const {
    return {bytes(offset, n), nullptr};
  }

  /// Copies bytes without touching the map. REQUIRES that they are inside size(). Throws io.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// True when a request for these bytes would be read into private memory, not from the map.
  bool is_read_early(std::uint64_t offset, std::uint64_t n) const noexcept;

  /// The first byte of the map, or nullptr before the file is mapped.
  const std::byte* base() const noexcept { return base_.load(std::memory_order_acquire); }
  /// Maps the file now. Throws io.
  const std::byte* map() const;

  bool guarded() const noexcept { return guarded_; }
  /// Call before a guarded map is read: unblocks SIGBUS in the calling thread. It stays unblocked,
  /// because views of the map outlive the call. One system call if the file is guarded.
  void prepare_thread() const noexcept {
    if (guarded_) unblock_bus_signal();
  }
  /// False when the file is guarded and has been truncated or changed since it was opened, so that
  /// what was read may be wrong. One system call if the file is guarded.
  bool is_intact() const noexcept { return !guarded_ || is_unchanged(); }
  /// Throws io for a file that is not intact; `reading` names what was being read.
  [[noreturn]] void fail_changed(const std::string& reading) const;

  /// Waits until no other writer holds this lock, and holds it until the file is closed: for
  /// writers that read the file and then replace it, so that none loses what another added. False
  /// when the file has been replaced meanwhile. File systems without locks (flock) let everybody
  /// through.
  bool lock_for_replacing() const noexcept;
  /// Copies bytes [begin, end) to the same place in another file with copy_file_range, which may
  /// share them. Returns where it stopped: `end`, or earlier if the system cannot go on.
  std::uint64_t copy_within_system(int to, std::uint64_t begin, std::uint64_t end) const noexcept;

  /// A hint that these bytes will be read in random order, so that the system loads single pages
  /// instead of megabytes around them.
  void expect_single_looks(std::uint64_t offset, std::uint64_t n) const noexcept;
  /// The same while one of these lives, for all but those bytes of a mapped file. Where memory is
  /// short, what `will_need` loaded may be gone again when it is used, and a page fault that loads
  /// megabytes instead of a page drives the rest out as well. Any thread.
  class SingleLooks {
   public:
    explicit SingleLooks(const MappedFile& file) noexcept : file_(&file) {
      file.change_single_looks(1);
    }
    SingleLooks(SingleLooks&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
    SingleLooks& operator=(SingleLooks&&) = delete;
    ~SingleLooks() {
      if (file_ != nullptr) file_->change_single_looks(-1);
    }

   private:
    const MappedFile* file_;
  };
  /// The same for the whole file; it also turns `will_need` off.
  void read_nothing_ahead() const noexcept;

  /// A hint that these bytes will be needed soon (prefetch). Never fails.
  void will_need(std::uint64_t offset, std::uint64_t n) const noexcept;
  /// False when all that will be needed of the mapped file is in memory, as far as is known: then
  /// `will_need` may be left out. What was known more than a second ago is forgotten.
  bool may_be_cold() const noexcept;
  /// True while the system takes pages of the mapped file out of memory: then also ask for what was
  /// read before. `used` is a place that is about to be read.
  bool loses_pages(std::uint64_t used) const noexcept;

 private:
  struct Map;
  struct Early {  // bytes [offset, offset + size) of the file
    std::uint64_t offset = 0, size = 0;
    const std::byte* bytes = nullptr;  // in `memory`, aligned as in the file
    std::unique_ptr<std::byte[]> memory;
  };
  // Requests served by pread before the file is mapped. Opening a file and fetching one small block
  // makes four: file header, index trailer, index entry, block.
  static constexpr unsigned kEarlyRequests = 8;
  static constexpr std::uint64_t kEarlyBytes = 32 << 10;  // the most that is read early
  bool is_unchanged() const noexcept;
  void change_single_looks(int by) const noexcept;
  const std::byte* at_before_map(std::uint64_t offset, std::uint64_t n) const;
  const std::byte* find_early(std::uint64_t offset, std::uint64_t n) const noexcept;

  Descriptor fd_;
  std::string name_;
  std::string chosen_;
  Check check_{};
  FileStamp stamp_;
  uid_t owner_;
  bool guarded_;
  bool has_path_ = true;
  mutable std::atomic<const std::byte*> base_{nullptr};
  mutable std::mutex mutex_;  // guards the following; not taken once the file is mapped
  mutable std::unique_ptr<Map> map_;
  mutable std::uint64_t single_looks_ = 0, single_looks_size_ = 0;  // bytes, from an offset
  mutable int looking_ = 0;                                         // SingleLooks that live
  mutable std::atomic<bool> reads_ahead_{true};
  // The first `early_count_` never change again and are read without the mutex.
  mutable std::array<Early, kEarlyRequests> early_parts_;
  mutable std::atomic<unsigned> early_count_{0};
  mutable std::atomic<std::uint64_t> early_size_{0};  // of all of them
};

/// Implements `watched` below for a guarded file.
template <class F, class Reading>
[[gnu::noinline]] auto watched_guarded(const MappedFile& file, const F& f, const Reading& reading) {
  file.prepare_thread();
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
    const bool blames_file = error.code() == Errc::io && error.file() == file.name();
    if (!blames_file) check();
    throw;
  }
}
/// Runs `f`, which reads the file. If the file is no longer intact afterwards, throws io whatever
/// `f` returned or threw; `reading()` names what was being read.
template <class F, class Reading>
auto watched(const MappedFile& file, const F& f, const Reading& reading) {
  return file.guarded() ? watched_guarded(file, f, reading) : f();
}
template <class F>
auto watched(const MappedFile& file, const F& f) {
  return watched(file, f, [] { return std::string("it"); });
}

/// A file that appears at its destination complete or not at all. Until publish() it has no name
/// (O_TMPFILE) or, if the file system does not support that, a hidden one in the same folder. If
/// the process dies, the next writer of the same file removes the hidden one.
class OutputFile {
 public:
  /// Throws io; invalid_argument when `path` exists and `overwrite` is false, or is not a regular
  /// file.
  OutputFile(std::filesystem::path path, bool overwrite);

  const std::string& name() const noexcept { return name_; }

  /// Reserves storage for bytes that will be written in pieces. A hint; any thread.
  void will_write(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// Writes all bytes at `offset`; any thread. Throws io.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Writes several runs of bytes one after another; modifies `parts`. Any thread. Throws io.
  void write_at(std::uint64_t offset, std::span<iovec> parts) const;
  /// Copies bytes [begin, end) of `from` to the same place. The file system shares them if it can.
  /// Throws io.
  void take_over(const MappedFile& from, std::uint64_t begin, std::uint64_t end) const;
  /// Truncates the file to `offset` bytes. Throws io.
  void cut(std::uint64_t offset) const;
  /// Writes after what `append` wrote before; one thread. Throws io.
  void append(std::span<const std::byte> bytes);
  std::uint64_t appended() const noexcept { return appended_; }

  /// Syncs the contents early, so that `publish` need not. Nothing may be written afterwards.
  /// Throws io.
  void sync();
  /// Syncs the contents (unless `sync` is false), gives the file its name, syncs the folder. Keeps
  /// the permissions of a file that it replaces, and its owner if allowed, and removes that file's
  /// sidecar index. A symbolic link is replaced, not followed. Throws io, invalid_argument.
  void publish(bool sync = true);

 private:
  /// The hidden name of the file while it has one; removes the file unless it is published.
  struct Hidden {
    std::filesystem::path path;
    Hidden() = default;
    Hidden(Hidden&& other) noexcept : path(std::exchange(other.path, {})) {}
    Hidden& operator=(Hidden&& other) noexcept {
      path.swap(other.path);
      return *this;
    }
    ~Hidden();
  };
  void give_name();

  std::filesystem::path path_;
  std::string name_;
  Descriptor fd_;
  Hidden hidden_;
  bool overwrite_ = false;
  bool synced_ = false;  // the contents
  std::uint64_t appended_ = 0;
};

/// FILE.dpx is the sidecar index of FILE, and starts with this magic.
inline constexpr char kSidecarEnding[] = ".dpx";
inline constexpr char kSidecarMagic[9] = "DPL-SIDE";

/// FILE.dpc is the copy by column of FILE.
inline constexpr char kCopyEnding[] = ".dpc";

/// Throws io with the system's reason for `errno_value`: "cannot <action>: <reason>".
[[noreturn]] void throw_io(const std::string& file, std::string_view action, int errno_value);

}  // namespace dapple::detail
