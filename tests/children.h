// Processes that a test starts beside its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace dapple::test {

/// Runs `work` in a child, which exits with what that returns, or with 1 when it throws. Throws
/// std::system_error when there is no child.
pid_t start_child(const std::function<int()>& work);

/// Waits until a child has ended; its status as `waitpid` gives it.
int status_of(pid_t child);

/// Waits for all; true when each of them exited with 0.
bool all_well(const std::vector<pid_t>& children);

}  // namespace dapple::test
