#define PYDAPPLE_IMPORTS_NUMPY
#include "numpy_api.h"

#include <algorithm>
#include <array>
#include <string>

#include "core.h"
#include "dapple/error.h"

namespace pydapple {

namespace {

using dapple::ValueType;

std::array<PyArray_Descr*, 11> descriptors{};

int number_of(ValueType type) noexcept {
  constexpr std::array<int, 11> numbers = {0,          NPY_UINT8, NPY_UINT16, NPY_UINT32,
                                           NPY_UINT64, NPY_INT8,  NPY_INT16,  NPY_INT32,
                                           NPY_INT64,  NPY_FLOAT, NPY_DOUBLE};
  return numbers[static_cast<std::size_t>(type)];
}

nb::object steal_array(PyObject* array) {
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

}  // namespace

nb::object new_array(std::span<const std::uint64_t> shape, ValueType type) {
  std::array<npy_intp, 2> extents{};
  PyObject* array = nullptr;
  constexpr auto most = static_cast<std::uint64_t>(NPY_MAX_INTP);
  if (std::all_of(shape.begin(), shape.end(), [](std::uint64_t n) { return n <= most; })) {
    std::copy(shape.begin(), shape.end(), extents.begin());
    array = PyArray_SimpleNew(static_cast<int>(shape.size()), extents.data(), number_of(type));
  }
  if (array != nullptr) return nb::steal(array);
  PyErr_Clear();
  nb::list wanted;
  for (const std::uint64_t n : shape) wanted.append(n);
  const nb::object error =
      nb::module_::import_("pydapple.errors").attr("too_large")(nb::tuple(wanted), dtype_of(type));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
  for (const ValueType type : dapple::kValueTypes) {
    descriptors[static_cast<std::size_t>(type)] = PyArray_DescrFromType(number_of(type));
  }
}

PyArray_Descr* descr_of(ValueType type) noexcept {
  return descriptors[static_cast<std::size_t>(type)];
}

nb::object dtype_of(ValueType type) {
  return nb::borrow(reinterpret_cast<PyObject*>(descr_of(type)));
}

std::optional<ValueType> find_value_type(const PyArray_Descr* descr) noexcept {
  if (!PyArray_ISNBO(descr->byteorder)) return std::nullopt;
  const npy_intp size = PyDataType_ELSIZE(descr);
  for (const ValueType type : dapple::kValueTypes) {
    const char kind = dapple::is_float(type) ? 'f' : dapple::is_signed(type) ? 'i' : 'u';
    if (descr->kind == kind && size == static_cast<npy_intp>(dapple::size_of(type))) return type;
  }
  return std::nullopt;
}

ValueType value_type_of(nb::handle dtype) {
  PyArray_Descr* descr = nullptr;
  if (PyArray_DescrConverter(dtype.ptr(), &descr) == NPY_FAIL) {
    PyErr_Clear();
    throw dapple::Error(dapple::Errc::type_mismatch, "NumPy has no dtype " + shown(dtype));
  }
  const nb::object keep = nb::steal(reinterpret_cast<PyObject*>(descr));
  const auto type = find_value_type(descr);
  if (!type) {
    throw dapple::Error(dapple::Errc::type_mismatch,
                        std::string("cells cannot be of dtype ") + nb::str(keep).c_str() +
                            ": they are integers of 8 to 64 bits, float32 or float64");
  }
  return *type;
}

nb::object new_array(std::uint64_t rows, std::uint64_t cols, ValueType type) {
  const std::uint64_t shape[] = {rows, cols};
  return new_array(shape, type);
}

nb::object new_array(std::uint64_t size, ValueType type) {
  const std::uint64_t shape[] = {size};
  return new_array(shape, type);
}

nb::object borrow_array(const void* data, int ndim, const npy_intp* shape, const npy_intp* strides,
                        ValueType type, nb::object owner, bool writeable) {
  PyArray_Descr* const descr = descr_of(type);
  Py_INCREF(descr);
  nb::object array = steal_array(
      PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, const_cast<void*>(data),
                           writeable ? NPY_ARRAY_WRITEABLE : 0, nullptr));
  PyArray_UpdateFlags(as_array(array),
                      NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
  if (PyArray_SetBaseObject(as_array(array), owner.release().ptr()) != 0) throw nb::python_error();
  return array;
}

nb::object contiguous(nb::handle array, ValueType type, int ndim) {
  PyArray_Descr* const descr = descr_of(type);
  Py_INCREF(descr);
  return steal_array(PyArray_FromAny(array.ptr(), descr, ndim, ndim, NPY_ARRAY_CARRAY_RO, nullptr));
}

}  // namespace pydapple
