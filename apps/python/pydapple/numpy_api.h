// NumPy's C API, and dapple's value types as its dtypes.
#pragma once

#include <nanobind/nanobind.h>

#define PY_ARRAY_UNIQUE_SYMBOL pydapple_numpy_api
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#ifndef PYDAPPLE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#pragma GCC diagnostic pop

#include <cstdint>
#include <optional>
#include <span>

#include "dapple/array.h"
#include "dapple/value_type.h"

namespace pydapple {

namespace nb = nanobind;

/// Once, when the module is made.
void import_numpy();

/// Lives as long as the module.
PyArray_Descr* descr_of(dapple::ValueType type) noexcept;
nb::object dtype_of(dapple::ValueType type);
/// Of a dtype in this machine's byte order; nothing for what no cell can be.
std::optional<dapple::ValueType> find_value_type(const PyArray_Descr* descr) noexcept;
/// Of anything that NumPy takes for a dtype. Throws TypeError for what no cell can be.
dapple::ValueType value_type_of(nb::handle dtype);

/// A new array of one or two dimensions that is not initialised. Throws TooLargeError where there
/// is no memory for it, or NumPy has no such extents.
nb::object new_array(std::span<const std::uint64_t> shape, dapple::ValueType type);
nb::object new_array(std::uint64_t rows, std::uint64_t cols, dapple::ValueType type);
nb::object new_array(std::uint64_t size, dapple::ValueType type);

inline PyArrayObject* as_array(nb::handle array) noexcept {
  return reinterpret_cast<PyArrayObject*>(array.ptr());
}
inline void* data_of(nb::handle array) noexcept { return PyArray_DATA(as_array(array)); }

/// An array in memory that `owner` keeps; read-only unless `writeable`.
nb::object borrow_array(const void* data, int ndim, const npy_intp* shape, const npy_intp* strides,
                        dapple::ValueType type, nb::object owner, bool writeable);

/// An array that owns these values, whose bits are those of `type`.
template <class T>
nb::object adopt_array(dapple::Array<T>&& values,
                       dapple::ValueType type = dapple::value_type_of<T>()) {
  auto* kept = new dapple::Array<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<dapple::Array<T>*>(p); });
  const npy_intp size = static_cast<npy_intp>(kept->size());
  return borrow_array(kept->data(), 1, &size, nullptr, type, std::move(owner), true);
}

/// `array` as C-contiguous values of `type`, itself if it is that. Throws ValueError unless it has
/// `ndim` dimensions.
nb::object contiguous(nb::handle array, dapple::ValueType type, int ndim);

}  // namespace pydapple
