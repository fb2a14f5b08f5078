#include "lib/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/io/guard.h"
#include "lib/io/temporary.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kLine = 64;

// Lets Boost map a descriptor that is already open: opening by name a second time could meet
// another file.
class OpenFile {
 public:
  explicit OpenFile(int fd) noexcept : fd_(fd) {}
  boost::interprocess::mapping_handle_t get_mapping_handle() const noexcept {
    boost::interprocess::mapping_handle_t handle{};
    handle.handle = fd_;
    return handle;
  }
  boost::interprocess::mode_t get_mode() const noexcept { return boost::interprocess::read_only; }

 private:
  int fd_;
};

std::uint64_t nanoseconds(const timespec& t) noexcept {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

FileStamp stamp_of(const struct stat& s) noexcept {
  return {static_cast<std::uint64_t>(s.st_size), nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

// Advice on the pages that bytes of a map lie on.
void advise(const std::byte* base, std::uint64_t offset, std::uint64_t n, int advice) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset & ~(page - 1);
  ::madvise(const_cast<std::byte*>(base) + begin, offset - begin + n, advice);
}

}  // namespace

void throw_io(const std::string& file, std::string_view action, int errno_value) {
  throw Error(Errc::io, file, std::nullopt,
              std::string("cannot ").append(action).append(": ").append(
                  std::generic_category().message(errno_value)));
}

class MappedFile::Key {};

struct MappedFile::Map {
  boost::interprocess::mapped_region region;
  std::optional<GuardedMap> guard;  // goes before the region that it watches
  std::optional<Residency> residency;
};

namespace {

[[noreturn, gnu::noinline]] void fail_irregular(const std::string& name, bool folder) {
  throw Error(Errc::io, name, std::nullopt,
              std::string("expected a regular file, got ") +
                  (folder ? "a folder" : "a pipe, socket or device"));
}

// O_NONBLOCK: opening a pipe without a writer must not hang; regular files ignore it.
Descriptor open_to_read(const std::string& name) {
  return Descriptor(
      uninterrupted([&] { return ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
}

}  // namespace

std::shared_ptr<MappedFile> MappedFile::open(std::string name, bool guarded) {
  Descriptor fd = open_to_read(name);
  if (!fd.is_open()) throw_io(name, "open", errno);
  return adopt(std::move(fd), std::move(name), guarded);
}

std::shared_ptr<MappedFile> MappedFile::open_if_there(std::string name, bool guarded) {
  Descriptor fd = open_to_read(name);
  struct stat s;
  if (!fd.is_open() || ::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) return nullptr;
  return std::make_shared<MappedFile>(Key(), std::move(fd), std::move(name), s, guarded);
}

std::shared_ptr<MappedFile> MappedFile::adopt(Descriptor fd, std::string name, bool guarded) {
  struct stat s;
  if (::fstat(fd.get(), &s) != 0) throw_io(name, "read its size", errno);
  if (!S_ISREG(s.st_mode)) fail_irregular(name, S_ISDIR(s.st_mode));
  return std::make_shared<MappedFile>(Key(), std::move(fd), std::move(name), s, guarded);
}

std::shared_ptr<MappedFile> MappedFile::spool(int source, std::string name) {
  Descriptor fd = open_scratch(name);
  constexpr std::size_t kBuffer = 1 << 20;
  const auto buffer = std::make_unique<std::byte[]>(kBuffer);
  for (;;) {
    const ssize_t got = uninterrupted([&] { return ::read(source, buffer.get(), kBuffer); });
    if (got < 0) throw_io(name, "read", errno);
    if (got == 0) break;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = uninterrupted([&] {
        return ::write(fd.get(), buffer.get() + done, static_cast<std::size_t>(got - done));
      });
      if (put <= 0) {
        throw_io(name, "store temporary data in " + temporary_folder(), put < 0 ? errno : ENOSPC);
      }
      done += put;
    }
  }
  auto file = adopt(std::move(fd), std::move(name));
  file->has_path_ = false;
  return file;
}

MappedFile::MappedFile(Key, Descriptor fd, std::string name, const struct stat& s, bool guarded)
    : fd_(std::move(fd)),
      name_(std::move(name)),
      stamp_(stamp_of(s)),
      owner_(s.st_uid),
      guarded_(guarded) {}

MappedFile::~MappedFile() = default;

const std::byte* MappedFile::map() const {
  if (const std::byte* base = this->base()) return base;
  const std::lock_guard lock(mutex_);
  if (map_ == nullptr) {
    // A map of nothing is refused by the system; no byte of it will ever be asked for.
    static constexpr std::byte kNothing{};
    auto map = std::make_unique<Map>();
    const std::byte* base = &kNothing;
    if (size() > 0) {
      try {
        map->region =
            boost::interprocess::mapped_region(OpenFile(fd_.get()), boost::interprocess::read_only,
                                               0, static_cast<std::size_t>(size()));
      } catch (const boost::interprocess::interprocess_exception& e) {
        throw_io(name_, "map", e.get_native_error());
      }
      base = static_cast<const std::byte*>(map->region.get_address());
      if (guarded_) map->guard.emplace(base, map->region.get_size(), fd_.get());
      // Of files that are not the caller's own the system says that all is in memory.
      if (owner_ == ::geteuid()) map->residency.emplace(base, size());
    }
    map_ = std::move(map);
    if (single_looks_size_ > 0) advise(base, single_looks_, single_looks_size_, MADV_RANDOM);
    base_.store(base, std::memory_order_release);
  }
  return base();
}

namespace {

[[noreturn, gnu::noinline]] void fail_shrunk(const std::string& name, std::uint64_t offset,
                                             std::uint64_t size) {
  throw Error(Errc::io, name, offset,
              "expected a file of " + std::to_string(size) + " bytes, got one that shrank");
}

}  // namespace

void MappedFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(fd_.get(), out.data() + done, out.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (got < 0) throw_io(name_, "read", errno);
    if (got == 0) fail_shrunk(name_, offset + done, size());
    done += static_cast<std::size_t>(got);
  }
}

std::byte* MappedFile::early_bytes(std::uint32_t at) const noexcept {
  std::byte* const first = at < kNearBytes ? near_.data() : far_.get();
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(first) % kLine;
  return first + (kLine - beyond) + (at < kNearBytes ? at : at - kNearBytes);
}

// Where in private memory these bytes would go: on lines of their own, so that an index entry is
// inside one, and aligned as in the file.
std::optional<std::uint32_t> MappedFile::early_room(std::uint64_t offset,
                                                    std::uint64_t n) const noexcept {
  const unsigned count = early_count_.load(std::memory_order_acquire);
  if (base() != nullptr || count == kEarlyRequests) return std::nullopt;
  const auto beyond = static_cast<std::uint32_t>(offset % kLine);
  std::uint32_t at = beyond;
  if (count > 0) {
    const Early& last = early_parts_[count - 1];
    at += static_cast<std::uint32_t>(round_up(last.at + last.size, kLine));
  }
  if (at < kNearBytes && n > kNearBytes - at) at = kNearBytes + beyond;
  constexpr std::uint32_t kAll = kNearBytes + kFarBytes;
  if (at > kAll || n > kAll - at) return std::nullopt;
  return at;
}

bool MappedFile::is_read_early(std::uint64_t offset, std::uint64_t n) const noexcept {
  return early_room(offset, n).has_value();
}

const std::byte* MappedFile::find_early(std::uint64_t offset, std::uint64_t n) const noexcept {
  // The last first: what was just read is looked at again.
  for (unsigned k = early_count_.load(std::memory_order_acquire); k-- > 0;) {
    const Early& part = early_parts_[k];
    if (offset >= part.offset && offset - part.offset <= part.size &&
        n <= part.size - (offset - part.offset)) {
      return early_bytes(part.at) + (offset - part.offset);
    }
  }
  return nullptr;
}

const std::byte* MappedFile::at_before_map(std::uint64_t offset, std::uint64_t n) const {
  // Most of an opening's looks are at what is there: 12 locks become 5.
  if (const std::byte* found = find_early(offset, n)) return found;
  {
    const std::lock_guard lock(mutex_);
    if (const std::byte* found = find_early(offset, n)) return found;
    if (const auto at = early_room(offset, n)) {
      if (*at >= kNearBytes && far_ == nullptr) {
        far_ = std::make_unique_for_overwrite<std::byte[]>(kFarBytes + kLine);
      }
      std::byte* const bytes = early_bytes(*at);
      read_at(offset, {bytes, static_cast<std::size_t>(n)});
      const unsigned count = early_count_.load(std::memory_order_relaxed);
      early_parts_[count] = {offset, static_cast<std::uint32_t>(n), *at};
      early_count_.store(count + 1, std::memory_order_release);
      return bytes;
    }
  }
  return map() + offset;
}

bool MappedFile::is_lost() const noexcept {
  return base() != nullptr && map_->guard && map_->guard->lost();
}

// Bytes behind the end, in its last page, read as zero without a signal, and a file that was cut
// may have grown again: its size and time are looked at, too. Its name and links may change.
bool MappedFile::is_unchanged() const noexcept {
  struct stat s;
  if (is_lost() || ::fstat(fd_.get(), &s) != 0) return false;
  const FileStamp now = stamp_of(s);
  return now.size == stamp_.size && now.mtime_ns == stamp_.mtime_ns;
}

void MappedFile::fail_changed(const std::string& reading) const {
  struct stat s;
  const FileStamp now = ::fstat(fd_.get(), &s) == 0 ? stamp_of(s) : stamp_;
  std::string got = "one that was changed in place";
  std::optional<std::uint64_t> offset;
  if (now.size < stamp_.size) {
    got = "one that was cut to " + std::to_string(now.size) + " bytes";
    offset = now.size;
  } else if (now.mtime_ns == stamp_.mtime_ns) {
    got = "one that its storage could not read";
  }
  throw Error(Errc::io, name_, offset,
              "expected a file of " + std::to_string(stamp_.size) +
                  " bytes that stays as it is while " + reading + " is read, got " + got);
}

void MappedFile::expect_single_looks(std::uint64_t offset, std::uint64_t n) const noexcept {
  const std::lock_guard lock(mutex_);
  single_looks_ = offset;
  single_looks_size_ = n;
  if (n > 0 && map_ != nullptr) advise(base(), offset, n, MADV_RANDOM);
}

void MappedFile::will_need(std::uint64_t offset, std::uint64_t n) const noexcept {
  if (n == 0) return;  // to the system, a length of zero means everything
  if (const std::byte* base = this->base()) {
    if (!map_->residency || !map_->residency->holds(offset, n))
      advise(base, offset, n, MADV_WILLNEED);
  } else {
    ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                    POSIX_FADV_WILLNEED);
  }
}

}  // namespace dapple::detail
