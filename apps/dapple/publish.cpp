#include "publish.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "dapple/error.h"

namespace dapple::cli {

namespace {

/// A file without a name or, where the file system has none, with a hidden one, until it is whole.
class Unpublished {
 public:
  explicit Unpublished(const std::filesystem::path& path) : path_(path) {
    constexpr std::size_t kLongestName = 255, kAdded = 16;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const std::string name = path.filename().string().substr(0, kLongestName - kAdded);
    hidden_ = (folder / ("." + name + ".XXXXXX")).string();
    // Without /proc it could not get a name.
    if (::access("/proc/self/fd", X_OK) == 0) {
      fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    }
    if (fd_ >= 0) return;
    fd_ = ::mkostemp(hidden_.data(), O_CLOEXEC);
    named_ = fd_ >= 0;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (named_) ::fchmod(fd_, 0666 & ~mask);
  }
  ~Unpublished() {
    if (named_) ::unlink(hidden_.c_str());
    if (fd_ >= 0) ::close(fd_);
  }
  Unpublished(const Unpublished&) = delete;
  Unpublished& operator=(const Unpublished&) = delete;

  int fd() const noexcept { return fd_; }
  /// Gives it its name, and the permissions of the file that it replaces; false, with errno, on
  /// failure.
  bool publish() {
    if (!keep_permissions()) return false;
    if (!named_) {
      const std::string self = "/proc/self/fd/" + std::to_string(fd_);
      hidden_.replace(hidden_.size() - 6, 6, std::to_string(::getpid()));
      named_ = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, hidden_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    }
    const bool done = named_ && ::rename(hidden_.c_str(), path_.c_str()) == 0;
    named_ = named_ && !done;
    return done;
  }

 private:
  /// The owner, too, where that is allowed; a group that cannot be kept has no rights.
  bool keep_permissions() const noexcept {
    struct stat old, now;
    if (::stat(path_.c_str(), &old) != 0) return true;
    if (::fchown(fd_, old.st_uid, old.st_gid) != 0) errno = 0;  // only the superuser may
    if (::fstat(fd_, &now) != 0) return false;
    const mode_t mode = old.st_mode & (now.st_gid == old.st_gid ? 0777 : 0707);
    return (now.st_mode & 0777) == mode || ::fchmod(fd_, mode) == 0;
  }

  const std::filesystem::path path_;
  std::string hidden_;
  bool named_ = false;
  int fd_ = -1;
};

}  // namespace

void publish(const Destination& destination, std::string_view bytes) {
  require_replaceable(destination);
  Unpublished file(destination.path);
  const auto fail = [&](std::string_view what) {
    throw Error(Errc::io, destination.path, std::nullopt,
                std::string(what) + ": " + std::generic_category().message(errno), {}, errno);
  };
  if (file.fd() < 0) fail("cannot write");
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!file.publish()) fail("cannot put it in its place");
}

}  // namespace dapple::cli
