#include "ending.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "report.h"

namespace dapple::cli {

namespace {

constexpr std::array kEndings{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t noted = 0;  // handlers know nothing else

extern "C" void note_signal(int signal) { noted = signal; }

}  // namespace

LateEnding::LateEnding() {
  struct sigaction ours = {};
  ours.sa_handler = &note_signal;
  ours.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kEndings.size(); ++i) {
    ::sigaction(kEndings[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kEndings[i], &ours, nullptr);
  }
}

LateEnding::~LateEnding() {
  for (std::size_t i = 0; i < kEndings.size(); ++i) {
    ::sigaction(kEndings[i], &before_[i], nullptr);
  }
  const int signal = noted;
  noted = 0;
  if (signal != 0) std::raise(signal);
}

bool LateEnding::asked() noexcept { return noted != 0; }

void LateEnding::check() {
  if (asked()) throw Interrupted{};
}

bool hides_files(const std::filesystem::path& folder) noexcept {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd < 0;
}

Ending::Ending() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kEndings) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread([signals, serving = serving_] {
      int signal = 0;
      sigwait(&signals, &signal);
      if (*serving) std::_Exit(kDone);
      ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
      std::raise(signal);
    }).detach();
  } catch (const std::system_error&) {  // where there are no threads, signals end it as usual
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

}  // namespace dapple::cli
