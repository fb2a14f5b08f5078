// Outputs that appear whole or not at all (rule 2.10).
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "dapple/error.h"
#include "lib/io/file.h"
#include "lib/io/temporary.h"

namespace dapple::detail {

namespace {

[[noreturn]] void throw_exists(const std::string& file) {
  throw Error(Errc::invalid_argument, file, std::nullopt, "the file exists already",
              Remedy::overwrite);
}

std::string folder_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  return parent.empty() ? "." : parent.string();
}

// True for /dev/stdout and its like: links, by way of others, to what the system shows of an open
// file. Whoever names them means that file, not the link.
bool names_open_file(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as many as the system follows
  for (int i = 0; i < kMostLinks; ++i) {
    struct statfs system;
    const std::string folder = folder_of(path);
    if (::statfs(folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) return true;
    std::error_code none;
    const std::filesystem::path target = std::filesystem::read_symlink(path, none);
    if (none) return false;
    path = std::filesystem::path(folder) / target;
  }
  return false;
}

// Devices and pipes are not replaced by a file, even where that is allowed.
void require_file_place(const std::filesystem::path& path, const std::string& name) {
  const auto fail = [&](const char* what) {
    throw Error(Errc::invalid_argument, name, std::nullopt,
                std::string("expected a file to write, got ") + what);
  };
  struct stat behind_links;
  if (::stat(path.c_str(), &behind_links) == 0) {
    if (S_ISDIR(behind_links.st_mode)) fail("a folder");
    if (!S_ISREG(behind_links.st_mode)) fail("a device, pipe or socket");
  }
  if (names_open_file(path)) fail("the name of one that is open");
}

// A name can be given to a nameless file only by way of /proc.
bool can_link_nameless() noexcept { return ::access("/proc/self/fd", X_OK) == 0; }

// Gives `fd` the permissions of the file that it replaces, and its owner where that is allowed.
// What the old group might do, another group may not. False, with errno, when that fails.
bool keep_permissions(int fd, const struct stat& old) noexcept {
  struct stat now;
  if (::fstat(fd, &now) != 0) return false;
  if (now.st_uid != old.st_uid || now.st_gid != old.st_gid) {
    if (::fchown(fd, old.st_uid, old.st_gid) != 0 && ::fchown(fd, -1U, old.st_gid) != 0) {
      errno = 0;  // only the superuser may give files away
    }
    if (::fstat(fd, &now) != 0) return false;
  }
  mode_t mode = old.st_mode & 0777;
  if (now.st_gid != old.st_gid) mode = (mode & ~mode_t{070}) | ((mode & 007) << 3 & mode);
  return (now.st_mode & 07777) == mode || ::fchmod(fd, mode) == 0;
}

// A name that is on storage: the folder is synced, or, where it may be written but not read, all
// of its file system.
bool sync_folder(const std::string& folder, int fd) noexcept {
  const Descriptor opened(
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!opened.is_open()) return errno == EACCES && ::syncfs(fd) == 0;
  if (uninterrupted([&] { return ::fsync(opened.get()); }) == 0) return true;
  return errno == EINVAL;  // a file system whose folders need no syncing
}

// Renames without replacing. File systems that cannot do that can mostly link, which refuses too.
bool rename_new(const std::filesystem::path& from, const std::filesystem::path& to) noexcept {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (::link(from.c_str(), to.c_str()) != 0) return false;
  ::unlink(from.c_str());
  return true;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, bool overwrite)
    : path_(std::move(path)), name_(path_.string()), overwrite_(overwrite) {
  require_file_place(path_, name_);
  struct stat old;
  const bool exists = ::lstat(path_.c_str(), &old) == 0;
  if (exists && !overwrite_) throw_exists(name_);
  remove_abandoned(path_);
  // Until it gets the permissions of the file that it replaces, no more than those.
  const mode_t mode = exists && S_ISREG(old.st_mode) ? (old.st_mode & 0666) | 0600 : 0666;
  if (can_link_nameless()) {
    fd_ = open_nameless(folder_of(path_), mode);
    if (fd_.is_open()) return;
    if (!lacks_nameless(errno)) throw_io(name_, "create", errno);
  }
  fd_ = open_hidden(path_, mode, hidden_);
  if (!fd_.is_open()) throw_io(name_, "create", errno);
}

OutputFile::~OutputFile() { discard(); }

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      hidden_(std::exchange(other.hidden_, {})),
      fd_(std::move(other.fd_)),
      overwrite_(other.overwrite_),
      synced_(other.synced_),
      appended_(other.appended_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    name_ = std::move(other.name_);
    hidden_ = std::exchange(other.hidden_, {});
    fd_ = std::move(other.fd_);
    overwrite_ = other.overwrite_;
    synced_ = other.synced_;
    appended_ = other.appended_;
  }
  return *this;
}

void OutputFile::discard() noexcept {
  if (!hidden_.empty()) ::unlink(hidden_.c_str());
  hidden_.clear();
  fd_.close();
}

// ext4 otherwise claims storage for each page that is written on its own, a fifth of the time
// (256 MiB in pieces of 512 KiB: 70 ms, with this 57, and syncing takes no longer).
void OutputFile::will_write(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  constexpr std::uint64_t kWorthIt = std::uint64_t{256} << 10;
  if (bytes <= kWorthIt) return;
  ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  will_write(offset, bytes.size());
  while (!bytes.empty()) {
    const ssize_t put = uninterrupted([&] {
      return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (put <= 0) throw_io(name_, "write", put < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void OutputFile::write_at(std::uint64_t offset, std::span<iovec> parts) const {
  std::uint64_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  will_write(offset, bytes);
  while (!parts.empty()) {
    const int count = static_cast<int>(std::min<std::size_t>(parts.size(), 1024));  // IOV_MAX
    const ssize_t put = uninterrupted(
        [&] { return ::pwritev(fd_.get(), parts.data(), count, static_cast<off_t>(offset)); });
    if (put <= 0) throw_io(name_, "write", put < 0 ? errno : ENOSPC);
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

void OutputFile::cut(std::uint64_t offset) const {
  if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(offset)); }) != 0) {
    throw_io(name_, "truncate", errno);
  }
}

void OutputFile::append(std::span<const std::byte> bytes) {
  write_at(appended_, bytes);
  appended_ += bytes.size();
}

void OutputFile::sync() {
  if (uninterrupted([&] { return ::fsync(fd_.get()); }) != 0) {
    throw_io(name_, "sync to storage", errno);
  }
  synced_ = true;
}

void OutputFile::publish(bool sync) {
  struct stat old;
  if (overwrite_ && ::stat(path_.c_str(), &old) == 0 && !keep_permissions(fd_.get(), old)) {
    throw_io(name_, "keep the permissions of the file it replaces", errno);
  }
  if (sync && !synced_) this->sync();
  give_name();
  if (sync && !sync_folder(folder_of(path_), fd_.get())) {
    throw_io(name_, "sync its folder to storage", errno);
  }
  fd_.close();
}

void OutputFile::give_name() {
  bool named = false;
  if (hidden_.empty() && !overwrite_) {
    named = ::linkat(AT_FDCWD, name_in_proc(fd_).c_str(), AT_FDCWD, path_.c_str(),
                     AT_SYMLINK_FOLLOW) == 0;
  } else {
    // A link cannot replace a file, a rename can: the file needs a name of its own first.
    if (hidden_.empty()) hidden_ = name_hidden(fd_, path_);
    named = !hidden_.empty() && (overwrite_ ? ::rename(hidden_.c_str(), path_.c_str()) == 0
                                            : rename_new(hidden_, path_));
  }
  if (!named && errno == EEXIST && !overwrite_) throw_exists(name_);
  if (!named) throw_io(name_, "move the finished file into place", errno);
  hidden_.clear();
}

}  // namespace dapple::detail
