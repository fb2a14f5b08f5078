#include "report/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace dapple::bench {

namespace {

std::string contender_name(const Figures& f) {
  if (f.role == Role::limit) return "limit: " + f.name;
  return f.name;
}

std::string notes_text(const Figures& f) {
  std::string text;
  for (const auto& [name, value] : f.notes) {
    text += fmt::format("{}{} {}", text.empty() ? "  " : ", ", name, digits(value));
  }
  if (f.disturbed) text += "  (disturbed)";
  return text;
}

std::string verdict_text(const Verdict& v, const std::string& unit) {
  const Goal& goal = v.goal;
  const char* const end = v.reached ? "reached" : "MISSED";
  if (goal.against.empty()) {
    return fmt::format("{}: {} {}; goal: {}: {}", v.contender, digits(v.got),
                       goal.note.empty() ? unit : goal.note, digits(goal.most), end);
  }
  const std::string against = goal.against == "peer"    ? "the best peer"
                              : goal.against == "limit" ? "the limit"
                                                        : goal.against;
  return fmt::format("{}: {} x the {} of {}; goal: at most {}: {}", v.contender, digits(v.got),
                     goal.note.empty() ? "time" : goal.note, against, digits(goal.most), end);
}

/// How each contender of a workload was used and tuned: once, however many series it is in.
void show_how(std::FILE* out, const WorkloadResult& result) {
  std::set<std::pair<std::string, std::string>> shown;
  for (const SeriesResult& series : result.series) {
    for (const Figures& f : series.contenders) {
      if (f.how.empty() || !shown.emplace(f.name, f.how).second) continue;
      fmt::print(out, "  {}: {}\n", f.name, f.how);
    }
  }
}

}  // namespace

std::string digits(double value) {
  if (value == 0) return "0";
  const double size = value < 0 ? -value : value;
  return fmt::format("{:.{}f}", value, size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0);
}

void show_series(std::FILE* out, const SeriesResult& series) {
  std::size_t width = 30;
  for (const Figures& f : series.contenders) width = std::max(width, contender_name(f).size());
  fmt::print(out, "\n  {:<{}}  {:>9} {:>9} {:>9}  {:>7} {:>2}\n",
             fmt::format("{}, {}", series.name, series.unit), width, "median", "min", "max",
             "x limit", "n");
  for (const Figures& f : series.contenders) {
    fmt::print(out, "    {:<{}}{:>9} {:>9} {:>9}  {:>7} {:>2}{}\n", contender_name(f), width,
               digits(f.figure.median), digits(f.figure.min), digits(f.figure.max),
               f.to_limit ? digits(*f.to_limit) : "", f.samples, notes_text(f));
  }
  for (const Verdict& v : series.verdicts) {
    fmt::print(out, "    {}\n", verdict_text(v, series.unit));
  }
  std::fflush(out);
}

void show_end(std::FILE* out, const WorkloadResult& result) {
  fmt::print(out, "\n");
  show_how(out, result);
  if (!result.data.empty()) fmt::print(out, "  data: {}\n", result.data);
  for (const std::string& remark : result.remarks) fmt::print(out, "  note: {}\n", remark);
  if (!result.failure.empty()) fmt::print(out, "  FAILED: {}\n", result.failure);
  fmt::print(out, "\n");
}

void show_summary(std::FILE* out, const std::vector<WorkloadResult>& results) {
  std::size_t goals = 0;
  std::string missed;
  for (const WorkloadResult& result : results) {
    for (const SeriesResult& series : result.series) {
      for (const Verdict& v : series.verdicts) {
        ++goals;
        if (v.reached) continue;
        missed +=
            fmt::format("  {} {}: {}\n", result.id, series.name, verdict_text(v, series.unit));
      }
    }
  }
  const auto count = static_cast<std::size_t>(std::count(missed.begin(), missed.end(), '\n'));
  fmt::print(out, "{} of {} goals reached\n{}", goals - count, goals, missed);
}

}  // namespace dapple::bench
