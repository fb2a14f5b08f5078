#include "harness/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "harness/disturbance.h"
#include "harness/random.h"

namespace dapple::bench {

namespace {

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

struct Taken {
  bool took_part = false;
  double value = 0;  // seconds, unless the contender said otherwise; per piece of work
  bool clean = true;
  std::map<std::string, double> notes;
};

Taken take(const Series& series, const Contender& contender) {
  if (contender.prepare) contender.prepare();
  Sample sample;
  const Watch watch;
  const auto start = Steady::now();
  const double answer = contender.run(sample);
  const double seconds = seconds_since(start);
  const bool clean = watch.undisturbed(seconds, sample.cpu_elsewhere(), series.cache);
  if (answer != contender.expected) {
    throw std::runtime_error(fmt::format("{}: {}: expected the answer {}, got {}", series.name,
                                         contender.name, contender.expected, answer));
  }
  if (contender.holds && !contender.holds()) {
    throw std::runtime_error(fmt::format("{}: {}: expected the cells that were stored, got others",
                                         series.name, contender.name));
  }
  return {true, sample.value().value_or(seconds) / contender.work, clean, sample.notes()};
}

bool stands_for(const Contender& contender, const std::string& against) {
  if (against == "limit") return contender.role == Role::limit;
  if (against == "peer") return contender.role == Role::peer;
  return contender.name.starts_with(against);
}

/// All samples of a series: taken[round][contender].
class Rounds {
 public:
  Rounds(const Series& series, const Patience& patience)
      : clean_(series.contenders.size()),
        last_(series.contenders.size()),
        spent_(series.contenders.size()),
        rests_(series.contenders.size()),
        counts_all_(series.contenders.size()) {
    const std::size_t n = series.contenders.size();
    for (std::size_t c = 0; c < n; ++c) timed(series, c);  // warms up
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(n);
    while (
        (!satisfied(patience) || (taken_.size() < patience.most_rounds && is_in_doubt(series))) &&
        (taken_.size() < patience.least_rounds || spent() < patience.seconds)) {
      std::vector<Taken> round(n);
      for (std::size_t k = n; k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
      for (const std::size_t c : order) {
        if (rests_[c]) continue;
        round[c] = timed(series, c);
        if (round[c].clean) ++clean_[c];
      }
      taken_.push_back(std::move(round));
      for (std::size_t c = 0; c < n; ++c) rests_[c] = may_rest(series, patience, c);
    }
    for (std::size_t c = 0; c < n; ++c) {
      counts_all_[c] = clean_[c] < std::min<std::size_t>(patience.least_rounds, taken_.size());
    }
  }

  bool disturbed(std::size_t c) const { return counts_all_[c]; }

  template <class F>
  std::vector<double> values(std::size_t c, const F& f) const {
    std::vector<double> all;
    for (const auto& round : taken_) {
      if (counts(round, c)) all.push_back(f(round[c]));
    }
    return all;
  }

  /// Time of `a` over the time of `b`: the median over the rounds in which both count. Without
  /// such a round, the medians of each.
  double ratio(std::size_t a, std::size_t b) const {
    std::vector<double> ratios;
    for (const auto& round : taken_) {
      if (counts(round, a) && counts(round, b)) ratios.push_back(round[a].value / round[b].value);
    }
    if (!ratios.empty()) return median(ratios);
    return typical(a) / typical(b);
  }

  double typical(std::size_t c) const {
    return median(values(c, [](const Taken& t) { return t.value; }));
  }

  std::map<std::string, double> notes(std::size_t c) const {
    std::map<std::string, double> medians;
    for (const auto& note : taken_[0][c].notes) {
      medians[note.first] =
          median(values(c, [&](const Taken& t) { return t.notes.at(note.first); }));
    }
    return medians;
  }

 private:
  Taken timed(const Series& series, std::size_t c) {
    const auto start = Steady::now();
    Taken taken = take(series, series.contenders[c]);
    last_[c] = seconds_since(start);
    spent_[c] += last_[c];
    return taken;
  }
  /// Seconds, by those that still take part.
  double spent() const {
    double seconds = 0;
    for (std::size_t c = 0; c < spent_.size(); ++c) seconds += rests_[c] ? 0 : spent_[c];
    return seconds;
  }
  /// What is far slower than dapple would use up the time that the others need for rounds enough.
  bool may_rest(const Series& series, const Patience& patience, std::size_t c) const {
    constexpr double kFar = 4;
    if (series.contenders[c].role == Role::dapple) return false;
    if (rests_[c]) return true;
    for (std::size_t d = 0; d < spent_.size(); ++d) {
      if (series.contenders[d].role == Role::dapple && last_[c] > kFar * last_[d]) {
        return taken_.size() >= patience.least_rounds;
      }
    }
    return false;
  }
  bool counts(const std::vector<Taken>& round, std::size_t c) const {
    return round[c].took_part && (counts_all_[c] || round[c].clean);
  }
  bool satisfied(const Patience& patience) const {
    for (std::size_t c = 0; c < clean_.size(); ++c) {
      if (!rests_[c] && clean_[c] < patience.rounds) return false;
    }
    return true;
  }

  /// True when chance alone, of rounds that reach a goal and rounds that miss it, might have made
  /// either the more: a fair coin is so uneven in one of twenty series.
  bool is_in_doubt(const Series& series) const {
    for (std::size_t c = 0; c < series.contenders.size(); ++c) {
      if (series.contenders[c].role != Role::dapple) continue;
      for (const Goal& goal : series.goals) {
        if (goal.against.empty() || !goal.note.empty()) continue;
        for (std::size_t other = 0; other < series.contenders.size(); ++other) {
          if (rests_[other] || !stands_for(series.contenders[other], goal.against)) continue;
          const auto [reached, missed] = tally(c, other, goal.most);
          const double uneven = reached - missed;
          if (uneven * uneven <= 4 * (reached + missed)) return true;
        }
      }
    }
    return false;
  }
  /// Rounds in which the time of `a` is at most `most` times that of `b`, and others.
  std::pair<double, double> tally(std::size_t a, std::size_t b, double most) const {
    double reached = 0, missed = 0;
    for (const auto& round : taken_) {
      if (!round[a].clean || !round[b].clean) continue;
      (round[a].value <= most * round[b].value ? reached : missed) += 1;
    }
    return {reached, missed};
  }

  std::vector<std::vector<Taken>> taken_;
  // By contender:
  std::vector<std::size_t> clean_;
  std::vector<double> last_;      // seconds of the last time,
  std::vector<double> spent_;     //   and of all
  std::vector<bool> rests_;       // takes part no more
  std::vector<bool> counts_all_;  // too few clean samples: disturbed ones count as well
};

/// The fastest of the contenders that `against` stands for.
std::optional<std::size_t> find_best(const Series& series, const Rounds& rounds,
                                     const std::string& against) {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < series.contenders.size(); ++c) {
    if (!stands_for(series.contenders[c], against)) continue;
    if (!best || rounds.typical(c) < rounds.typical(*best)) best = c;
  }
  return best;
}

/// Nothing when the other side took no part.
std::optional<Verdict> judge(const Series& series, const Rounds& rounds, std::size_t c,
                             const Goal& goal) {
  const std::string& name = series.contenders[c].name;
  if (goal.against.empty()) {
    if (!goal.note.empty()) {
      const double noted = rounds.notes(c).at(goal.note);
      return Verdict{name, goal, noted, noted <= goal.most};
    }
    const double figure = series.unit.figure(rounds.typical(c), 1);
    return Verdict{name, goal, figure,
                   series.unit.rate ? figure >= goal.most : figure <= goal.most};
  }
  const auto other = find_best(series, rounds, goal.against);
  if (!other) return std::nullopt;
  const double ratio = goal.note.empty()
                           ? rounds.ratio(c, *other)
                           : rounds.notes(c).at(goal.note) / rounds.notes(*other).at(goal.note);
  return Verdict{name, goal, ratio, ratio <= goal.most};
}

}  // namespace

SeriesResult measure(const Series& series, const Patience& patience) {
  const Rounds rounds(series, patience);
  const auto limit = find_best(series, rounds, "limit");
  const auto peer = find_best(series, rounds, "peer");

  SeriesResult result{series.name, std::string(series.unit.name), series.at, {}, {}, {}};
  if (peer) result.best_peer = series.contenders[*peer].name;
  for (std::size_t c = 0; c < series.contenders.size(); ++c) {
    const Contender& contender = series.contenders[c];
    const auto figures =
        rounds.values(c, [&](const Taken& t) { return series.unit.figure(t.value, 1); });
    Figures f{contender.name, contender.how, contender.role, spread(figures), {}, {}, 0, {}, {}};
    f.samples = figures.size();
    f.disturbed = rounds.disturbed(c);
    f.notes = rounds.notes(c);
    if (limit) f.to_limit = rounds.ratio(c, *limit);
    if (peer && contender.role == Role::dapple) f.to_best_peer = rounds.ratio(c, *peer);
    result.contenders.push_back(std::move(f));
    if (contender.role != Role::dapple) continue;
    for (const Goal& goal : series.goals) {
      if (auto verdict = judge(series, rounds, c, goal)) result.verdicts.push_back(*verdict);
    }
  }
  return result;
}

}  // namespace dapple::bench
