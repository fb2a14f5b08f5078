// What dapple-bench is made of: workloads, and the data that they are measured on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace dapple::bench {

/// Where workloads find their data. Everything is made from fixed seeds.
class Data {
 public:
  using Make = std::function<void(const std::filesystem::path&)>;

  /// Creates the folder. `quick`: tiny data, which shows that everything runs and measures nothing.
  Data(std::filesystem::path folder, bool quick);

  bool quick() const noexcept { return quick_; }
  template <class T>
  T sized(T full, T small) const noexcept {
    return quick_ ? small : full;
  }

  /// The file of that name, made unless it is there.
  std::filesystem::path file(const std::string& name, const Make& make) const;
  /// The same for one whose layout dapple chooses: made again when the library is newer.
  std::filesystem::path chosen_file(const std::string& name, const Make& make) const;
  /// Where a workload may write; what was there is removed.
  std::filesystem::path scratch(const std::string& name) const;

 private:
  std::filesystem::path folder_;
  bool quick_;
};

/// How seconds and pieces of work become a figure.
struct Unit {
  std::string_view name;
  double scale;
  bool rate;  // pieces a second; otherwise seconds a piece

  double figure(double seconds, double work) const noexcept {
    return rate ? work / seconds * scale : seconds / work * scale;
  }
};
inline constexpr Unit kNanoseconds{"ns", 1e9, false}, kMicroseconds{"us", 1e6, false},
    kMilliseconds{"ms", 1e3, false}, kGigabytesPerSecond{"GB/s", 1e-9, true};

/// A workload that is ready to run. What `run` and `limit` use, they own.
struct Ready {
  double work = 1;                  // pieces that one run does, or bytes
  double expected = 0;              // what each run must give, exactly
  std::function<double()> run;      // by dapple
  std::function<double()> limit{};  // the same with an address, memcpy or pread; may be missing
  std::function<void()> before{};   // before each run, not timed
};

struct Workload {
  std::string_view name, question;
  Unit unit;
  bool waits;  // for storage: then the time on the clock decides, otherwise the processor's
  Ready (*prepare)(const Data&);
};

// By file: tiles.cpp, opening.cpp, sparse.cpp, search.cpp, transfers.cpp.
std::span<const Workload> tile_workloads();
std::span<const Workload> opening_workloads();
std::span<const Workload> sparse_workloads();
std::span<const Workload> search_workloads();
std::span<const Workload> transfer_workloads();

}  // namespace dapple::bench
