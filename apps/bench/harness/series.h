// What is measured: contenders that do the same work, side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dapple::bench {

/// One run of one contender, as the contender sees it.
class Sample {
 public:
  /// Replaces the harness's clock: seconds, or whatever the series' unit is made of. For runs that
  /// must leave something out (closing a file), happen in another process, or measure no time.
  void set(double value) { value_ = value; }
  /// Processor seconds that other processes spent on this contender's behalf.
  void add_cpu_elsewhere(double seconds) { cpu_elsewhere_ += seconds; }
  /// A second figure of the run, for example bytes read from storage per byte asked for.
  void note(std::string name, double value) { notes_[std::move(name)] = value; }

  std::optional<double> value() const { return value_; }
  double cpu_elsewhere() const { return cpu_elsewhere_; }
  const std::map<std::string, double>& notes() const { return notes_; }

 private:
  std::optional<double> value_;
  double cpu_elsewhere_ = 0;
  std::map<std::string, double> notes_;
};

enum class Role : std::uint8_t {
  limit,   // what the machine can do; ratios are taken to the best of them
  dapple,  // judged by the goals
  peer,    // somebody else's way
  aside,   // shown for comparison, and not judged
};

struct Contender {
  std::string name;
  Role role = Role::peer;
  std::string how;                     // how it is used and tuned
  double work = 1;                     // what one run does, in the unit's measure: fetches, bytes
  double expected = 0;                 // the answer that every run must give, exactly
  std::function<double(Sample&)> run;  // timed; returns its answer

  // Neither is timed. `holds` looks at what a run left behind, in memory or in a file.
  std::function<void()> prepare{};
  std::function<bool()> holds{};
};

/// How seconds and work become the figure that people read.
struct Unit {
  std::string_view name;
  double scale;
  bool rate;  // work per second, more is better; otherwise seconds per piece of work

  double figure(double value, double work) const {
    return rate ? work / value * scale : value / work * scale;
  }
};

inline constexpr Unit kNanoseconds{"ns", 1e9, false};
inline constexpr Unit kMicroseconds{"us", 1e6, false};
inline constexpr Unit kMilliseconds{"ms", 1e3, false};
inline constexpr Unit kGigabytesPerSecond{"GB/s", 1e-9, true};
inline constexpr Unit kMillionsPerSecond{"M/s", 1e-6, true};
inline constexpr Unit kKibibytes{"KiB", 1.0 / 1024, false};
inline constexpr Unit kMebibytes{"MiB", 1.0 / (1024 * 1024), false};

/// What dapple is to reach: at most `most` times the time of the best contender whose name starts
/// with `against`; "limit" and "peer" stand for the roles. With none, the figure itself must be as
/// good as `most`. With a note, that note is compared instead of the time.
struct Goal {
  std::string against;
  double most = 1;
  std::string note{};
};

/// What a sample's data may have come from.
enum class Cache : std::uint8_t {
  warm,  // a sample during which this process read from storage does not count
  any,   // cold on purpose, or written
};

struct Series {
  std::string name;
  Unit unit = kMilliseconds;
  Cache cache = Cache::warm;
  std::vector<Goal> goals;
  std::vector<Contender> contenders{};
  unsigned rounds = 0;         // samples wanted of each contender; 0: the usual number
  std::optional<double> at{};  // where on the horizontal axis of a plot, for example blocks
};

}  // namespace dapple::bench
