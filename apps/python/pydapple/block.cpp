// Block: views where the stored bytes permit them, copies elsewhere.
#include "block.h"

#include <array>
#include <iterator>
#include <new>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "at_work.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::BlockKind;
using dapple::ValueType;

[[noreturn]] void fail_copy(const BlockHandle& h, const std::optional<BlockView>& view) {
  std::string why;
  if (view) {
    why = "its values are not aligned; aligned=False gives them as they are";
  } else if (h.info.kind != BlockKind::dense) {
    why = "it is stored as " + std::string(name(h.info.kind));
  } else if (h.info.value_type != h.declared) {
    why = "its values are stored as " + std::string(name(h.info.value_type)) +
          ", and the matrix is of " + std::string(name(h.declared));
  } else {
    why = "its format has no values in place";
  }
  throw dapple::Error(dapple::Errc::invalid_argument,
                      "the block cannot be viewed without a copy: " + why);
}

nb::object copy_of(const BlockHandle& h) {
  nb::object out = new_array(h.info.rows, h.info.cols, h.declared);
  void* const data = data_of(out);
  const auto object = h.object;
  const WithoutGil release;
  dapple::visit_type(h.declared, [&](auto tag) {
    using T = decltype(tag);
    const std::size_t cells = std::size_t{h.info.rows} * h.info.cols;
    h.block.decode(std::span<T>(static_cast<T*>(data), cells));
  });
  return out;
}

/// True, False or None. Throws type_mismatch for anything else.
std::optional<bool> truth_of(nb::handle given, const char* name) {
  std::optional<bool> truth;
  if (given.is_none() || nb::try_cast(given, truth)) return truth;
  throw dapple::Error(dapple::Errc::type_mismatch,
                      std::string(name) + " is True, False or None, not " + shown(given));
}

nb::object numpy_of(nb::handle self, nb::handle copying, nb::handle aligning) {
  const std::optional<bool> copy = truth_of(copying, "copy");
  const bool aligned = truth_of(aligning, "aligned").value_or(true);
  const BlockHandle& h = *nb::inst_ptr<BlockHandle>(self);
  if (copy.value_or(false)) return copy_of(h);
  const auto view = h.view();
  if (!view || (aligned && !view->aligned)) {
    if (copy.has_value()) fail_copy(h, view);
    return copy_of(h);
  }
  const npy_intp shape[] = {h.info.rows, h.info.cols};
  const npy_intp strides[] = {static_cast<npy_intp>(view->row_bytes),
                              static_cast<npy_intp>(dapple::size_of(h.declared))};
  return borrow_array(view->data, 2, shape, strides, h.declared, nb::borrow(self), false);
}

nb::object csr_of(const BlockHandle& h) {
  return dapple::visit_type(h.declared, [&](auto tag) -> nb::object {
    using T = decltype(tag);
    dapple::Csr<T, std::uint32_t> rows;
    {
      const WithoutGil release;
      h.block.to_csr(rows);
    }
    return nb::make_tuple(adopt_array(std::move(rows.values)), adopt_array(std::move(rows.col_idx)),
                          adopt_array(std::move(rows.row_ptr)));
  });
}

nb::object dlpack_of(nb::handle self, nb::kwargs options) {
  const nb::object copy = options.contains("copy") ? nb::object(options["copy"]) : nb::none();
  return numpy_of(self, copy, nb::none()).attr("__dlpack__")(**options);
}

nb::object array_of(nb::handle self, nb::handle dtype, nb::handle copy) {
  const nb::object cells = numpy_of(self, copy, nb::none());
  if (dtype.is_none()) return cells;
  return cells.attr("astype")(dtype, nb::arg("copy") = false);
}

/// What a Py_buffer of a block points to.
struct BufferShape {
  std::array<Py_ssize_t, 2> shape, strides;
};

char* buffer_format(ValueType type) {
  constexpr const char* formats[] = {"", "B", "H", "I", "Q", "b", "h", "i", "q", "f", "d"};
  return const_cast<char*>(formats[static_cast<std::size_t>(type)]);  // the API lacks a const
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  const BlockHandle& h = *nb::inst_ptr<BlockHandle>(self);
  std::optional<BlockView> bytes;
  try {
    bytes = h.view();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
  const auto item = static_cast<Py_ssize_t>(dapple::size_of(h.declared));
  const Py_ssize_t rows = h.info.rows, cols = h.info.cols;
  const bool packed =
      bytes && (rows < 2 || bytes->row_bytes == static_cast<std::size_t>(cols * item));
  const bool wants_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  const bool wants_fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  if (!bytes || !bytes->aligned || (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE ||
      (!packed && !wants_strides) || (wants_fortran && rows > 1 && cols > 1)) {
    PyErr_SetString(PyExc_BufferError,
                    "only dense blocks that are aligned and stored as declared can be viewed, and "
                    "only read; Block.numpy() copies others");
    return -1;
  }
  auto* const shape = new (std::nothrow)
      BufferShape{{rows, cols}, {static_cast<Py_ssize_t>(bytes->row_bytes), item}};
  if (shape == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  view->buf = const_cast<std::byte*>(bytes->data);
  view->len = rows * cols * item;
  view->readonly = 1;
  view->itemsize = item;
  view->format = (flags & PyBUF_FORMAT) != 0 ? buffer_format(h.declared) : nullptr;
  view->ndim = 2;
  view->shape = (flags & PyBUF_ND) != 0 ? shape->shape.data() : nullptr;
  view->strides = wants_strides ? shape->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = shape;
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept {
  delete static_cast<BufferShape*>(view->internal);
}

/// The block that find(object) gives; None for none.
template <class Find>
nb::object find_block(const Handle& handle, const Find& find) {
  const auto object = handle.share();
  const std::optional<dapple::Block> block = [&]() -> std::optional<dapple::Block> {
    const ReleaseIf release(handle.far());
    return find(*object);
  }();
  if (!block) return nb::none();
  const dapple::BlockInfo info = block->info();
  const ValueType declared = object->column_type(info.pos.cx);
  return nb::cast(BlockHandle{object, *block, info, declared, handle.far()});
}

nb::object stored_block(const Handle& handle, std::uint64_t k) {
  return find_block(handle, [&](const dapple::BlockedObject& object) {
    const auto blocks = object.blocks();
    // k is less than the number of blocks. (std::next would count up to it.)
    const dapple::BlockInfo info = blocks.begin()[static_cast<std::ptrdiff_t>(k)];
    return object.block(info.pos);
  });
}

nb::object cover(const Handle& handle, std::int64_t row, std::int64_t col) {
  return find_block(handle, [&](const dapple::BlockedObject& object) {
    const std::uint64_t rows = object.rows(), cols = object.cols();
    const std::uint64_t r = static_cast<std::uint64_t>(row) + (row < 0 ? rows : 0);
    const std::uint64_t c = static_cast<std::uint64_t>(col) + (col < 0 ? cols : 0);
    return object.find_cover(r, c);
  });
}

}  // namespace

std::optional<BlockView> BlockHandle::view() const {
  if (info.kind != BlockKind::dense || info.value_type != declared) return std::nullopt;
  const ReleaseIf release(far);
  return dapple::visit_type(declared, [&](auto tag) -> std::optional<BlockView> {
    using T = decltype(tag);
    try {
      const dapple::DenseView<T> values = block.dense_view<T>();
      const std::byte* const data = values.row_bytes(0);
      const std::size_t misfit =
          reinterpret_cast<std::uintptr_t>(data) % alignof(T) + values.row_stride() % alignof(T);
      return BlockView{data, values.row_stride(), misfit == 0};
    } catch (const dapple::Error& error) {
      if (error.code() != dapple::Errc::type_mismatch) throw;
      return std::nullopt;  // compressed, byte-swapped or text
    }
  });
}

void bind_block(nb::module_& m) {
  PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                         {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                         {0, nullptr}};
  nb::class_<BlockHandle>(
      m, "Block", nb::type_slots(slots),
      "One stored rectangle of cells. It keeps its file mapped, and so do arrays that view it.")
      .def("__reduce__",
           [](const BlockHandle&) -> nb::object {
             throw dapple::Error(
                 dapple::Errc::unsupported,
                 "a block is a part of an open file: send what was opened, of which "
                 "block(*pos) gives it elsewhere");
           })
      .def_prop_ro(
          "pos", [](const BlockHandle& h) { return nb::make_tuple(h.info.pos.rx, h.info.pos.cx); },
          "Row and column of its first cell.")
      .def_prop_ro("shape",
                   [](const BlockHandle& h) { return nb::make_tuple(h.info.rows, h.info.cols); })
      .def_prop_ro(
          "dtype", [](const BlockHandle& h) { return dtype_of(h.declared); },
          "The dtype of its cells: that of the matrix, or of the frame's columns.")
      .def_prop_ro(
          "stored_dtype", [](const BlockHandle& h) { return dtype_of(h.info.value_type); },
          "The dtype that the values are stored in, which may be narrower.")
      .def_prop_ro(
          "kind", [](const BlockHandle& h) { return name(h.info.kind); },
          "How it is stored: 'empty', 'dense', 'csr' or 'coo'.")
      .def_prop_ro(
          "nnz", [](const BlockHandle& h) { return h.info.stored; }, "Stored values.")
      .def_prop_ro(
          "offset", [](const BlockHandle& h) { return h.info.offset; },
          "Byte of the file where the block's header starts.")
      .def_prop_ro(
          "nbytes", [](const BlockHandle& h) { return h.info.bytes; },
          "Bytes of the file that it takes, header included.")
      .def("numpy", &numpy_of, nb::arg("copy") = nb::none(), nb::kw_only(),
           nb::arg("aligned") = true,
           "The cells as an array of `shape` and `dtype`.\n\n"
           "Where the block is dense, aligned and stored as declared this is a read-only view of\n"
           "the file, O(1); elsewhere a new array. copy=True always copies, copy=False raises\n"
           "ValueError instead. aligned=False also views values that are not aligned, which NumPy\n"
           "takes but compiled code may not.")
      .def("_csr", &csr_of)
      .def(
          "to_scipy",
          [](nb::handle self) {
            return nb::module_::import_("pydapple.fetch").attr("block_to_csr")(self);
          },
          "The stored cells as a `scipy.sparse.csr_array`, always a copy.")
      .def(
          "stats",
          [](nb::handle self) {
            return nb::module_::import_("pydapple.stats").attr("of_block")(self);
          },
          "Statistics of its cells as the file has them, see `Stats`; None where it has none.\n\n"
          "No cell is read; codes of words and ticks of times count as numbers. O(log blocks).")
      .def("__array__", &array_of, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__", &dlpack_of)
      .def("__dlpack_device__", [](const BlockHandle&) { return nb::make_tuple(1, 0); })
      .def("__repr__", [](const BlockHandle& h) {
        return "<pydapple.Block (" + std::to_string(h.info.pos.rx) + ", " +
               std::to_string(h.info.pos.cx) + "): " + std::to_string(h.info.rows) + " x " +
               std::to_string(h.info.cols) + ' ' + nb::str(dtype_of(h.declared)).c_str() + ", " +
               std::string(name(h.info.kind)) + ">";
      });
}

void bind_block_lookup(nb::class_<Handle>& object) {
  object.def("_block_count", [](const Handle& h) { return h.object().blocks().size(); })
      .def("_stored_block", &stored_block)
      .def("_block",
           [](const Handle& h, std::uint64_t rx, std::uint64_t cx) {
             return find_block(h, [&](const auto& in) { return in.block({rx, cx}); });
           })
      .def("_tile",
           [](const Handle& h, std::uint64_t i, std::uint64_t j) {
             return find_block(h, [&](const auto& in) { return in.tile(i, j); });
           })
      .def("_cover", &cover);
}

}  // namespace pydapple
