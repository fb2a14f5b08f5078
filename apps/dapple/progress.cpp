#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace dapple::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kDelay = 1s;
constexpr auto kInterval = 100ms;
constexpr std::size_t kBarWidth = 40;
constexpr std::string_view kEraseLine = "\r\x1b[K";

void draw(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(std::string what, bool quiet)
    : what_(std::move(what)),
      enabled_(!quiet && ::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + kDelay) {}

Progress::~Progress() {
  if (drawn_) draw(kEraseLine);
}

void Progress::may_leave(const std::filesystem::path& out) {
  const std::filesystem::path folder = out.parent_path();
  if (hides_files(folder.empty() ? "." : folder)) ending_.emplace();
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  LateEnding::check();
  if (!enabled_ || total == 0) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  drawn_ = true;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  draw(fmt::format("\r{} [{:#<{}}{:<{}}] {:3.0f} %", what_, "", filled, "", kBarWidth - filled,
                   part * 100));
}

}  // namespace dapple::cli
