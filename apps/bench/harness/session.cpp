#include "harness/session.h"

#include <utility>

namespace dapple::bench {

Session::Session(DataFolder folder, bool quick, PythonPeers& python, Show show)
    : folder_(std::move(folder)), quick_(quick), python_(python), show_(std::move(show)) {}

void Session::measure(const Series& series) {
  Patience patience = quick_ ? Patience{1, 0, 1} : Patience{};
  if (!quick_ && series.rounds != 0) patience.rounds = patience.least_rounds = series.rounds;
  current_.series.push_back(bench::measure(series, patience));
  show_(current_.series.back());
}

void Session::remark(std::string text) { current_.remarks.push_back(std::move(text)); }

void Session::begin(std::string_view id, std::string_view question) {
  current_ = {};
  current_.id = id;
  current_.question = question;
}

WorkloadResult Session::end() { return std::exchange(current_, {}); }

}  // namespace dapple::bench
