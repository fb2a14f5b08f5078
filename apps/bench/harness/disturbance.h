// Did anything else happen on the machine while a sample was taken?
#pragma once

#include <cstdint>

#include "harness/series.h"

namespace dapple::bench {

/// Takes the state of the machine when it is made, and compares later.
class Watch {
 public:
  Watch();

  /// False when others used more than a tenth of a processor meanwhile, or when a warm sample read
  /// from storage. The kernel counts processor time in steps of 10 ms: short samples pass.
  bool undisturbed(double seconds, double cpu_elsewhere, Cache cache) const;

 private:
  double busy_, own_;
  std::uint64_t read_;
};

}  // namespace dapple::bench
