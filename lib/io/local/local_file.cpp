#include "lib/io/local/local_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/io/local/guard.h"
#include "lib/io/local/memory_limit.h"
#include "lib/io/local/residency.h"
#include "lib/io/temporary.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kLine = 64;

// Some file systems in user space have no shared maps. Of private ones that nobody writes to,
// processes share the pages as well.
constexpr auto kMapMode = boost::interprocess::read_private;

// Lets Boost map an open descriptor; opening the name a second time could find another file.
class OpenFile {
 public:
  explicit OpenFile(int fd) noexcept : fd_(fd) {}
  boost::interprocess::mapping_handle_t get_mapping_handle() const noexcept {
    boost::interprocess::mapping_handle_t handle{};
    handle.handle = fd_;
    return handle;
  }
  boost::interprocess::mode_t get_mode() const noexcept { return kMapMode; }

 private:
  int fd_;
};

std::uint64_t nanoseconds(const timespec& t) noexcept {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

Identity identity_of(const struct stat& s) noexcept {
  return {static_cast<std::uint64_t>(s.st_size), nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

// Gives advice on the pages of a map that hold these bytes.
void advise(const std::byte* base, std::uint64_t offset, std::uint64_t n, int advice) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset & ~(page - 1);
  ::madvise(const_cast<std::byte*>(base) + begin, offset - begin + n, advice);
}

}  // namespace

class LocalFile::Key {};

struct LocalFile::Map {
  boost::interprocess::mapped_region region;
  std::optional<GuardedMap> guard;  // destroyed before the region that it watches
  std::optional<Residency> residency;
};

namespace {

[[noreturn, gnu::noinline]] void fail_irregular(const std::string& name, bool folder) {
  throw Error(
      Errc::io, name, std::nullopt,
      std::string("not a regular file, but ") + (folder ? "a folder" : "a pipe, socket or device"));
}

// O_NONBLOCK: opening a pipe without a writer must not hang; regular files ignore it.
Descriptor open_to_read(const std::string& name, int folder = AT_FDCWD) {
  return Descriptor(uninterrupted(
      [&] { return ::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
}

}  // namespace

std::shared_ptr<LocalFile> LocalFile::open(std::string name, bool guarded) {
  Descriptor fd = open_to_read(name);
  return adopt(std::move(fd), std::move(name), guarded);
}

std::shared_ptr<LocalFile> LocalFile::open_if_there(std::string name, bool guarded) {
  Descriptor fd = open_to_read(name);
  struct stat s;
  if (!fd.is_open() || ::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) return nullptr;
  return std::make_shared<LocalFile>(Key(), std::move(fd), std::move(name), s, guarded);
}

std::shared_ptr<LocalFile> LocalFile::open_or_copy(std::string name, bool guarded) {
  Descriptor fd = open_to_read(name);
  struct stat s;
  if (!fd.is_open() || ::fstat(fd.get(), &s) != 0) return nullptr;
  if (S_ISFIFO(s.st_mode)) {
    pollfd writer{fd.get(), POLLIN, 0};
    uninterrupted([&] { return ::poll(&writer, 1, -1); });
    ::fcntl(fd.get(), F_SETFL, 0);  // from now on, reading waits, too
    return spool(fd.get(), std::move(name));
  }
  if (!S_ISREG(s.st_mode)) return nullptr;
  return std::make_shared<LocalFile>(Key(), std::move(fd), std::move(name), s, guarded);
}

std::shared_ptr<LocalFile> LocalFile::adopt(Descriptor fd, std::string name, bool guarded) {
  if (!fd.is_open()) throw_io(name, "open", errno);
  struct stat s;
  if (::fstat(fd.get(), &s) != 0) throw_io(name, "read the size", errno);
  if (!S_ISREG(s.st_mode)) fail_irregular(name, S_ISDIR(s.st_mode));
  return std::make_shared<LocalFile>(Key(), std::move(fd), std::move(name), s, guarded);
}

std::shared_ptr<LocalFile> LocalFile::adopt_unnamed(Descriptor fd, std::string name, Name gets) {
  auto file = adopt(std::move(fd), std::move(name));
  file->has_path_ = false;
  file->may_get_name_ = gets == Name::later;
  return file;
}

LocalFile::LocalFile(Key, Descriptor fd, std::string name, const struct stat& s, bool guarded)
    : ByteSource(std::move(name), identity_of(s), guarded), fd_(std::move(fd)), owner_(s.st_uid) {
  set_outgrows_memory(detail::outgrows_memory(size()));
  if (guarded && size() >= end_.size()) read_at(size() - end_.size(), end_);
}

LocalFile::~LocalFile() = default;

/// The first byte of the map, or nullptr before the file is mapped.
const std::byte* LocalFile::base() const { return is_mapped() ? at(0, 0) : nullptr; }

const std::byte* LocalFile::map() const {
  if (const std::byte* base = this->base()) return base;
  const std::lock_guard lock(mutex_);
  if (map_ == nullptr) {
    // Empty files cannot be mapped. No byte of this one will be requested.
    static constexpr std::byte kNothing{};
    auto map = std::make_unique<Map>();
    const std::byte* base = &kNothing;
    if (size() > 0) {
      try {
        map->region = boost::interprocess::mapped_region(OpenFile(fd_.get()), kMapMode, 0,
                                                         static_cast<std::size_t>(size()));
      } catch (const boost::interprocess::interprocess_exception& e) {
        const int reason = e.get_native_error();
        throw_io(name(),
                 reason == ENOMEM ? "map " + counted(size(), "byte") +
                                        " into the address space, which ulimit -v may limit"
                                  : "map",
                 reason);
      }
      base = static_cast<const std::byte*>(map->region.get_address());
      if (guarded()) map->guard.emplace(base, map->region.get_size(), fd_.get());
      // mincore() reports the files of other users as resident whatever they are.
      if (owner_ == ::geteuid()) map->residency.emplace(base, size());
    }
    map_ = std::move(map);
    advise_on_order(base);
    set_base(base);
  }
  return base();
}

/// REQUIRES the mutex.
void LocalFile::advise_on_order(const std::byte* base) const noexcept {
  if (random_readers_ > 0) return advise(base, 0, size(), MADV_RANDOM);
  if (single_looks_size_ > 0) advise(base, single_looks_, single_looks_size_, MADV_RANDOM);
}

namespace {

[[noreturn, gnu::noinline]] void fail_shrunk(const std::string& name, std::uint64_t offset,
                                             std::uint64_t size) {
  throw Error(Errc::io, name, offset,
              "the file had " + counted(size, "byte") + " and has been truncated since");
}

}  // namespace

void LocalFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (fd_.get() < 0) {  // `map_and_close`
    std::copy_n(base() + offset, out.size(), out.begin());
    return;
  }
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(fd_.get(), out.data() + done, out.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (got < 0) throw_io(name(), "read", errno);
    if (got == 0) fail_shrunk(name(), offset + done, size());
    done += static_cast<std::size_t>(got);
  }
}

bool LocalFile::is_read_early(std::uint64_t n) const noexcept {
  return early_count_.load(std::memory_order_acquire) < kEarlyRequests &&
         n <= kEarlyBytes - early_size_.load(std::memory_order_relaxed);
}

const std::byte* LocalFile::find_early(std::uint64_t offset, std::uint64_t n) const noexcept {
  for (unsigned k = early_count_.load(std::memory_order_acquire); k-- > 0;) {
    const Early& part = early_parts_[k];
    if (offset >= part.offset && offset - part.offset <= part.size &&
        n <= part.size - (offset - part.offset)) {
      return part.bytes + (offset - part.offset);
    }
  }
  return nullptr;
}

/// These bytes in private memory; nullptr when the file should be mapped instead.
const std::byte* LocalFile::read_early(std::uint64_t offset, std::uint64_t n) const {
  if (const std::byte* found = find_early(offset, n)) return found;
  const std::lock_guard lock(mutex_);
  if (const std::byte* found = find_early(offset, n)) return found;
  if (map_ != nullptr || !is_read_early(n)) return nullptr;
  auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n) + kLine);
  const auto shift = offset - reinterpret_cast<std::uintptr_t>(memory.get());
  std::byte* const bytes = memory.get() + shift % kLine;
  read_at(offset, {bytes, static_cast<std::size_t>(n)});
  const unsigned count = early_count_.load(std::memory_order_relaxed);
  early_parts_[count] = {offset, n, bytes, std::move(memory)};
  early_size_ += n;
  early_count_.store(count + 1, std::memory_order_release);
  return bytes;
}

const std::byte* LocalFile::keep(std::uint64_t offset, std::uint64_t n) const {
  const std::byte* const early = read_early(offset, n);
  return early != nullptr ? early : map() + offset;
}

HeldBytes LocalFile::hold_anew(std::uint64_t offset, std::uint64_t n) const {
  return {{keep(offset, n), static_cast<std::size_t>(n)}, nullptr};
}

std::shared_ptr<ByteSource> LocalFile::sibling(std::string_view ending) const {
  if (!has_path_) return nullptr;
  auto file = open_if_there(std::string(name()).append(ending), guarded());
  if (file != nullptr) file->set_check(check());
  return file;
}

/// The folder that the file was in when this was first called, wherever it or the process goes.
int LocalFile::folder() const {
  const std::lock_guard lock(mutex_);
  if (!folder_.is_open()) {
    const std::string path = folder_prefix(name());
    folder_ = Descriptor(uninterrupted([&] {
      return ::open(path.empty() ? "." : path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    }));
    if (!folder_.is_open()) throw_io(path, "open", errno);
  }
  return folder_.get();
}

std::shared_ptr<ByteSource> LocalFile::beside(const std::string& file, std::uint64_t) const {
  if (!has_path_) return nullptr;
  std::string path = folder_prefix(name()) + file;
  const int folder = this->folder();
  Descriptor fd = open_to_read(file, folder);
  if (!fd.is_open()) {
    if (errno != ENOENT && errno != ENOTDIR) throw_io(path, "open", errno);
    struct stat s;
    if (::fstat(folder, &s) != 0 || s.st_nlink > 0) return nullptr;
    throw Error(Errc::io, path, std::nullopt, "the folder was removed since it was opened");
  }
  auto found = adopt(std::move(fd), std::move(path), guarded());
  found->set_check(check());
  return found;
}

std::vector<std::string> LocalFile::folders_beside(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::path path = folder_prefix(name()) + (folder.empty() ? "." : folder);
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code none;
    if (it->is_directory(none)) names.push_back(it->path().filename().string());
  }
  if (error) throw_io(path.string(), "list", error.value());
  std::sort(names.begin(), names.end());
  return names;
}

// Size and time are compared as well, and the last bytes, which are the hashes of an index, since a
// clock may tick once for two changes: bytes after the end of the file, in its last page, read as
// zero without a signal, and a truncated file may have grown again. The change time is not: it also
// changes with names and links.
bool LocalFile::is_unchanged() const noexcept {
  struct stat s;
  const bool lost = base() != nullptr && map_->guard && map_->guard->lost();
  if (lost || ::fstat(fd_.get(), &s) != 0) return false;
  const Identity now = identity_of(s);
  return now.size == size() && now.mtime_ns == identity().mtime_ns && has_same_end();
}

bool LocalFile::has_same_end() const noexcept {
  if (size() < end_.size()) return true;
  const std::uint64_t at = size() - end_.size();
  if (base() != nullptr) return std::memcmp(base() + at, end_.data(), end_.size()) == 0;
  std::array<std::byte, kEnd> now;
  try {
    read_at(at, now);
  } catch (const Error&) {
    return false;
  }
  return now == end_;
}

Error LocalFile::changed(const std::string& reading) const {
  struct stat s;
  const Identity now = ::fstat(fd_.get(), &s) == 0 ? identity_of(s) : identity();
  std::string what = "the file was changed in place";
  std::optional<std::uint64_t> offset;
  if (now.size < size()) {
    what = "the file was truncated to " + counted(now.size, "byte");
    offset = now.size;
  } else if (now.mtime_ns == identity().mtime_ns && has_same_end()) {
    what = "the storage could not be read";
  }
  return Error(Errc::io, name(), offset, what + " while " + reading + " was read");
}

void LocalFile::expect_single_looks(std::uint64_t offset, std::uint64_t n) const noexcept {
  const std::lock_guard lock(mutex_);
  single_looks_ = offset;
  single_looks_size_ = n;
  if (n > 0 && map_ != nullptr) advise(base(), offset, n, MADV_RANDOM);
}

void LocalFile::expect_random(bool is) const noexcept {
  if (!reads_ahead_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  random_readers_ += is ? 1 : ~std::uint64_t{0};
  const bool changes = random_readers_ == (is ? 1 : 0);
  if (map_ == nullptr || !changes) return;
  if (!is) advise(base(), 0, size(), MADV_NORMAL);
  advise_on_order(base());
}

bool LocalFile::lock_for_replacing() const noexcept {
  if (!has_path_) return true;
  uninterrupted([&] { return ::flock(fd_.get(), LOCK_EX); });
  struct stat open, named;
  return ::fstat(fd_.get(), &open) != 0 || ::stat(name().c_str(), &named) != 0 ||
         (open.st_dev == named.st_dev && open.st_ino == named.st_ino);
}

std::uint64_t LocalFile::copy_within_system(int to, std::uint64_t begin,
                                            std::uint64_t end) const noexcept {
  auto in = static_cast<off_t>(begin), out = in;
  while (begin < end) {
    const ssize_t copied = ::copy_file_range(fd_.get(), &in, to, &out, end - begin, 0);
    if (copied <= 0) break;
    begin += static_cast<std::uint64_t>(copied);
  }
  return begin;
}

void LocalFile::let_go() const noexcept {
  if (is_mapped()) advise(at(0, 0), 0, size(), MADV_DONTNEED);
}

void LocalFile::read_nothing_ahead() const noexcept {
  expect_single_looks(0, size());
  reads_ahead_.store(false, std::memory_order_relaxed);
}

void LocalFile::will_need(std::span<const Range> ranges) const noexcept {
  if (!reads_ahead_.load(std::memory_order_relaxed)) return;
  for (const Range& range : ranges) {
    if (range.empty()) continue;  // to posix_fadvise, zero means "to the end"
    if (is_mapped()) {
      if (!map_->residency || !map_->residency->holds(range.begin, range.size()))
        advise(base(), range.begin, range.size(), MADV_WILLNEED);
    } else if (is_read_early(range.size())) {
      try {
        read_early(range.begin, range.size());  // one request for a block and its header
      } catch (...) {                           // whoever needs the bytes gets the error
      }
    } else {
      ::posix_fadvise(fd_.get(), static_cast<off_t>(range.begin), static_cast<off_t>(range.size()),
                      POSIX_FADV_WILLNEED);
    }
  }
}

bool LocalFile::times_tell() const noexcept {
  struct statfs system {};
  if (!has_path_ || ::statfs(name().c_str(), &system) != 0) return true;
  return system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC;
}

bool LocalFile::may_wait() const noexcept {
  if (!is_mapped() || !map_->residency || !reads_ahead_.load(std::memory_order_relaxed)) {
    return false;
  }
  map_->residency->refresh();
  return !map_->residency->holds_all();
}

}  // namespace dapple::detail
