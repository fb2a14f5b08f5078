// How a program that serves is ended.
#pragma once

#include <atomic>
#include <memory>

namespace dapple::cli {

/// Ends this process as soon as a signal asks for it. Serving writes nothing that could be lost,
/// and the server would wait for answers that are being made, and for requests that never come.
class Ending {
 public:
  /// REQUIRES that no other thread was started: those started later leave the signals to this one.
  Ending();
  /// From now on it is the way to end; before, it is an interruption.
  void serve() { *serving_ = true; }

 private:
  std::shared_ptr<std::atomic<bool>> serving_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace dapple::cli
