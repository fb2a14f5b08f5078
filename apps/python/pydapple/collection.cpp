// Collections: members, their axes, and packing.
#include "dapple/collection.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "at_work.h"
#include "core.h"
#include "progress.h"

namespace pydapple {

namespace {

namespace fs = std::filesystem;
using AxisName = std::optional<std::string>;
using Axes = std::tuple<AxisName, AxisName>;

Axes to_axes(const dapple::MemberAxes& axes) {
  const auto axis = [](const std::string& name) {
    return name.empty() ? AxisName() : AxisName(name);
  };
  return {axis(axes.rows), axis(axes.cols)};
}

}  // namespace

void bind_collection(nb::module_& m) {
  m.def("find_member", &dapple::find_member);
  nb::class_<dapple::Collection>(m, "Collection")
      .def_prop_ro("members", &dapple::Collection::members)
      .def_prop_ro("json_members", &dapple::Collection::json_members)
      .def("has",
           [](const dapple::Collection& self, const std::string& member) {
             return std::ranges::binary_search(self.members(), member);
           })
      .def("has_json",
           [](const dapple::Collection& self, const std::string& member) {
             return std::ranges::binary_search(self.json_members(), member);
           })
      .def("open",
           [](const dapple::Collection& self, const std::string& member, bool far) {
             auto opened = [&] {
               const WithoutGil release;
               return self.open(member);
             }();
             return to_handle(std::move(opened), far);
           })
      .def("json",
           [](const dapple::Collection& self, const std::string& member) {
             const std::string text = [&] {
               const WithoutGil release;
               return self.json(member);
             }();
             return nb::bytes(text.data(), text.size());
           })
      .def("axes_of",
           [](const dapple::Collection& self, const std::string& member) {
             return to_axes([&] {
               const WithoutGil release;
               return self.axes_of(member);
             }());
           })
      .def("require_fit",
           [](const dapple::Collection& self, const std::string& member, std::uint64_t rows,
              std::uint64_t cols, const AxisName& of_rows, const AxisName& of_cols) {
             const WithoutGil release;
             self.require_fit(member, rows, cols, {of_rows.value_or(""), of_cols.value_or("")});
           })
      .def("require_axes", [](const dapple::Collection& self) {
        const WithoutGil release;
        self.require_axes();
      });
  m.def("find_collection", [](const fs::path& path, const dapple::OpenOptions& options) {
    const WithoutGil release;
    return dapple::Collection::find(path, options);
  });
  m.def(
      "pack_collection",
      [](const fs::path& folder, const fs::path& file, bool overwrite, nb::object progress) {
        const Progress report(std::move(progress));
        const WithoutGil release;
        return dapple::pack_collection(folder, file, overwrite, as_callback(report));
      },
      nb::arg("folder"), nb::arg("file"), nb::arg("overwrite"), nb::arg("progress").none());
  m.def(
      "unpack_collection",
      [](const fs::path& file, const fs::path& folder, bool overwrite, nb::object progress) {
        const Progress report(std::move(progress));
        const WithoutGil release;
        dapple::unpack_collection(file, folder, overwrite, as_callback(report));
      },
      nb::arg("file"), nb::arg("folder"), nb::arg("overwrite"), nb::arg("progress").none());
  m.def("publish_collection", [](const fs::path& made, const fs::path& folder, bool overwrite) {
    const WithoutGil release;
    dapple::publish_collection(made, folder, overwrite);
  });
}

}  // namespace pydapple
