// A progress bar on standard error, if that is a terminal, for work that takes longer than a
// second.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "ending.h"

namespace dapple::cli {

class Progress {
 public:
  /// `what` is printed before the bar. Shows nothing when `quiet`.
  Progress(std::string what, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Until this is gone, a signal ends the program by an exception of `update`, so that a hidden
  /// file, which `out` is until it is whole, is removed. Does nothing where there is none.
  void may_leave(const std::filesystem::path& out);
  /// The same of a hidden folder.
  void may_leave_folder() { ending_.emplace(); }

  /// Thread-safe. Throws LateEnding::Interrupted.
  void update(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool enabled_;
  std::optional<LateEnding> ending_{};
  std::mutex mutex_;  // guards what follows
  Clock::time_point next_;
  bool drawn_ = false;
};

}  // namespace dapple::cli
