// Names of rows and columns, and lists of them that are to be written.
#include "dapple/names.h"

#include <memory>
#include <optional>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "at_work.h"
#include "core.h"
#include "numpy_api.h"
#include "words.h"

namespace pydapple {

namespace {

using dapple::Names;

nb::list names_between(const NamesHandle& handle, std::uint64_t begin, std::uint64_t end) {
  nb::list out;
  for (std::uint64_t i = begin; i < end; ++i) {
    if ((i - begin) % 65536 == 65535) check_signals();
    out.append(to_str((*handle.names)[i]));
  }
  return out;
}

std::optional<std::uint64_t> find_name(const NamesHandle& handle, nb::handle name) {
  nb::object keep;
  try {
    return handle.names->find(bytes_of(name, keep));
  } catch (const nb::python_error& error) {
    if (error.matches(PyExc_UnicodeEncodeError)) return std::nullopt;  // no text, which none has
    throw;
  }
}

/// The place of each, -1 of those that are not there.
nb::object find_names(const NamesHandle& handle, const nb::list& wanted) {
  nb::object out = new_array(nb::len(wanted), dapple::ValueType::i64);
  auto* place = static_cast<std::int64_t*>(data_of(out));
  for (nb::handle name : wanted) {
    const auto found = find_name(handle, name);
    *place++ = found ? static_cast<std::int64_t>(*found) : -1;
  }
  return out;
}

NamesHandle make_names(const nb::iterable& texts) {
  dapple::NamesBuilder builder;
  nb::object keep;
  for (nb::handle text : texts) {
    if (!PyUnicode_Check(text.ptr())) {
      throw dapple::Error(dapple::Errc::type_mismatch,
                          "names are str, and " + shown(text) + " is none");
    }
    builder.add(bytes_of(text, keep));
    if (builder.size() % 65536 == 0) check_signals();
  }
  const WithoutGil release;
  return {builder.finish()};
}

/// Those of rows or columns, which are read now.
template <auto kRead>
std::optional<NamesHandle> names_of(const Handle& handle) {
  const auto object = handle.share();
  auto names = [&] {
    const WithoutGil release;
    return ((*object).*kRead)();
  }();
  if (names == nullptr) return std::nullopt;
  return NamesHandle{std::move(names)};
}

}  // namespace

void bind_names(nb::module_& m) {
  nb::class_<NamesHandle>(m, "Names")
      .def(nb::new_(&make_names))
      .def("__len__", [](const NamesHandle& h) { return h.names->size(); })
      .def("get", [](const NamesHandle& h, std::uint64_t i) { return to_str((*h.names)[i]); })
      .def("between", &names_between)
      .def("find", &find_name)
      .def("find_all", &find_names)
      .def_prop_ro("unique", [](const NamesHandle& h) { return h.names->unique(); });
  m.def("row_names", &names_of<&dapple::BlockedObject::row_names>);
  m.def("col_names", &names_of<&dapple::BlockedObject::col_names>);
}

}  // namespace pydapple
