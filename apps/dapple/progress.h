// A progress bar on standard error, if that is a terminal, for work that takes longer than a
// second.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace dapple::cli {

class Progress {
 public:
  /// `what` is printed before the bar. Shows nothing when `quiet`.
  Progress(std::string what, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Thread-safe.
  void update(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool enabled_;
  std::mutex mutex_;  // guards what follows
  Clock::time_point next_;
  bool drawn_ = false;
};

}  // namespace dapple::cli
