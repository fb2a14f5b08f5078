#include "report/json.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace dapple::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view name(Role role) {
  constexpr std::string_view names[] = {"limit", "dapple", "peer", "aside"};
  return names[static_cast<std::size_t>(role)];
}

Json to_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const Figures& f) {
  return {{"name", f.name},
          {"role", name(f.role)},
          {"how", f.how},
          {"median", f.figure.median},
          {"min", f.figure.min},
          {"max", f.figure.max},
          {"samples", f.samples},
          {"disturbed", f.disturbed},
          {"to_limit", to_json(f.to_limit)},
          {"to_best_peer", to_json(f.to_best_peer)},
          {"notes", f.notes}};
}

Json to_json(const Verdict& v) {
  return {{"contender", v.contender},
          {"against", v.goal.against},
          {"note", v.goal.note},
          {"goal", v.goal.most},
          {"got", v.got},
          {"reached", v.reached}};
}

Json to_json(const SeriesResult& s);
Json to_json(const WorkloadResult& w);

template <class T>
Json to_json(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

Json to_json(const SeriesResult& s) {
  return {{"name", s.name},
          {"unit", s.unit},
          {"at", to_json(s.at)},
          {"best_peer", s.best_peer},
          {"contenders", to_json(s.contenders)},
          {"goals", to_json(s.verdicts)}};
}

Json to_json(const WorkloadResult& w) {
  return {{"id", w.id},           {"question", w.question}, {"data", w.data},
          {"remarks", w.remarks}, {"failure", w.failure},   {"series", to_json(w.series)}};
}

}  // namespace

void write_json(const std::string& path, const std::map<std::string, std::string>& machine,
                const std::map<std::string, std::string>& versions,
                const std::vector<WorkloadResult>& results) {
  const Json document = {
      {"machine", machine}, {"versions", versions}, {"workloads", to_json(results)}};
  if (path == "-") {
    std::cout << document.dump(2) << '\n' << std::flush;
    return;
  }
  std::ofstream file(path);
  file << document.dump(2) << '\n' << std::flush;
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

}  // namespace dapple::bench
