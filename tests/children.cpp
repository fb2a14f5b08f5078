#include "tests/children.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

namespace dapple::test {

pid_t start_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child > 0) return child;
  try {
    _exit(work());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    _exit(1);
  }
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

bool all_well(const std::vector<pid_t>& children) {
  bool well = true;
  for (const pid_t child : children) well = status_of(child) == 0 && well;
  return well;
}

}  // namespace dapple::test
