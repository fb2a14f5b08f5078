// What programs read: everything that was measured, as JSON.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/session.h"

namespace dapple::bench {

/// Writes to `path`; "-" is standard output. Throws std::runtime_error.
void write_json(const std::string& path, const std::map<std::string, std::string>& machine,
                const std::map<std::string, std::string>& versions,
                const std::vector<WorkloadResult>& results);

}  // namespace dapple::bench
