#include "publish.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "dapple/error.h"

namespace dapple::cli {

void publish(const Destination& destination, std::string_view bytes) {
  require_replaceable(destination);
  std::string temporary = destination.path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  const auto fail = [&](std::string_view what) {
    const int reason = errno;
    if (fd >= 0) {
      ::close(fd);
      ::unlink(temporary.c_str());
    }
    throw Error(Errc::io, destination.path, std::nullopt,
                std::string(what) + ": " + std::generic_category().message(reason));
  };
  if (fd < 0) fail("cannot write");
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd, 0666 & ~mask) != 0) fail("cannot set its permissions");
  if (::rename(temporary.c_str(), destination.path.c_str()) != 0)
    fail("cannot put it in its place");
  ::close(fd);
}

}  // namespace dapple::cli
