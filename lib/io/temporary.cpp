#include "lib/io/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <span>
#include <system_error>

#include "lib/io/byte_source.h"
#include "lib/io/hash.h"

namespace dapple::detail {

namespace {

// How many writers may write the same file at once.
constexpr unsigned kMostNames = 1000;
// After this many unused names in a row, the search for abandoned files ends.
constexpr unsigned kGap = 16;
constexpr std::size_t kLongestName = 255;

std::filesystem::path hidden_name(const std::filesystem::path& path, unsigned number) {
  std::string name(1, '.');
  name += path.filename().string();
  const std::string tail = ".dapple-" + std::to_string(number) + "-";
  constexpr std::size_t kHashDigits = 16;
  name.resize(std::min(name.size(), kLongestName - tail.size() - kHashDigits));
  name += tail;
  std::array<char, kHashDigits> hash;
  const auto end = std::to_chars(hash.data(), hash.data() + hash.size(),
                                 xxh3(std::as_bytes(std::span(name))), 16);
  name.append(hash.data(), end.ptr);
  return path.parent_path() / name;
}

// True when what is open is this user's file or folder of that name.
bool is_ours(int fd, const std::filesystem::path& path) noexcept {
  struct stat open, named;
  return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         (S_ISREG(named.st_mode) || S_ISDIR(named.st_mode)) && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino && open.st_uid == ::geteuid();
}

bool lock(int fd) noexcept {
  return uninterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0;
}

// Makes something new under a hidden name: make(name) opens it, and fails with EEXIST where another
// has the name.
template <class Make>
Descriptor open_new(const std::filesystem::path& path, std::filesystem::path& hidden,
                    const Make& make) {
  for (unsigned number = 0; number < kMostNames; ++number) {
    hidden = hidden_name(path, number);
    Descriptor fd(make(hidden.c_str()));
    if (!fd.is_open()) {
      if (errno == EEXIST) continue;
      break;
    }
    // Before it was locked, another writer may have taken it for abandoned. (If the file system has
    // no locks, nobody removes anything.)
    const bool contested = !lock(fd.get()) && errno == EWOULDBLOCK;
    if (!contested && is_ours(fd.get(), hidden)) return fd;
    errno = EEXIST;
  }
  hidden.clear();
  return Descriptor();
}

}  // namespace

Descriptor open_nameless(const std::string& folder, mode_t mode) noexcept {
  return Descriptor(
      uninterrupted([&] { return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode); }));
}

bool lacks_nameless(int errno_value) noexcept {
  // The last two are from kernels that ignore the flag and see a folder opened for writing.
  return errno_value == EOPNOTSUPP || errno_value == EISDIR || errno_value == EINVAL;
}

Descriptor open_hidden(const std::filesystem::path& path, mode_t mode,
                       std::filesystem::path& hidden) {
  return open_new(path, hidden, [&](const char* name) {
    return uninterrupted(
        [&] { return ::open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode); });
  });
}

Descriptor open_hidden_folder(const std::filesystem::path& path, std::filesystem::path& hidden) {
  return open_new(path, hidden, [](const char* name) {
    if (::mkdir(name, 0777) != 0) return -1;
    const int fd = uninterrupted(
        [&] { return ::open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); });
    if (fd < 0 && errno == ENOENT) errno = EEXIST;  // another writer took it for abandoned
    return fd;
  });
}

std::string name_in_proc(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

std::filesystem::path name_hidden(int fd, const std::filesystem::path& path) {
  lock(fd);  // before it has a name, so that it never looks abandoned
  const std::string self = name_in_proc(fd);
  for (unsigned number = 0; number < kMostNames; ++number) {
    std::filesystem::path hidden = hidden_name(path, number);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, hidden.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return hidden;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

void remove_abandoned(const std::filesystem::path& path) {
  unsigned free = 0;
  for (unsigned number = 0; number < kMostNames && free < kGap; ++number) {
    const std::filesystem::path hidden = hidden_name(path, number);
    const Descriptor fd(uninterrupted(
        [&] { return ::open(hidden.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); }));
    if (!fd.is_open()) {
      free = errno == ENOENT ? free + 1 : 0;
      continue;
    }
    free = 0;
    if (!lock(fd.get()) || !is_ours(fd.get(), hidden)) continue;
    std::error_code stays;
    if (::unlink(hidden.c_str()) != 0 && errno == EISDIR) {
      std::filesystem::remove_all(hidden, stays);
    }
  }
}

bool write_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t put = uninterrupted(
        [&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (put == 0) errno = ENOSPC;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

Descriptor duplicate(int fd) noexcept { return Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

std::string temporary_folder() {
  const char* name = ::getenv("TMPDIR");
  return name != nullptr && *name != '\0' ? name : "/tmp";
}

Descriptor open_scratch(const std::string& file, const std::string& folder, mode_t mode) {
  Descriptor fd = open_nameless(folder, mode);
  if (!fd.is_open() && lacks_nameless(errno)) {
    const std::filesystem::path path = std::filesystem::path(folder) / "scratch";
    remove_abandoned(path);
    std::filesystem::path hidden;
    fd = open_hidden(path, mode, hidden);
    if (fd.is_open()) ::unlink(hidden.c_str());
  }
  if (!fd.is_open()) throw_io(folder, "create a temporary file for " + file, errno);
  return fd;
}

}  // namespace dapple::detail
