// Cells that meet a condition.
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>

#include "core.h"
#include "dapple/where.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::Condition;
using dapple::ValueType;

template <class T>
Condition make_condition(const std::string& name, T low, T high) {
  if (name == "above") return Condition::above(low);
  if (name == "at_least") return Condition::at_least(low);
  if (name == "below") return Condition::below(low);
  if (name == "at_most") return Condition::at_most(low);
  if (name == "equal") return Condition::equal(low);
  return Condition::between(low, high);
}

bool is_unsigned(nb::handle bound) {
  if (PyLong_Check(bound.ptr()) == 0) return false;
  PyLong_AsUnsignedLongLong(bound.ptr());
  return PyErr_Occurred() == nullptr || (PyErr_Clear(), false);
}

bool is_signed(nb::handle bound) {
  if (PyLong_Check(bound.ptr()) == 0) return false;
  PyLong_AsLongLong(bound.ptr());
  return PyErr_Occurred() == nullptr || (PyErr_Clear(), false);
}

/// Integers are compared as integers, whatever their size up to 64 bits.
Condition condition_of(const std::string& name, nb::handle low, nb::handle high) {
  if (name == "nan") return Condition::nan();
  if (is_unsigned(low) && is_unsigned(high)) {
    return make_condition(name, nb::cast<std::uint64_t>(low), nb::cast<std::uint64_t>(high));
  }
  if (is_signed(low) && is_signed(high)) {
    return make_condition(name, nb::cast<std::int64_t>(low), nb::cast<std::int64_t>(high));
  }
  const auto real = [](nb::handle bound) {
    const double value = PyFloat_AsDouble(bound.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return value;
  };
  return make_condition(name, real(low), real(high));
}

template <class T>
nb::object to_array(const std::vector<T>& values) {
  nb::object array = new_array(values.size(), dapple::value_type_of<T>());
  if (!values.empty()) std::memcpy(data_of(array), values.data(), values.size() * sizeof(T));
  return array;
}

/// (rows, columns, values) of the cells.
nb::object find_cells(const MatrixHandle& handle, const std::string& name, nb::handle low,
                      nb::handle high, const dapple::WhereOptions& options) {
  const auto matrix = handle.share_matrix();
  const Condition condition = condition_of(name, low, high);
  return dapple::visit_type(handle.value_type(), [&](auto tag) -> nb::object {
    using T = decltype(tag);
    std::vector<std::int64_t> rows, cols;
    std::vector<T> values;
    std::size_t looked = 0;
    {
      nb::gil_scoped_release release;
      const auto take = [&](std::span<const dapple::Hit<T>> hits) {
        for (const dapple::Hit<T>& hit : hits) {
          rows.push_back(static_cast<std::int64_t>(hit.row));
          cols.push_back(static_cast<std::int64_t>(hit.col));
          values.push_back(hit.value);
        }
        if (rows.size() - looked < std::size_t{1} << 20) return;
        looked = rows.size();
        nb::gil_scoped_acquire acquire;
        check_signals();
      };
      dapple::where<T>(*matrix, condition, take, options);
    }
    return nb::make_tuple(to_array(rows), to_array(cols), to_array(values));
  });
}

/// What is found: "cells" as above, "count", or "rows", which gives 0 or 1 for each row.
nb::object find(const MatrixHandle& handle, const std::string& what, const std::string& name,
                nb::handle low, nb::handle high, bool absent_zero, bool nonzero, unsigned threads) {
  const dapple::WhereOptions options{absent_zero ? dapple::Absent::zero : dapple::Absent::error,
                                     threads, nonzero};
  if (what == "cells") return find_cells(handle, name, low, high, options);
  const auto matrix = handle.share_matrix();
  const Condition condition = condition_of(name, low, high);
  if (what == "count") {
    const std::uint64_t count = [&] {
      nb::gil_scoped_release release;
      return dapple::count_where(*matrix, condition, options);
    }();
    return nb::int_(count);
  }
  const std::vector<std::uint8_t> rows = [&] {
    nb::gil_scoped_release release;
    return dapple::rows_where(*matrix, condition, options);
  }();
  return to_array(rows);
}

}  // namespace

void bind_search(nb::module_& m) { m.def("find", &find); }

}  // namespace pydapple
