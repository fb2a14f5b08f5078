#include "ending.h"

#include <signal.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "report.h"

namespace dapple::cli {

Ending::Ending() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, serving = serving_] {
    int signal = 0;
    sigwait(&signals, &signal);
    if (*serving) std::_Exit(kDone);
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    std::raise(signal);
  }).detach();
}

}  // namespace dapple::cli
