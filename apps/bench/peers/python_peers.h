// numpy, h5py, zarr, scipy and pandas: peers.py in a Python process of its own, which takes its
// turns like the other contenders. Python's own clock counts, so the way there costs nothing.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/series.h"

namespace dapple::bench {

class PythonPeers {
 public:
  /// Starts Python. Without it, or without numpy, no library is there.
  PythonPeers();
  ~PythonPeers();
  PythonPeers(const PythonPeers&) = delete;
  PythonPeers& operator=(const PythonPeers&) = delete;

  /// Versions of the libraries that are there, by name.
  const std::map<std::string, std::string>& versions() const { return versions_; }
  bool has(const std::string& library) const { return versions_.count(library) != 0; }

  /// Does what `request` says (see peers.py) and gives the answer. Throws std::runtime_error.
  double run(const nlohmann::json& request, Sample& sample);

  /// Closes files and forgets arrays of earlier requests.
  void forget();

  /// Makes `contender`, whose name, role, work and expected answer are set, run a request.
  Contender contender(Contender contender, nlohmann::json request);

 private:
  nlohmann::json ask(const nlohmann::json& request);

  struct Process;
  std::unique_ptr<Process> process_;
  std::map<std::string, std::string> versions_;
};

}  // namespace dapple::bench
