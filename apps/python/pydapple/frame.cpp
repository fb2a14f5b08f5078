// Frame: columns of their own types, and text columns.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "at_work.h"
#include "core.h"
#include "dapple/gather.h"
#include "numpy_api.h"
#include "words.h"

namespace pydapple {

namespace {

using dapple::Range;

// Rows after which signals are looked at.
constexpr std::uint64_t kRowsAtOnce = std::uint64_t{1} << 20;

nb::list columns_of(const FrameHandle& handle) {
  const dapple::Frame& frame = handle.frame();
  nb::list out;
  for (std::uint64_t col = 0; col < frame.cols(); ++col) {
    const dapple::Column& column = frame.column_info(col);
    out.append(nb::make_tuple(to_str(column.label), dtype_of(column.value_type),
                              to_tuple(column.meaning)));
  }
  return out;
}

/// (name, first column, slot names) of each group.
nb::list groups_of(const FrameHandle& handle) {
  const dapple::Frame& frame = handle.frame();
  nb::list out;
  for (const Range& cols : frame.groups()) {
    const dapple::ColumnGroup& group = *frame.column_info(cols.begin).group;
    out.append(nb::make_tuple(to_str(group.name), cols.begin, slot_names(group)));
  }
  return out;
}

nb::list texts_of(const FrameHandle& handle) {
  nb::list out;
  for (const dapple::TextColumn& text : handle.frame().text_columns()) {
    out.append(nb::make_tuple(to_str(text.label), text.type, text.before, text.readable));
  }
  return out;
}

/// The memory of arrays of one dimension with room for that many rows; they may be fields of a
/// structured one.
std::vector<dapple::ColumnBuffer> buffers_of(const std::vector<std::uint64_t>& cols,
                                             const nb::list& arrays, std::uint64_t rows) {
  std::vector<dapple::ColumnBuffer> buffers;
  for (std::size_t k = 0; k < cols.size(); ++k) {
    PyArrayObject* const array = as_array(nb::handle(arrays[k]));
    const auto type = find_value_type(PyArray_DESCR(array));
    const bool fits = PyArray_NDIM(array) == 1 &&
                      PyArray_DIM(array, 0) == static_cast<npy_intp>(rows) &&
                      PyArray_ISWRITEABLE(array) && PyArray_STRIDE(array, 0) >= 0;
    if (!type || !fits) {
      throw dapple::Error(dapple::Errc::invalid_argument, "each array must have room for the rows");
    }
    buffers.push_back({cols[k], *type, static_cast<std::byte*>(PyArray_DATA(array)),
                       static_cast<std::size_t>(PyArray_STRIDE(array, 0))});
  }
  return buffers;
}

/// Calls read(first row, rows, buffers) for some of the rows after the other.
template <class Read>
void in_pieces(std::uint64_t rows, std::vector<dapple::ColumnBuffer> buffers, const Read& read) {
  for (std::uint64_t done = 0; done < rows;) {
    const std::uint64_t some = std::min(rows - done, kRowsAtOnce);
    {
      const WithoutGil release;
      read(done, some, buffers);
    }
    for (dapple::ColumnBuffer& buffer : buffers) buffer.data += some * buffer.step;
    done += some;
    check_signals();
  }
}

void read_columns(const FrameHandle& handle, std::uint64_t begin, std::uint64_t end,
                  const std::vector<std::uint64_t>& cols, const nb::list& arrays, int absent,
                  Threads threads) {
  const auto frame = handle.share_frame();
  const dapple::ReadOptions options{static_cast<dapple::Absent>(absent), threads};
  in_pieces(end - begin, buffers_of(cols, arrays, end - begin),
            [&](std::uint64_t first, std::uint64_t rows, const auto& buffers) {
              frame->read_rows({begin + first, begin + first + rows}, buffers, options);
            });
}

/// The rows at these positions, in their order.
void take_columns(const FrameHandle& handle, nb::handle positions,
                  const std::vector<std::uint64_t>& cols, const nb::list& arrays, int absent,
                  Threads threads) {
  const auto frame = handle.share_frame();
  const nb::object kept = contiguous(positions, dapple::ValueType::i64, 1);
  const auto rows = static_cast<std::uint64_t>(PyArray_DIM(as_array(kept), 0));
  const std::span<const std::uint64_t> wanted(static_cast<const std::uint64_t*>(data_of(kept)),
                                              rows);
  const dapple::ReadOptions options{static_cast<dapple::Absent>(absent), threads};
  in_pieces(rows, buffers_of(cols, arrays, rows),
            [&](std::uint64_t first, std::uint64_t some, const auto& buffers) {
              dapple::gather_rows(*frame, wanted.subspan(first, some), buffers, options);
            });
}

nb::list read_text(const FrameHandle& handle, std::size_t column, std::uint64_t begin,
                   std::uint64_t end) {
  nb::list out;
  handle.frame().read_text(column, {begin, end}, [&](std::uint64_t row, std::string_view text) {
    if (row % 65536 == 0) check_signals();
    out.append(to_str(text));
  });
  return out;
}

}  // namespace

void bind_frame(nb::module_& m) {
  nb::class_<FrameHandle, Handle>(m, "Frame", nb::dynamic_attr())
      .def(nb::init<const FrameHandle&>())
      .def("_columns", &columns_of)
      .def("_groups", &groups_of)
      .def("_texts", &texts_of)
      .def("_read_columns", &read_columns)
      .def("_take_columns", &take_columns)
      .def("_read_text", &read_text);
}

}  // namespace pydapple
