// Matrix: its shape and layout, and regions of it as arrays.
#include <algorithm>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "at_work.h"
#include "dapple/memory.h"
#include "gather.h"
#include "numpy_api.h"
#include "progress.h"
#include "words.h"

namespace pydapple {

namespace {

using dapple::Region;
using dapple::ValueType;

// Bytes of result after which signals are looked at: some tens of milliseconds.
constexpr std::uint64_t kPiece = std::uint64_t{64} << 20;
/// Of more bytes, read in pieces, the library keeps none: they would push each other out.
constexpr std::uint64_t kMostKept = 2 * kPiece;
// However large the result, this many pieces at most: each may have to find its first row.
constexpr std::uint64_t kMostPieces = 64;

/// Rows of one piece: whole tiles where there are some.
std::uint64_t rows_of_piece(const dapple::Matrix& matrix, const Region& region,
                            std::uint64_t row_bytes) {
  const std::uint64_t rows = region.rows.size();
  const std::uint64_t most = std::max(kPiece / row_bytes, rows / kMostPieces);
  const auto grid = matrix.grid();
  const std::uint64_t tile = grid ? grid->tile.rows : 1;
  return std::max<std::uint64_t>(most > tile ? most / tile * tile : most, 1);
}

nb::object shape_of(const dapple::BlockedObject& object) {
  return nb::make_tuple(object.rows(), object.cols());
}

nb::object grid_of(const Handle& handle) {
  const auto grid = handle.object().grid();
  if (!grid) return nb::none();
  return nb::make_tuple(nb::make_tuple(grid->rows, grid->cols),
                        nb::make_tuple(grid->tile.rows, grid->tile.cols));
}

nb::dict counts_of(const Handle& handle) {
  const auto object = handle.share();
  const auto counts = [&] {
    const WithoutGil release;
    return object->counts();
  }();
  return to_dict(counts);
}

/// (name, slot names), or None.
nb::object group_of(const MatrixHandle& handle) {
  const dapple::ColumnGroup* const group = handle.matrix().group();
  if (group == nullptr) return nb::none();
  return nb::make_tuple(to_str(group->name), slot_names(*group));
}

dapple::ReadOptions options_of(int absent, unsigned threads) {
  return {static_cast<dapple::Absent>(absent), threads};
}

void read_to(const MatrixHandle& handle, std::uint64_t row_begin, std::uint64_t row_end,
             std::uint64_t col_begin, std::uint64_t col_end, nb::handle out, int absent,
             Threads threads) {
  const Region region{{row_begin, row_end}, {col_begin, col_end}};
  const ArrayTarget target(out, region.rows.size(), region.cols.size());
  if (region.empty()) return;
  const auto matrix = handle.share_matrix();
  read_region(*matrix, region, target.data, target.row_stride, target.type,
              options_of(absent, threads));
}

std::span<const std::int64_t> positions_of(nb::handle array) {
  const auto size = static_cast<std::size_t>(PyArray_DIM(as_array(array), 0));
  return {static_cast<const std::int64_t*>(data_of(array)), size};
}

void take(const MatrixHandle& handle, nb::handle rows, std::uint64_t col_begin,
          std::uint64_t col_end, nb::handle out, int absent) {
  const nb::object wanted = contiguous(rows, ValueType::i64, 1);
  const auto matrix = handle.share_matrix();
  const ArrayTarget target(out, positions_of(wanted).size(), col_end - col_begin);
  gather_rows(*matrix, positions_of(wanted), {col_begin, col_end}, target,
              static_cast<dapple::Absent>(absent));
}

nb::object take_csr(const MatrixHandle& handle, nb::handle rows, std::uint64_t col_begin,
                    std::uint64_t col_end, int absent) {
  const nb::object wanted = contiguous(rows, ValueType::i64, 1);
  const auto matrix = handle.share_matrix();
  return gather_csr(*matrix, positions_of(wanted), {col_begin, col_end},
                    static_cast<dapple::Absent>(absent));
}

nb::object take_csr_from_pool(const std::shared_ptr<CsrPool>& pool, const MatrixHandle& handle,
                              nb::handle rows, int absent) {
  const nb::object wanted = contiguous(rows, ValueType::i64, 1);
  const auto matrix = handle.share_matrix();
  return CsrPool::gather(pool, *matrix, positions_of(wanted), {0, matrix->cols()},
                         static_cast<dapple::Absent>(absent));
}

nb::object take_csc(const MatrixHandle& handle, nb::handle cols, int absent, Threads threads) {
  const nb::object wanted = contiguous(cols, ValueType::i64, 1);
  const auto matrix = handle.share_matrix();
  return gather_columns(*matrix, positions_of(wanted), static_cast<dapple::Absent>(absent),
                        threads);
}

std::string_view column_copy_of(const MatrixHandle& handle) {
  using State = dapple::SidecarState;
  const auto matrix = handle.share_matrix();
  const State state = [&] {
    const WithoutGil release;
    return dapple::column_copy_state(*matrix);
  }();
  switch (state) {
    case State::fresh:
      return "fresh";
    case State::stale:
      return "stale";
    case State::damaged:
      return "damaged";
    case State::none:
      break;
  }
  return "none";
}

void take_cells(const MatrixHandle& handle, nb::handle rows, nb::handle cols, nb::handle out,
                int absent) {
  const nb::object down = contiguous(rows, ValueType::i64, 1);
  const nb::object across = contiguous(cols, ValueType::i64, 1);
  const auto matrix = handle.share_matrix();
  gather_cells(*matrix, positions_of(down), positions_of(across), out,
               static_cast<dapple::Absent>(absent));
}

bool covers_columns(const Handle& handle, std::uint64_t row_begin, std::uint64_t row_end,
                    nb::handle cols) {
  const nb::object across = contiguous(cols, ValueType::i64, 1);
  const auto object = handle.share();
  return covers(*object, {row_begin, row_end}, positions_of(across));
}

nb::object read_sparse(const MatrixHandle& handle, std::uint64_t row_begin, std::uint64_t row_end,
                       std::uint64_t col_begin, std::uint64_t col_end, int absent,
                       Threads threads) {
  const auto matrix = handle.share_matrix();
  return read_csr(matrix, {{row_begin, row_end}, {col_begin, col_end}},
                  options_of(absent, threads));
}

nb::list contents_of(const Handle& handle) {
  nb::list out;
  for (const std::string& one : handle.object().contents()) out.append(one);
  return out;
}

nb::list details_of(const Handle& handle) {
  nb::list out;
  for (const auto& [title, text] : handle.object().details()) {
    out.append(nb::make_tuple(title, nb::bytes(text.data(), text.size())));
  }
  return out;
}

void prefetch(const Handle& handle, std::uint64_t row_begin, std::uint64_t row_end,
              std::uint64_t col_begin, std::uint64_t col_end) {
  const auto object = handle.share();
  const WithoutGil release;
  object->prefetch({{row_begin, row_end}, {col_begin, col_end}});
}

}  // namespace

MatrixHandle::MatrixHandle(dapple::Matrix matrix, bool far)
    : Handle(std::make_shared<dapple::Matrix>(std::move(matrix)), far),
      type_(this->matrix().value_type()) {
  if (far || !this->matrix().grid()) return;
  dapple::visit_type(type_, [&](auto tag) {
    views_ = this->matrix().tiles<decltype(tag)>(dapple::Copy::forbidden);
  });
}

bool MatrixHandle::is_quick() const {
  if (!quick_) {
    const std::string_view format = matrix().format();
    const auto counts = matrix().counts();
    quick_ = !far_ && counts.csr == 0 && counts.coo == 0 && format != "csv" && format != "mtx" &&
             format != "idv" && format != "futhark";
  }
  return *quick_;
}

void read_cells(const dapple::Matrix& matrix, const Region& region, void* out,
                std::size_t row_stride, ValueType type, const dapple::ReadOptions& options) {
  const std::size_t stride = row_stride != 0 ? row_stride : region.cols.size();
  const std::size_t size = (region.rows.size() - 1) * stride + region.cols.size();
  dapple::visit_type(type, [&](auto tag) {
    using T = decltype(tag);
    matrix.read<T>(region, std::span<T>(static_cast<T*>(out), size), stride, options);
  });
}

void read_region(const dapple::Matrix& matrix, const Region& region, void* out,
                 std::size_t row_stride, ValueType type, const dapple::ReadOptions& options) {
  auto* to = static_cast<std::byte*>(out);
  const std::uint64_t cols = region.cols.size();
  const std::size_t stride = row_stride != 0 ? row_stride : cols;
  const std::uint64_t row_bytes = cols * dapple::size_of(type);
  const std::uint64_t step = rows_of_piece(matrix, region, row_bytes);
  dapple::ReadOptions once = options;
  once.keep = row_bytes == 0 || region.rows.size() <= kMostKept / row_bytes;
  for (std::uint64_t row = region.rows.begin; row < region.rows.end;) {
    const std::uint64_t left = region.rows.end - row;
    const std::uint64_t rows = std::min(left, step - row % step);
    {
      const WithoutGil release;
      read_cells(matrix, {{row, row + rows}, region.cols}, to, stride, type, once);
    }
    to += rows * stride * dapple::size_of(type);
    row += rows;
    if (row < region.rows.end) check_signals();
  }
}

void bind_matrix(nb::module_& m) {
  auto object = nb::class_<Handle>(m, "Object");
  bind_block_lookup(object);
  object.def_prop_ro("closed", &Handle::closed, "True after `close`.")
      .def("close", &Handle::close, "Lets go of the file. Arrays that view it keep it mapped.")
      .def_prop_ro("shape", [](const Handle& h) { return shape_of(h.object()); })
      .def_prop_ro("format", [](const Handle& h) { return h.object().format(); })
      .def_prop_ro("file_bytes", [](const Handle& h) { return h.object().bytes(); })
      .def_prop_ro("note", [](const Handle& h) { return h.object().note(); })
      .def_prop_ro("index_origin", [](const Handle& h) { return name(h.object().index_origin()); })
      .def_prop_ro("_server_version", [](const Handle& h) { return h.object().server_version(); })
      .def("contents", &contents_of)
      .def("details", &details_of)
      .def("_attributes", [](const Handle& h) { return h.object().attributes(); })
      .def("_grid", &grid_of)
      .def("_counts", &counts_of)
      .def("_covers", &covers_columns)
      .def("_let_go", [](const Handle& h) { dapple::let_go(h.object()); })
      .def("prefetch", &prefetch, nb::arg("row_begin"), nb::arg("row_end"), nb::arg("col_begin"),
           nb::arg("col_end"))
      .def(
          "require_intact", [](const Handle& h) { h.object().require_intact(); },
          "Raises OSError when the file was opened with guard=True and has been cut or changed "
          "since.");

  PyType_Slot slots[] = {{Py_mp_subscript, reinterpret_cast<void*>(&matrix_subscript)},
                         {0, nullptr}};
  nb::class_<MatrixHandle, Handle>(m, "Matrix", nb::type_slots(slots), nb::dynamic_attr())
      .def(nb::init<const MatrixHandle&>())
      .def_prop_ro("dtype", [](const MatrixHandle& h) { return dtype_of(h.value_type()); })
      .def_prop_ro("column_copy", &column_copy_of,
                   "The copy by column beside the file: 'none', 'fresh', 'stale' (of another "
                   "state of the\nfile, or of another object in it) or 'damaged'. Only a fresh one "
                   "is used. A few small\nreads.")
      .def_prop_ro("_storage",
                   [](const MatrixHandle& h) {
                     return h.matrix().storage() == dapple::Storage::csr ? "csr" : "dense";
                   })
      .def("_give_back", &MatrixHandle::set_gives_back)
      .def("_group", &group_of)
      .def("_read", &read_to)
      .def("_read_csr", &read_sparse)
      .def("_take", &take)
      .def("_take_csr", &take_csr)
      .def("_take_csc", &take_csc)
      .def("_take_cells", &take_cells);
  nb::class_<CsrPool>(m, "CsrPool")
      .def(nb::init<std::size_t>())
      .def("take", &take_csr_from_pool)
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(nb::cast<CsrPool&>(self).most()));
      });
  m.def("check_out", [](nb::handle out, std::uint64_t rows, std::uint64_t cols) {
    const ArrayTarget checked(out, rows, cols);
  });
  m.def("convert_values", &convert_values);
  m.def("check_cells", [](nb::handle out, std::uint64_t size) { type_of_cells(out, size); });
  m.def("default_tile", [](std::uint64_t rows, std::uint64_t cols) {
    const dapple::TileShape tile = dapple::default_tile(rows, cols);
    return nb::make_tuple(tile.rows, tile.cols);
  });
  m.def("default_sparse_tile",
        [](std::uint64_t rows, std::uint64_t cols, double stored, nb::handle dtype) {
          const dapple::TileShape tile =
              dapple::default_sparse_tile(rows, cols, stored, value_type_of(dtype));
          return nb::make_tuple(tile.rows, tile.cols);
        });
  m.def("checked_dtype", [](nb::handle dtype) { return dtype_of(value_type_of(dtype)); });
}

}  // namespace pydapple
