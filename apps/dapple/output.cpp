#include "output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "dapple/error.h"

namespace dapple::cli {

void Output::write(std::string_view text) {
  if (text.size() >= kFlushAt) {
    flush();
    send(text);
    return;
  }
  buffer_.append(text.data(), text.data() + text.size());
  if (buffer_.size() >= kFlushAt) flush();
}

void Output::flush() {
  const std::string_view pending(buffer_.data(), buffer_.size());
  try {
    send(pending);
  } catch (...) {
    buffer_.clear();  // a later flush must not send it twice
    throw;
  }
  buffer_.clear();
}

void Output::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{fd_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno == EPIPE) {
      throw ClosedPipe{};
    } else if (errno != EINTR) {
      throw Error(Errc::io, "stdout", std::nullopt,
                  "cannot write: " + std::generic_category().message(errno), {}, errno);
    }
  }
}

bool Output::is_terminal() const noexcept { return ::isatty(fd_) == 1; }

std::size_t Output::width() const noexcept {
  winsize size{};
  if (::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::size_t Output::height() const noexcept {
  winsize size{};
  if (::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) return size.ws_row;
  return 24;
}

void say(std::string_view line) noexcept {
  try {
    const std::string text = std::string(line) + '\n';
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  } catch (...) {  // out of memory: the exit status has to do
  }
}

void reserve_standard_descriptors() noexcept {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // In the wrong direction, so that reading stdin and writing stdout still fail.
    [[maybe_unused]] const int opened = ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace dapple::cli
