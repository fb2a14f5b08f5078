// How a program ends when it is interrupted: one that serves, and one that would leave a folder.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <filesystem>
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

/// While this lives, the first signal that asks the process to end is noted, so that what was begun
/// can be removed, and raised again afterwards. A second one ends the process.
class LateEnding {
 public:
  struct Interrupted {};

  LateEnding();
  ~LateEnding();
  LateEnding(const LateEnding&) = delete;
  LateEnding& operator=(const LateEnding&) = delete;

  /// Whether a signal was noted while one of these lives.
  static bool asked() noexcept;
  /// Throws Interrupted if so.
  static void check();

 private:
  std::array<struct sigaction, 3> before_{};
};

/// Whether files that are written there have hidden names before they are whole: where the system
/// knows files without a name, nothing is left of those when the process ends.
bool hides_files(const std::filesystem::path& folder) noexcept;

}  // namespace dapple::cli
