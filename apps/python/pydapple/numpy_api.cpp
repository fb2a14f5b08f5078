#define PYDAPPLE_IMPORTS_NUMPY
#include "numpy_api.h"

#include <array>
#include <string>

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

npy_intp extent(std::uint64_t n) {
  if (n > static_cast<std::uint64_t>(NPY_MAX_INTP)) {
    PyErr_SetString(PyExc_OverflowError, "more than 2^63 - 1 rows or columns do not fit an array");
    throw nb::python_error();
  }
  return static_cast<npy_intp>(n);
}

nb::object steal_array(PyObject* array) {
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

nb::object empty(int ndim, npy_intp* shape, ValueType type) {
  return steal_array(PyArray_SimpleNew(ndim, shape, number_of(type)));
}

}  // namespace

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
    const nb::python_error error;
    throw dapple::Error(dapple::Errc::type_mismatch, error.what());
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
  npy_intp shape[] = {extent(rows), extent(cols)};
  return empty(2, shape, type);
}

nb::object new_array(std::uint64_t size, ValueType type) {
  npy_intp shape[] = {extent(size)};
  return empty(1, shape, type);
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
