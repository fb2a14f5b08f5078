// m[i, j], m[i, a:b], m[a:b, c:d] and so on: what a loop does a million times, straight in the
// slot.
//
// Keys of integers and of slices without a step are served here; everything else that NumPy takes
// goes to the method `_subscript`. Small pieces of dense tiles are copied with the GIL held, since
// to give it up and wait for it again costs more.
#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include "core.h"
#include "dapple/memory.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::Range;
using dapple::Region;
using dapple::ValueType;

/// What a key says of one axis.
struct AxisKey {
  enum class Kind { other, index, range, failed };  // failed: a Python exception is set
  Kind kind = Kind::other;
  Range range;  // of an index: one row or column
};

AxisKey axis_of(const char* what, PyObject* key, std::uint64_t extent,
                const dapple::Matrix& matrix) noexcept {
  const auto size = static_cast<Py_ssize_t>(extent);
  const bool is_scalar = PyArray_IsScalar(key, Integer) && !PyArray_IsScalar(key, Timedelta);
  if (PyLong_CheckExact(key) || is_scalar) {
    Py_ssize_t i = PyNumber_AsSsize_t(key, nullptr);
    if (i == -1 && PyErr_Occurred()) return {AxisKey::Kind::failed, {}};
    if (i < 0) i += size;
    if (i < 0 || i >= size) {
      raise_index(what, key, matrix.rows(), matrix.cols());
      return {AxisKey::Kind::failed, {}};
    }
    const auto first = static_cast<std::uint64_t>(i);
    return {AxisKey::Kind::index, {first, first + 1}};
  }
  if (PySlice_Check(key)) {
    Py_ssize_t begin, end, step;
    if (PySlice_Unpack(key, &begin, &end, &step) < 0) {
      PyErr_Clear();  // keys.py says what is wrong
      return {};
    }
    if (step != 1) return {};
    PySlice_AdjustIndices(size, &begin, &end, 1);
    const auto first = static_cast<std::uint64_t>(begin);
    return {AxisKey::Kind::range, {first, end > begin ? static_cast<std::uint64_t>(end) : first}};
  }
  return {};
}

/// The cell as a NumPy scalar.
template <class T>
PyObject* scalar(T value) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    PyObject* const made = PyArrayScalar_New(Double);
    if (made != nullptr) PyArrayScalar_ASSIGN(made, Double, value);
    return made;
  } else {
    return PyArray_Scalar(&value, descr_of(dapple::value_type_of<T>()), nullptr);
  }
}

// Cells copied with the GIL held.
constexpr std::uint64_t kSmall = 1024;
// Bytes of a read after which pages are given back, if at all.
constexpr std::uint64_t kLarge = 1 << 20;

/// Rows of a region out of tiles that can be viewed. Throws type_mismatch where one cannot.
template <class T>
void copy_views(const dapple::Tiles<T>& tiles, const Region& region, T* out) {
  const dapple::TileShape shape = tiles.grid().tile;
  const std::size_t stride = region.cols.size();
  for (std::uint64_t i = region.rows.begin / shape.rows; i * shape.rows < region.rows.end; ++i) {
    const std::uint64_t top = i * shape.rows;
    for (std::uint64_t j = region.cols.begin / shape.cols; j * shape.cols < region.cols.end; ++j) {
      const std::uint64_t left = j * shape.cols;
      const dapple::Tile<T> tile = tiles(i, j);
      const Range rows = intersect(region.rows, {top, top + tile.rows()});
      const Range cols = intersect(region.cols, {left, left + tile.cols()});
      T* to = out + (rows.begin - region.rows.begin) * stride + (cols.begin - region.cols.begin);
      for (std::uint64_t row = rows.begin; row < rows.end; ++row, to += stride) {
        const std::byte* const from =
            tile.view().row_bytes(row - top) + (cols.begin - left) * sizeof(T);
        std::memcpy(to, from, cols.size() * sizeof(T));
      }
    }
  }
}

/// The cells of a region that is not empty. Small ones without a detour where that is quick.
template <class T>
void read(const MatrixHandle& handle, const Region& region, T* out) {
  if (region.rows.size() <= kSmall && region.cols.size() <= kSmall / region.rows.size()) {
    if (const dapple::Tiles<T>* const tiles = handle.views<T>()) {
      try {
        copy_views(*tiles, region, out);
        return;
      } catch (const dapple::Error& error) {
        if (error.code() != dapple::Errc::type_mismatch) throw;
        handle.give_up_views();
      }
    }
    if (handle.is_quick()) {
      read_cells(handle.matrix(), region, out, 0, handle.value_type(), {});
      return;
    }
  }
  read_region(*handle.share_matrix(), region, out, 0, handle.value_type(), {});
}

PyObject* cell(const MatrixHandle& handle, const Region& region) {
  return dapple::visit_type(handle.value_type(), [&](auto tag) {
    using T = decltype(tag);
    T value;
    read(handle, region, &value);
    return scalar(value);
  });
}

PyObject* piece(const MatrixHandle& handle, const AxisKey& rows, const AxisKey& cols) {
  const Region region{rows.range, cols.range};
  std::uint64_t shape[2];
  std::size_t ndim = 0;
  if (rows.kind == AxisKey::Kind::range) shape[ndim++] = region.rows.size();
  if (cols.kind == AxisKey::Kind::range) shape[ndim++] = region.cols.size();
  nb::object keep = new_array(std::span(shape, ndim), handle.value_type());
  if (region.empty()) return keep.release().ptr();
  dapple::visit_type(handle.value_type(), [&](auto tag) {
    using T = decltype(tag);
    read(handle, region, static_cast<T*>(data_of(keep)));
    const std::uint64_t bytes = region.rows.size() * region.cols.size() * sizeof(T);
    if (handle.gives_back() && bytes >= kLarge) dapple::let_go(handle.matrix());
  });
  return keep.release().ptr();
}

PyObject* subscript(PyObject* self, PyObject* key) {
  const MatrixHandle& handle = *nb::inst_ptr<MatrixHandle>(self);
  const dapple::Matrix& matrix = handle.matrix();
  const bool pair = PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) == 2;
  constexpr auto most = static_cast<std::uint64_t>(NPY_MAX_INTP);
  if (matrix.rows() <= most && matrix.cols() <= most) {
    const AxisKey rows =
        axis_of("row", pair ? PyTuple_GET_ITEM(key, 0) : key, matrix.rows(), matrix);
    if (rows.kind == AxisKey::Kind::failed) return nullptr;
    if (rows.kind != AxisKey::Kind::other) {
      const AxisKey cols = pair ? axis_of("column", PyTuple_GET_ITEM(key, 1), matrix.cols(), matrix)
                                : AxisKey{AxisKey::Kind::range, {0, matrix.cols()}};
      if (cols.kind == AxisKey::Kind::failed) return nullptr;
      if (cols.kind == AxisKey::Kind::index && rows.kind == AxisKey::Kind::index) {
        return cell(handle, {rows.range, cols.range});
      }
      if (cols.kind != AxisKey::Kind::other) return piece(handle, rows, cols);
    }
  }
  return PyObject_CallMethod(self, "_subscript", "(O)", key);
}

}  // namespace

PyObject* matrix_subscript(PyObject* self, PyObject* key) noexcept {
  try {
    return subscript(self, key);
  } catch (const dapple::Error& error) {
    raise(error);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

}  // namespace pydapple
