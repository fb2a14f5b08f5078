// Cells that meet a condition.
#include <cstring>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>

#include "core.h"
#include "dapple/where_rows.h"
#include "interruptible.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::Condition;
using dapple::ValueType;

template <class T>
Condition make_condition(const std::string& name, T bound) {
  if (name == "above") return Condition::above(bound);
  if (name == "at_least") return Condition::at_least(bound);
  if (name == "below") return Condition::below(bound);
  if (name == "at_most") return Condition::at_most(bound);
  return Condition::equal(bound);
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

/// Calls f with the bound: integers of up to 64 bits as such, other numbers as doubles.
template <class F>
Condition with_bound(nb::handle bound, const F& f) {
  if (is_unsigned(bound)) return f(nb::cast<std::uint64_t>(bound));
  if (is_signed(bound)) return f(nb::cast<std::int64_t>(bound));
  const double value = PyFloat_AsDouble(bound.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return f(value);
}

Condition condition_of(const std::string& name, nb::handle low, nb::handle high) {
  if (name == "nan") return Condition::nan();
  return with_bound(low, [&](auto bound) {
    if (name != "between") return make_condition(name, bound);
    return with_bound(high, [&](auto other) { return Condition::between(bound, other); });
  });
}

template <class T>
nb::object to_array(const std::vector<T>& values) {
  nb::object array = new_array(values.size(), dapple::value_type_of<T>());
  if (!values.empty()) std::memcpy(data_of(array), values.data(), values.size() * sizeof(T));
  return array;
}

template <class T>
struct Cells {
  std::vector<std::int64_t> rows, cols;
  std::vector<T> values;
};

/// (rows, columns, values) of the cells.
nb::object find_cells(const std::shared_ptr<const dapple::Matrix>& matrix,
                      const Condition& condition, const dapple::WhereOptions& options,
                      bool is_long) {
  return dapple::visit_type(matrix->value_type(), [&](auto tag) -> nb::object {
    using T = decltype(tag);
    const Cells<T> found = interruptible(is_long, [matrix, condition, options] {
      Cells<T> cells;
      const auto take = [&](std::span<const dapple::Hit<T>> hits) {
        for (const dapple::Hit<T>& hit : hits) {
          cells.rows.push_back(static_cast<std::int64_t>(hit.row));
          cells.cols.push_back(static_cast<std::int64_t>(hit.col));
          cells.values.push_back(hit.value);
        }
      };
      dapple::where<T>(*matrix, condition, take, options);
      return cells;
    });
    return nb::make_tuple(to_array(found.rows), to_array(found.cols), to_array(found.values));
  });
}

/// What is found: "cells" as above, "count", or "rows", which gives 0 or 1 for each row.
nb::object find(const MatrixHandle& handle, const std::string& what, const std::string& name,
                nb::handle low, nb::handle high, int absent, bool nonzero, Threads threads) {
  const dapple::WhereOptions options{static_cast<dapple::Absent>(absent), threads, nonzero};
  const auto matrix = handle.share_matrix();
  const Condition condition = condition_of(name, low, high);
  // Zeros may be found too, so that cells count, not what is stored.
  const bool is_long = matrix->cols() != 0 && matrix->rows() >= kLongWork / matrix->cols();
  if (what == "cells") return find_cells(matrix, condition, options, is_long);
  if (what == "count") {
    return nb::int_(interruptible(is_long, [matrix, condition, options] {
      return dapple::count_where(*matrix, condition, options);
    }));
  }
  return to_array(interruptible(is_long, [matrix, condition, options] {
    return dapple::rows_where(*matrix, condition, options);
  }));
}

/// ((row, column), why it is skipped or None) of each block.
nb::list to_list(const std::vector<dapple::BlockVerdict>& verdicts) {
  constexpr const char* kWhy[] = {nullptr, "empty", "value_type", "statistics"};
  nb::list out;
  for (const dapple::BlockVerdict& one : verdicts) {
    const char* const why = kWhy[static_cast<std::size_t>(one.skipped)];
    out.append(nb::make_tuple(nb::make_tuple(one.pos.rx, one.pos.cx),
                              why != nullptr ? nb::object(nb::str(why)) : nb::none()));
  }
  return out;
}

nb::list explain(const MatrixHandle& handle, const std::string& name, nb::handle low,
                 nb::handle high, int absent, bool nonzero) {
  const dapple::WhereOptions options{static_cast<dapple::Absent>(absent), 1, nonzero};
  const auto matrix = handle.share_matrix();
  const Condition condition = condition_of(name, low, high);
  const auto verdicts = [&] {
    const WithoutGil release;
    return dapple::explain_where(*matrix, condition, options);
  }();
  return to_list(verdicts);
}

/// `others` are numbers of columns by names that are no labels.
dapple::Expression expression_of(nb::bytes text, const nb::dict& others) {
  const auto wanted = dapple::Expression::parse({text.c_str(), text.size()});
  if (others.size() == 0) return wanted;
  return wanted.numbered([&](const std::string& label) -> std::optional<std::uint64_t> {
    const nb::bytes name(label.data(), label.size());
    if (!others.contains(name)) return std::nullopt;
    return nb::cast<std::uint64_t>(others[name]);
  });
}

/// The numbers of the rows that meet a condition.
nb::object find_numbers(const std::shared_ptr<const dapple::Frame>& frame,
                        const dapple::Expression& wanted, const dapple::WhereOptions& options,
                        bool is_long) {
  return to_array(interruptible(is_long, [frame, wanted, options] {
    std::vector<std::int64_t> rows;
    const auto take = [&](std::span<const std::uint64_t> found) {
      rows.insert(rows.end(), found.begin(), found.end());
    };
    dapple::where(*frame, wanted, take, options);
    return rows;
  }));
}

/// Which rows of a frame meet a condition: "numbers" as above, "count", or "rows", which gives 0 or
/// 1 for each.
nb::object find_rows(const FrameHandle& handle, const std::string& what, nb::bytes text,
                     const nb::dict& others, int absent, bool nonzero, Threads threads) {
  const dapple::WhereOptions options{static_cast<dapple::Absent>(absent), threads, nonzero};
  const auto frame = handle.share_frame();
  const dapple::Expression wanted = expression_of(text, others);
  const bool is_long = frame->rows() >= kLongWork;
  if (what == "numbers") return find_numbers(frame, wanted, options, is_long);
  if (what == "count") {
    return nb::int_(interruptible(is_long, [frame, wanted, options] {
      return dapple::count_where(*frame, wanted, options);
    }));
  }
  return to_array(interruptible(
      is_long, [frame, wanted, options] { return dapple::rows_where(*frame, wanted, options); }));
}

nb::list explain_rows(const FrameHandle& handle, nb::bytes text, const nb::dict& others, int absent,
                      bool nonzero) {
  const dapple::WhereOptions options{static_cast<dapple::Absent>(absent), 1, nonzero};
  const auto frame = handle.share_frame();
  const dapple::Expression wanted = expression_of(text, others);
  const auto verdicts = [&] {
    const WithoutGil release;
    return dapple::explain_where(*frame, wanted, options);
  }();
  return to_list(verdicts);
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def("find", &find);
  m.def("explain", &explain);
  m.def("find_rows", &find_rows);
  m.def("explain_rows", &explain_rows);
}

}  // namespace pydapple
