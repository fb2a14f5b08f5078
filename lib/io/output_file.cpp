// Files that appear complete or not at all.
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "dapple/error.h"
#include "lib/io/byte_source.h"
#include "lib/io/http/http.h"
#include "lib/io/local/local_file.h"
#include "lib/io/output_file.h"
#include "lib/io/temporary.h"

namespace dapple::detail {

namespace {

[[noreturn]] void throw_exists(const std::string& file) {
  throw Error(Errc::invalid_argument, file, std::nullopt, "the file exists already", "overwrite");
}

std::string folder_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  return parent.empty() ? "." : parent.string();
}

// True for /dev/stdout and the like, which are links into /proc: to replace the link with a file is
// not what the caller means.
bool is_in_proc(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
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

}  // namespace

void require_local(const std::string& name) {
  if (!http::is_address(name)) return;
  throw Error(Errc::invalid_argument, http::shown(name), std::nullopt,
              "what is on a web server is only read; name a place on this machine");
}

namespace {

// Folders, devices and pipes are never replaced by a file.
void require_file_place(const std::filesystem::path& path, const std::string& name) {
  const auto fail = [&](const char* what) {
    throw Error(Errc::invalid_argument, name, std::nullopt,
                std::string("cannot be written as a file: it is ") + what);
  };
  if (name.empty()) throw_io(name, "create", ENOENT);
  require_local(name);
  struct stat target;
  if (::stat(path.c_str(), &target) == 0) {
    if (S_ISDIR(target.st_mode)) fail("a folder");
    if (!S_ISREG(target.st_mode)) fail("a device, pipe or socket");
  }
  if (is_in_proc(path)) fail("a path into /proc");
}

// An unnamed file can be given a name only through /proc.
bool can_link_nameless() noexcept { return ::access("/proc/self/fd", X_OK) == 0; }

// Gives `fd` the permissions of the file that it replaces, and its owner and group if allowed. If
// the group cannot be kept, the new group gets no more rights than everybody. False, with errno, on
// failure.
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

// Gives `fd` the permissions of another open file. False, with errno, on failure.
bool take_mode_of(int fd, int other) noexcept {
  struct stat now, wanted;
  if (::fstat(fd, &now) != 0 || ::fstat(other, &wanted) != 0) return false;
  return now.st_mode == wanted.st_mode || ::fchmod(fd, wanted.st_mode & 07777) == 0;
}

// Syncs the folder or, if that may not be read, its whole file system.
bool sync_folder(const std::string& folder, int fd) noexcept {
  const Descriptor opened(
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!opened.is_open()) return errno == EACCES && ::syncfs(fd) == 0;
  if (uninterrupted([&] { return ::fsync(opened.get()); }) == 0) return true;
  return errno == EINVAL;  // a file system whose folders need no syncing
}

bool lacks_links(int errno_value) noexcept {
  return errno_value == EPERM || errno_value == ENOSYS || errno_value == EOPNOTSUPP;
}

// Renames without replacing. On file systems that cannot, creating a hard link has the same effect.
// Where there are none either, as in mounted object stores, another file is looked for first,
// unless the file must be `alone`: one that appears just then would be replaced.
bool rename_new(const std::filesystem::path& from, const std::filesystem::path& to,
                bool alone) noexcept {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && !lacks_links(errno)) return false;
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (alone || !lacks_links(errno)) return false;
  struct stat other;
  if (::lstat(to.c_str(), &other) == 0) errno = EEXIST;
  return errno == ENOENT && ::rename(from.c_str(), to.c_str()) == 0;
}

// The sidecar index of a file that was just replaced is stale. A file that is no sidecar by its
// content stays; so does a sidecar that cannot be removed, since readers will reject it.
void remove_sidecar(const std::string& file) noexcept try {
  const std::string name = file + kSidecarEnding;
  const auto sidecar = LocalFile::open_if_there(name);
  constexpr std::size_t kMagic = sizeof kSidecarMagic - 1;
  if (sidecar == nullptr || sidecar->size() < kMagic) return;
  // That of a text is a file of its cells, which starts like any other one and ends in an index.
  if (std::memcmp(sidecar->at(0, kMagic), kSidecarMagic, kMagic) == 0 ||
      std::memcmp(sidecar->at(sidecar->size() - kMagic, kMagic), kIndexEnd, kMagic) == 0) {
    ::unlink(name.c_str());
  }
} catch (...) {
}

}  // namespace

void write_back(const std::filesystem::path& path) {
  const Descriptor opened(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (!opened.is_open() || uninterrupted([&] { return ::fsync(opened.get()); }) == 0) return;
  if (errno == EINVAL || errno == EROFS) return;  // nothing that could be written back
  throw_io(path.string(), "sync", errno);
}

OutputFile::Hidden::Hidden() noexcept : process(::getpid()) {}

OutputFile::Hidden::~Hidden() {
  if (!path.empty() && process == ::getpid()) ::unlink(path.c_str());
}

OutputFile::OutputFile(std::filesystem::path path, bool overwrite)
    : path_(std::move(path)), name_(path_.string()), overwrite_(overwrite) {
  require_file_place(path_, name_);
  struct stat old;
  const bool exists = ::lstat(path_.c_str(), &old) == 0;
  if (exists && !overwrite_) throw_exists(name_);
  remove_abandoned(path_);
  // Never more permissions than the file that it replaces, whose mode it gets when published.
  const mode_t mode = exists && S_ISREG(old.st_mode) ? (old.st_mode & 0666) | 0600 : 0666;
  if (can_link_nameless()) {
    fd_ = open_nameless(folder_of(path_), mode);
    if (fd_.is_open()) return;
    if (!lacks_nameless(errno)) throw_io(name_, "create", errno);
  }
  fd_ = open_hidden(path_, mode, hidden_.path);
  if (!fd_.is_open()) throw_io(name_, "create", errno);
}

OutputFile::OutputFile(std::string name, Unnamed where)
    : name_(std::move(name)), unnamed_(where), folder_(temporary_folder()) {
  if (where == Unnamed::nowhere) return;
  if (where == Unnamed::memory) fd_ = Descriptor(::memfd_create("dapple", MFD_CLOEXEC));
  if (!fd_.is_open()) fd_ = open_scratch(name_, folder_);
}

OutputFile::OutputFile(std::string name, const std::filesystem::path& folder)
    : name_(std::move(name)),
      fd_(open_scratch(name_, folder, 0666)),
      unnamed_(Unnamed::temporary),
      folder_(folder),
      expects_sync_(true) {}

void OutputFile::require_own_process() const {
  if (hidden_.process == ::getpid()) return;
  throw Error(Errc::invalid_argument, name_, std::nullopt,
              "the writer belongs to another process, from which this one was forked: write a file "
              "of its own in each process, and concat them");
}

// ext4 otherwise allocates page by page, which takes a fifth of the time of large writes.
void OutputFile::will_write(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  constexpr std::uint64_t kWorthIt = std::uint64_t{256} << 10;
  if (bytes <= kWorthIt || (unnamed_ && !expects_sync_)) return;
  ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
}

void OutputFile::begin_storing(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  constexpr std::uint64_t kWorthIt = std::uint64_t{1} << 20;
  if (!expects_sync_ || bytes < kWorthIt) return;
  ::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                    SYNC_FILE_RANGE_WRITE);
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  require_own_process();
  if (unnamed_ == Unnamed::nowhere) return;
  will_write(offset, bytes.size());
  if (write_all(fd_.get(), offset, bytes)) return begin_storing(offset, bytes.size());
  throw_io(name_, unnamed_ ? "copy to a temporary file in " + folder_ : "write", errno);
}

void OutputFile::write_at(std::uint64_t offset, std::span<iovec> parts) const {
  require_own_process();
  if (unnamed_ == Unnamed::nowhere) return;
  std::uint64_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  will_write(offset, bytes);
  const std::uint64_t begin = offset;
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
  begin_storing(begin, bytes);
}

void OutputFile::take_over(const ByteSource& from, std::uint64_t begin, std::uint64_t end) {
  require_own_process();
  nameless_ = {find_nameless(from), begin, end};
  if (nameless_.file == nullptr) copy(from, begin, end);
}

// The file, opened once more, if it may get the name that this has. It can in a file system where
// this one was made without a name.
std::shared_ptr<LocalFile> OutputFile::find_nameless(const ByteSource& from) const {
  const LocalFile* const local = from.local();
  if (unnamed_ || !hidden_.path.empty() || local == nullptr || !local->may_get_name()) return {};
  const std::string path = name_in_proc(local->descriptor());
  Descriptor fd(uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC); }));
  struct stat that, here;
  if (!fd.is_open() || ::fstat(fd.get(), &that) != 0 || ::fstat(fd_.get(), &here) != 0) return {};
  if (that.st_nlink != 0 || that.st_dev != here.st_dev) return {};
  return LocalFile::adopt_unnamed(std::move(fd), name_);
}

void OutputFile::copy(const ByteSource& from, std::uint64_t begin, std::uint64_t end) const {
  if (unnamed_ == Unnamed::nowhere) return;
  if (from.local() != nullptr) begin = from.local()->copy_within_system(fd_.get(), begin, end);
  if (begin < end) write_at(begin, from.bytes(begin, end - begin));
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

// True when the bytes around those that belong here are the same in both files.
bool OutputFile::has_rest_of(const Nameless& nameless) const {
  const auto here = LocalFile::adopt_unnamed(duplicate(fd_.get()), name_);
  if (here->size() != nameless.file->size() || here->size() < nameless.end) return false;
  constexpr std::uint64_t kPiece = 64 << 10;
  std::vector<std::byte> a(kPiece), b(kPiece);
  const auto equal = [&](std::uint64_t at, std::uint64_t end) {
    for (std::uint64_t n; at < end; at += n) {
      n = std::min(kPiece, end - at);
      here->read_at(at, std::span(a).first(n));
      nameless.file->read_at(at, std::span(b).first(n));
      if (std::memcmp(a.data(), b.data(), n) != 0) return false;
    }
    return true;
  };
  return equal(0, nameless.begin) && equal(nameless.end, here->size());
}

// Ends what `take_over` began.
void OutputFile::settle() {
  if (nameless_.file == nullptr) return;
  if (has_rest_of(nameless_)) {
    Descriptor fd = duplicate(nameless_.file->descriptor());
    if (!fd.is_open() || !take_mode_of(fd.get(), fd_.get())) throw_io(name_, "open", errno);
    fd_ = std::move(fd);
  } else {
    copy(*nameless_.file, nameless_.begin, nameless_.end);
  }
  nameless_.file = nullptr;
}

void OutputFile::publish(bool sync) {
  require_own_process();
  if (unnamed_) return;
  settle();
  struct stat old;
  if (overwrite_ && ::stat(path_.c_str(), &old) == 0 && !keep_permissions(fd_.get(), old)) {
    throw_io(name_, "take over the permissions of the old file", errno);
  }
  if (sync && !synced_) this->sync();
  give_name();
  if (overwrite_) remove_sidecar(name_);
  if (sync && !sync_folder(folder_of(path_), fd_.get())) {
    throw_io(name_, "sync the folder to storage", errno);
  }
  fd_.close();
}

void OutputFile::give_name() {
  bool named = false;
  std::filesystem::path& hidden = hidden_.path;
  if (hidden.empty() && !overwrite_) {
    named = ::linkat(AT_FDCWD, name_in_proc(fd_.get()).c_str(), AT_FDCWD, path_.c_str(),
                     AT_SYMLINK_FOLLOW) == 0;
  } else {
    // Only rename() can replace a file, and it needs a name to rename.
    if (hidden.empty()) hidden = name_hidden(fd_.get(), path_);
    named = !hidden.empty() && (overwrite_ ? ::rename(hidden.c_str(), path_.c_str()) == 0
                                           : rename_new(hidden, path_, alone_));
  }
  if (!named && errno == EEXIST && !overwrite_) throw_exists(name_);
  if (!named && alone_ && lacks_links(errno)) {
    throw Error(
        Errc::invalid_argument, name_, std::nullopt,
        "cannot be made here: the file system can neither rename without replacing nor link, "
        "so that one of two made at once would be lost");
  }
  if (!named) throw_io(name_, "give the new file its name", errno);
  hidden.clear();
}

}  // namespace dapple::detail
