// Long work of the library, reported to Python, which may end it.
#pragma once

#include <chrono>
#include <cstdint>

#include "at_work.h"
#include "core.h"

namespace pydapple {

/// Looks at signals a few times a second, and calls `take(done, total)`, which may be None. What
/// either raises ends the work. Called without the GIL, by one thread at a time.
class Progress {
 public:
  explicit Progress(nb::object take = nb::none()) : take_(std::move(take)) {}

  void operator()(std::uint64_t done, std::uint64_t total) const {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point now = Clock::now();
    if (now < next_ && done != total) return;
    next_ = now + std::chrono::milliseconds(100);
    const InCallback in_callback;
    const WithGil acquire;
    check_signals();
    if (!take_.is_none()) take_(done, total);
  }

 private:
  nb::object take_;
  mutable std::chrono::steady_clock::time_point next_{};
};

/// As the library takes it: the function may be copied without the GIL, so it holds a pointer. The
/// Progress must outlive the call.
inline dapple::TakeProgress as_callback(const Progress& progress) {
  return [&progress](std::uint64_t done, std::uint64_t total) { progress(done, total); };
}

inline nb::dict to_dict(const dapple::BlockCounts& counts) {
  nb::dict out;
  out["total"] = counts.total;
  out["empty"] = counts.empty;
  out["dense"] = counts.dense;
  out["csr"] = counts.csr;
  out["coo"] = counts.coo;
  out["stored"] = counts.stored;
  return out;
}

inline nb::object to_tuple(const dapple::WriteSummary& summary) {
  return nb::make_tuple(to_dict(summary.counts), summary.bytes);
}

}  // namespace pydapple
