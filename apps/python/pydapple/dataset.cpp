// Data sets: parts that were written, and states.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "at_work.h"
#include "core.h"
#include "dapple/dataset.h"
#include "progress.h"

namespace pydapple {

namespace {

namespace fs = std::filesystem;
using Pair = std::pair<std::uint64_t, std::uint64_t>;
using PartTuple =
    std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, Pair, Pair>;
using StateTuple = std::tuple<std::uint64_t, std::string, std::uint64_t, Pair, std::uint64_t,
                              std::uint64_t, std::uint64_t>;

PartTuple to_part(const dapple::DatasetPart& part) {
  const dapple::Region& cells = part.cells;
  return {part.name,
          part.bytes,
          part.header_bytes,
          part.header_hash,
          part.trailer_hash,
          {cells.rows.begin, cells.rows.end},
          {cells.cols.begin, cells.cols.end}};
}

dapple::DatasetPart from_part(const PartTuple& part) {
  const auto& [name, bytes, header_bytes, header_hash, trailer_hash, rows, cols] = part;
  return {name,        bytes,        header_bytes,
          header_hash, trailer_hash, {{rows.first, rows.second}, {cols.first, cols.second}}};
}

StateTuple to_state(const dapple::DatasetState& state) {
  static constexpr const char* kActions[] = {"", "create", "commit", "compact", "gc"};
  const auto action = static_cast<std::size_t>(state.action);
  return {state.number,  kActions[action < std::size(kActions) ? action : 0],
          state.time_ns, {state.rows, state.cols},
          state.parts,   state.blocks,
          state.bytes};
}

/// Runs f() while other threads may use Python.
template <class F>
auto at_work(const F& f) {
  const WithoutGil release;
  return f();
}

dapple::dataset::CommitOptions options_of(Pair shape, bool whole, bool below, bool sync) {
  return {shape.first, shape.second, whole, below, sync};
}

}  // namespace

void bind_dataset(nb::module_& m) {
  namespace ds = dapple::dataset;
  m.def("dataset_part", [](const fs::path& folder, const std::string& name, Pair at) {
    return to_part(at_work([&] { return ds::find_part(folder, name, {at.first, at.second}); }));
  });
  m.def("dataset_tile", [](std::uint64_t rows, std::uint64_t cols) {
    const dapple::TileShape tile = ds::part_tile(rows, cols);
    return Pair(tile.rows, tile.cols);
  });
  m.def("dataset_fitted", [](const fs::path& folder, const Handle& data) {
    const auto object = variant_of(data);
    return to_handle(at_work([&] { return ds::fitted(folder, object); }), data.far());
  });
  m.def("dataset_latest", [](const fs::path& folder) { return ds::latest(folder).string(); });
  m.def("dataset_commit", [](const fs::path& folder, const std::vector<PartTuple>& tuples,
                             Pair shape, bool whole, bool below, bool sync) {
    std::vector<dapple::DatasetPart> parts;
    for (const PartTuple& tuple : tuples) parts.push_back(from_part(tuple));
    return to_state(
        at_work([&] { return ds::commit(folder, parts, options_of(shape, whole, below, sync)); }));
  });
  m.def("dataset_append", [](const fs::path& folder, const PartTuple& part, bool below, bool sync) {
    const auto options = options_of({0, 0}, false, below, sync);
    return to_state(at_work([&] { return ds::append(folder, from_part(part), options); }));
  });
  m.def("dataset_create", [](const fs::path& folder, const Handle& like, Pair shape, bool sync) {
    const auto object = variant_of(like);
    return to_state(
        at_work([&] { return ds::create(folder, object, options_of(shape, false, false, sync)); }));
  });
  m.def(
      "dataset_compact",
      [](const fs::path& folder, std::uint64_t small, Threads threads,
         const dapple::WriteOptions& write, nb::object progress) {
        const Progress report(std::move(progress));
        dapple::ConvertOptions options;
        options.threads = threads;
        options.write = write;
        options.progress = as_callback(report);
        return to_state(at_work([&] { return ds::compact(folder, small, options); }));
      },
      nb::arg("folder"), nb::arg("small"), nb::arg("threads").none(), nb::arg("options"),
      nb::arg("progress").none());
  m.def("dataset_collect", [](const fs::path& folder, std::uint64_t keep, std::uint64_t grace) {
    const auto removed = at_work([&] { return ds::collect(folder, {keep, grace}); });
    return std::tuple(removed.states, removed.parts, removed.bytes);
  });
  m.def("dataset_log", [](const fs::path& folder) {
    std::vector<StateTuple> states;
    std::vector<std::string> damaged;
    const auto take = [&](const dapple::Error& error) { damaged.emplace_back(error.what()); };
    for (const auto& state : at_work([&] { return ds::log(folder, take); })) {
      states.push_back(to_state(state));
    }
    return std::pair(std::move(states), std::move(damaged));
  });
}

}  // namespace pydapple
