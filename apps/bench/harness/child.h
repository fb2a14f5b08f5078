// Measuring in a process of its own.
#pragma once

#include <functional>

namespace dapple::bench {

/// What f() gives in a forked child, which then ends without cleaning up. Throws
/// std::runtime_error when f throws or the child dies.
double in_child(const std::function<double()>& f);

}  // namespace dapple::bench
