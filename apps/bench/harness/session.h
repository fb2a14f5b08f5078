// One run of dapple-bench: its settings, its data, what it has measured.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/data_folder.h"
#include "harness/measure.h"

namespace dapple::bench {

class PythonPeers;

struct WorkloadResult {
  std::string id, question, data;
  std::vector<SeriesResult> series;
  std::vector<std::string> remarks;
  std::string failure;  // why it ended early; "" when it did not
};

class Session {
 public:
  using Show = std::function<void(const SeriesResult&)>;

  /// `python` lives longer.
  Session(DataFolder folder, bool quick, PythonPeers& python, Show show);

  /// A small run that only shows that everything works: workloads choose small data.
  bool quick() const { return quick_; }
  template <class T>
  T sized(T full, T small) const {
    return quick_ ? small : full;
  }

  const DataFolder& folder() const { return folder_; }
  PythonPeers& python() { return python_; }

  /// As DataFolder::file; quick runs have files of their own.
  std::filesystem::path file(const std::string& name,
                             const std::function<void(const std::filesystem::path&)>& make) const {
    return folder_.file((quick_ ? "quick-" : "") + name, make);
  }

  /// Runs a series now, shows it and keeps it for the report.
  void measure(const Series& series);

  /// What the data of this workload is, in a line.
  void describe(std::string data) { current_.data = std::move(data); }
  void remark(std::string text);

  void begin(std::string_view id, std::string_view question);
  void fail(std::string why) { current_.failure = std::move(why); }
  WorkloadResult end();

 private:
  DataFolder folder_;
  bool quick_;
  PythonPeers& python_;
  Show show_;
  WorkloadResult current_;
};

/// A row of the table of workloads.
struct Workload {
  std::string_view id;
  std::string_view question;
  void (*run)(Session&);
};

}  // namespace dapple::bench
