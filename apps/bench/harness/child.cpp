#include "harness/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>

namespace dapple::bench {

double in_child(const std::function<double()>& f) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) {
    try {
      const double result = f();
      const bool told = ::write(ends[1], &result, sizeof result) == sizeof result;
      ::_exit(told ? 0 : 1);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  ::close(ends[1]);
  double result = 0;
  const bool told = ::read(ends[0], &result, sizeof result) == sizeof result;
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  if (!told) throw std::runtime_error("expected a figure from a child process, got none");
  return result;
}

}  // namespace dapple::bench
