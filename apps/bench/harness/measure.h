// Running the contenders of a series in turns, and what came of it.
//
// A round runs every contender once, each time in another order: one that follows a neighbour with
// all of a file behind it finds other caches than one that follows a short walk. Ratios are taken
// within a round and the median of them is reported: whatever slows the machine for a second slows
// both sides. A sample during which other programs used a processor, or a warm one that read from
// storage, counts only if there are too few others. What takes more than four times as long as
// dapple leaves after the least number of rounds, and its time is not counted. Where about as many
// rounds reach a goal as miss it, more are made: otherwise chance would say which it is.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/series.h"
#include "harness/statistics.h"

namespace dapple::bench {

struct Patience {
  unsigned rounds = 7;        // undisturbed samples wanted of each contender,
  unsigned most_rounds = 25;  //   and up to so many rounds while a goal is in doubt
  double seconds = 10;        // after which a series ends with what it has,
  unsigned least_rounds = 3;  // but not before so many rounds
};

struct Figures {
  std::string name, how;
  Role role = Role::peer;
  Spread figure;                        // in the series' unit
  std::optional<double> to_limit;       // time over the limit's time
  std::optional<double> to_best_peer;   // time over the best peer's time; of dapple only
  std::size_t samples = 0;              // that `figure` is made of
  bool disturbed = false;               // there were too few others, so disturbed ones count
  std::map<std::string, double> notes;  // medians
};

struct Verdict {
  std::string contender;
  Goal goal;
  double got = 0;  // a ratio, or the figure itself
  bool reached = false;
};

struct SeriesResult {
  std::string name, unit;
  std::optional<double> at;
  std::string best_peer;  // "" without peers
  std::vector<Figures> contenders;
  std::vector<Verdict> verdicts;  // goals whose other side took part
};

/// Throws std::runtime_error as soon as a contender gives a wrong answer.
SeriesResult measure(const Series& series, const Patience& patience);

}  // namespace dapple::bench
