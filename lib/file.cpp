#include "lib/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "dapple/error.h"
#include "lib/bytes.h"

namespace dapple::detail {

namespace {

// Requests served by pread before the file is mapped, and the private bytes they may take. An
// open followed by one small block makes four: file header, index trailer, index entry, block.
constexpr unsigned kEarlyRequests = 8;
constexpr std::size_t kEarlyBytes = 32 << 10;

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

// ".NAME.RANDOM" in the folder of `path`.
std::filesystem::path hidden_name(const std::filesystem::path& path) {
  std::random_device random;
  std::string name = ".";
  name += path.filename().string();
  name += '.';
  name += std::to_string(random());
  name += ".tmp";
  return path.parent_path() / name;
}

[[noreturn]] void throw_exists(const std::string& file) {
  throw Error(Errc::invalid_argument, file, std::nullopt,
              "expected a new file, got one that exists; --force overwrites it");
}

// Closes a descriptor unless it was taken over.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace

void throw_io(const std::string& file, const std::string& action, int errno_value) {
  throw Error(Errc::io, file, std::nullopt,
              "expected to " + action + ", got " + std::generic_category().message(errno_value));
}

struct MappedFile::Map {
  boost::interprocess::mapped_region region;
};

std::shared_ptr<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  // O_NONBLOCK: opening a pipe without a writer must not hang; regular files ignore it.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) throw_io(name, "open it for reading", errno);
  struct stat s;
  if (::fstat(fd.get(), &s) != 0) throw_io(name, "read its size", errno);
  if (!S_ISREG(s.st_mode)) {
    throw Error(Errc::io, name, std::nullopt,
                std::string("expected a regular file, got ") +
                    (S_ISDIR(s.st_mode) ? "a folder" : "a pipe, socket or device"));
  }
  std::shared_ptr<MappedFile> file(new MappedFile(fd.get(), name, stamp_of(s)));
  fd.release();
  return file;
}

std::shared_ptr<MappedFile> MappedFile::spool(int source, std::string name) {
  const char* folder = ::getenv("TMPDIR");
  if (folder == nullptr || *folder == '\0') folder = "/tmp";
  Descriptor fd(::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.get() < 0) throw_io(name, std::string("keep its bytes in folder ") + folder, errno);
  constexpr std::size_t kBuffer = 1 << 20;
  const auto buffer = std::make_unique<std::byte[]>(kBuffer);
  for (;;) {
    const ssize_t got = ::read(source, buffer.get(), kBuffer);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw_io(name, "read it", errno);
    }
    for (ssize_t done = 0; done < got;) {
      const ssize_t put =
          ::write(fd.get(), buffer.get() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR)
        throw_io(name, std::string("keep its bytes in folder ") + folder, errno);
      if (put > 0) done += put;
    }
  }
  struct stat s;
  if (::fstat(fd.get(), &s) != 0) throw_io(name, "read its size", errno);
  std::shared_ptr<MappedFile> file(new MappedFile(fd.get(), std::move(name), stamp_of(s)));
  fd.release();
  return file;
}

MappedFile::MappedFile(int fd, std::string name, FileStamp stamp)
    : fd_(fd), name_(std::move(name)), stamp_(stamp) {}

MappedFile::~MappedFile() {
  if (fd_ >= 0) ::close(fd_);
}

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
        map->region = boost::interprocess::mapped_region(
            OpenFile(fd_), boost::interprocess::read_only, 0, static_cast<std::size_t>(size()));
      } catch (const boost::interprocess::interprocess_exception& e) {
        throw_io(name_, "map it", e.get_native_error());
      }
      base = static_cast<const std::byte*>(map->region.get_address());
    }
    map_ = std::move(map);
    base_.store(base, std::memory_order_release);
  }
  return base();
}

void MappedFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t got =
        ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_io(name_, "read it", errno);
    if (got == 0) {
      throw Error(Errc::io, name_, offset + done,
                  "expected a file of " + std::to_string(size()) + " bytes, got one that shrank");
    }
    done += static_cast<std::size_t>(got);
  }
}

const std::byte* MappedFile::at_before_map(std::uint64_t offset, std::uint64_t n) const {
  {
    const std::lock_guard lock(mutex_);
    std::size_t used = 0;
    for (const Early& part : early_parts_) {
      if (offset >= part.offset && offset - part.offset <= part.size &&
          n <= part.size - (offset - part.offset)) {
        return early_.get() + part.at + (offset - part.offset);
      }
      used = round_up(part.at + part.size, 64);  // keeps index entries inside one cache line
    }
    const bool few = early_parts_.size() < kEarlyRequests && used <= kEarlyBytes;
    if (map_ == nullptr && few && n <= kEarlyBytes - used) {
      if (early_ == nullptr) early_ = std::make_unique_for_overwrite<std::byte[]>(kEarlyBytes);
      read_at(offset, {early_.get() + used, static_cast<std::size_t>(n)});
      early_parts_.push_back({offset, n, used});
      return early_.get() + used;
    }
  }
  return map() + offset;
}

void MappedFile::will_need(std::uint64_t offset, std::uint64_t n) const noexcept {
  if (n == 0) return;  // to the system, a length of zero means everything
  const std::byte* base = this->base();
  if (base == nullptr) {
    ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(n), POSIX_FADV_WILLNEED);
    return;
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset & ~(page - 1);
  ::madvise(const_cast<std::byte*>(base) + begin, offset - begin + n, MADV_WILLNEED);
}

OutputFile::OutputFile(std::filesystem::path path, bool overwrite)
    : path_(std::move(path)), name_(path_.string()), overwrite_(overwrite) {
  if (!overwrite_ && std::filesystem::exists(std::filesystem::symlink_status(path_))) {
    throw_exists(name_);
  }
  const std::filesystem::path parent = path_.parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
    throw_io(name_, "create it", errno);
  }
  // The file system knows no nameless files: a hidden name beside the destination.
  for (int attempt = 0;; ++attempt) {
    temporary_ = hidden_name(path_);
    fd_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ >= 0) return;
    if (errno != EEXIST || attempt == 100) {
      temporary_.clear();
      throw_io(name_, "create it", errno);
    }
  }
}

OutputFile::~OutputFile() { discard(); }

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      overwrite_(other.overwrite_),
      appended_(other.appended_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    name_ = std::move(other.name_);
    temporary_ = std::exchange(other.temporary_, {});
    fd_ = std::exchange(other.fd_, -1);
    overwrite_ = other.overwrite_;
    appended_ = other.appended_;
  }
  return *this;
}

void OutputFile::discard() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0) {
      if (errno == EINTR) continue;
      throw_io(name_, "write it", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void OutputFile::write_at(std::uint64_t offset, std::span<iovec> parts) const {
  while (!parts.empty()) {
    const int count = static_cast<int>(std::min<std::size_t>(parts.size(), 1024));  // IOV_MAX
    const ssize_t put = ::pwritev(fd_, parts.data(), count, static_cast<off_t>(offset));
    if (put < 0) {
      if (errno == EINTR) continue;
      throw_io(name_, "write it", errno);
    }
    offset += static_cast<std::uint64_t>(put);
    auto left = static_cast<std::size_t>(put);
    while (!parts.empty() && left >= parts.front().iov_len) {
      left -= parts.front().iov_len;
      parts = parts.subspan(1);
    }
    if (left > 0) {
      parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + left;
      parts.front().iov_len -= left;
    }
  }
}

void OutputFile::append(std::span<const std::byte> bytes) {
  write_at(appended_, bytes);
  appended_ += bytes.size();
}

void OutputFile::publish(bool sync) {
  struct stat old;
  if (overwrite_ && ::stat(path_.c_str(), &old) == 0) ::fchmod(fd_, old.st_mode & 07777);
  if (sync && ::fsync(fd_) != 0) throw_io(name_, "sync it to storage", errno);
  const std::filesystem::path parent = path_.parent_path();

  if (temporary_.empty()) {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    if (!overwrite_) {
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        if (errno == EEXIST) throw_exists(name_);
        throw_io(name_, "give the new file its name", errno);
      }
    } else {
      // A link cannot replace a file, a rename can: the file needs a name of its own first.
      for (int attempt = 0;; ++attempt) {
        const std::filesystem::path candidate = hidden_name(path_);
        if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, candidate.c_str(), AT_SYMLINK_FOLLOW) == 0) {
          temporary_ = candidate;
          break;
        }
        if (errno != EEXIST || attempt == 100) throw_io(name_, "give the new file a name", errno);
      }
    }
  }
  if (!temporary_.empty()) {
    const unsigned flags = overwrite_ ? 0u : RENAME_NOREPLACE;
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), flags) != 0) {
      if (errno == EEXIST) throw_exists(name_);
      throw_io(name_, "give the new file its name", errno);
    }
    temporary_.clear();
  }
  if (sync) {
    const Descriptor folder(
        ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0 || ::fsync(folder.get()) != 0) {
      throw_io(name_, "sync its folder to storage", errno);
    }
  }
  ::close(std::exchange(fd_, -1));
}

}  // namespace dapple::detail
