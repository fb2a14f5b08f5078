// What people read: a table per series, as soon as it has been measured.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/session.h"

namespace dapple::bench {

/// A figure in as many digits as say something: "30.1", "1.04", "16069".
std::string digits(double value);

void show_series(std::FILE* out, const SeriesResult& series);

/// How the contenders of a workload were used, remarks, and why it failed.
void show_end(std::FILE* out, const WorkloadResult& result);

/// How many goals were reached, and which were not.
void show_summary(std::FILE* out, const std::vector<WorkloadResult>& results);

}  // namespace dapple::bench
