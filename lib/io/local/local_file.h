// Files of this machine, mapped. The only user of Boost.Interprocess.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bus_signal.h"
#include "lib/io/byte_source.h"
#include "lib/io/descriptor.h"

struct stat;

namespace dapple::detail {

/// A read-only regular file. Mapping it and the first page faults cost three times as much as a few
/// small reads, so the first small requests are read into private memory; the file is mapped when
/// more or larger ones follow.
class LocalFile final : public ByteSource {
 public:
  /// Throws io when the file does not exist, may not be read, or is not a regular file. With
  /// `guarded`, bytes that are truncated while the file is mapped read as zero, and `is_intact`
  /// becomes false.
  static std::shared_ptr<LocalFile> open(std::string name, bool guarded = false);
  /// The same, but returns nullptr instead of throwing.
  static std::shared_ptr<LocalFile> open_if_there(std::string name, bool guarded = false);
  /// The same, and what comes out of a named pipe is copied first, as from standard input. One look
  /// at what has the name, not two.
  static std::shared_ptr<LocalFile> open_or_copy(std::string name, bool guarded = false);
  /// Takes over the open file `fd`; `name` is for messages. Throws io, with errno where `fd` is
  /// none.
  static std::shared_ptr<LocalFile> adopt(Descriptor fd, std::string name, bool guarded = false);
  /// The same for a file without a name, which it may get (`OutputFile::take_over`), or not.
  enum class Name : std::uint8_t { never, later };
  static std::shared_ptr<LocalFile> adopt_unnamed(Descriptor fd, std::string name,
                                                  Name gets = Name::never);
  /// Copies what is left to read of `fd`, for example a pipe, to an unnamed temporary file and
  /// opens that. `name` is for messages. Throws io.
  static std::shared_ptr<LocalFile> spool(int fd, std::string name);
  /// The same for bytes that `read` copies to a buffer; it returns how many, 0 at the end.
  using ReadSome = std::function<std::size_t(std::span<std::byte> buffer)>;
  static std::shared_ptr<LocalFile> spool(const ReadSome& read, std::string name);
  class Key;  // only the functions above make one
  LocalFile(Key, Descriptor fd, std::string name, const struct stat& s, bool guarded);
  ~LocalFile() override;

  /// The open file, for a library that reads it itself. Owned by this.
  int descriptor() const noexcept { return fd_.get(); }
  /// False for a spooled file.
  bool has_path() const noexcept override { return has_path_; }
  bool may_get_name() const noexcept { return may_get_name_; }

  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  void will_need(std::span<const Range> ranges) const noexcept override;
  using ByteSource::will_need;
  bool may_wait() const noexcept override;
  void expect_reads() const override { map(); }
  /// A guarded file keeps its descriptor, which tells whether it was changed.
  void map_and_close() override {
    map();
    if (!guarded()) fd_.close();
  }
  std::shared_ptr<ByteSource> sibling(std::string_view ending) const override;
  std::shared_ptr<ByteSource> beside(const std::string& file, std::uint64_t front) const override;
  void keep_folder() const override {
    if (has_path_) folder();
  }
  std::vector<std::string> folders_beside(const std::string& folder) const override;
  const LocalFile* local() const noexcept override { return this; }
  bool times_tell() const noexcept override;
  /// Unblocks SIGBUS in the calling thread. It stays unblocked, because views of the map outlive
  /// the call. One system call if the file is guarded.
  void prepare_thread() const noexcept override {
    if (guarded()) unblock_bus_signal();
  }
  bool is_intact() const noexcept override { return !guarded() || is_unchanged(); }
  Error changed(const std::string& reading) const override;

  /// Waits until no other writer holds this lock, and holds it until the file is closed: for
  /// writers that read the file and then replace it, so that none loses what another added. False
  /// when the file has been replaced meanwhile. File systems without locks (flock) let everybody
  /// through.
  bool lock_for_replacing() const noexcept;
  /// Copies bytes [begin, end) to the same place in another file with copy_file_range, which may
  /// share them. Returns where it stopped: `end`, or earlier if the system cannot go on.
  std::uint64_t copy_within_system(int to, std::uint64_t begin, std::uint64_t end) const noexcept;

  /// The system will load single pages of these bytes instead of megabytes around them.
  void expect_single_looks(std::uint64_t offset, std::uint64_t n) const noexcept override;
  void expect_random(bool is) const noexcept override;
  void read_nothing_ahead() const noexcept override;
  /// Gives back the pages of the map, which count as this process's memory.
  void let_go() const noexcept;

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

  const std::byte* keep(std::uint64_t offset, std::uint64_t n) const override;
  HeldBytes hold_anew(std::uint64_t offset, std::uint64_t n) const override;
  const std::byte* map() const;
  const std::byte* base() const;
  int folder() const;
  void advise_on_order(const std::byte* base) const noexcept;
  bool is_unchanged() const noexcept;
  bool has_same_end() const noexcept;
  bool is_read_early(std::uint64_t n) const noexcept;
  const std::byte* find_early(std::uint64_t offset, std::uint64_t n) const noexcept;
  const std::byte* read_early(std::uint64_t offset, std::uint64_t n) const;

  static constexpr std::size_t kEnd = 64;  // of the trailer of an index

  Descriptor fd_;
  uid_t owner_;
  std::array<std::byte, kEnd> end_{};  // the last bytes of a guarded file, as they were
  bool has_path_ = true, may_get_name_ = false;
  mutable std::mutex mutex_;  // guards the following; no read takes it once the file is mapped
  mutable std::unique_ptr<Map> map_;
  mutable Descriptor folder_;
  mutable std::uint64_t single_looks_ = 0, single_looks_size_ = 0;  // bytes, from an offset
  mutable std::uint64_t random_readers_ = 0;
  mutable std::atomic<bool> reads_ahead_{true};
  // The first `early_count_` never change again and are read without the mutex.
  mutable std::array<Early, kEarlyRequests> early_parts_;
  mutable std::atomic<unsigned> early_count_{0};
  mutable std::atomic<std::uint64_t> early_size_{0};  // of all of them
};

}  // namespace dapple::detail
