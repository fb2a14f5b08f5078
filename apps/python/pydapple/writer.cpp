// Writer: rectangles of arrays cut into tiles and written, by several threads if that is asked for.
#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "at_work.h"
#include "core.h"
#include "numpy_api.h"
#include "progress.h"
#include "words.h"

namespace pydapple {

namespace {

using dapple::Errc;
using dapple::Error;
using dapple::Range;
using dapple::Region;

class Writer {
 public:
  explicit Writer(dapple::MatrixWriter writer)
      : writer_(std::make_shared<dapple::MatrixWriter>(std::move(writer))) {}
  explicit Writer(dapple::FrameWriter writer)
      : writer_(std::make_shared<dapple::FrameWriter>(std::move(writer))) {}

  bool open() const noexcept { return writer_ != nullptr; }
  void abort() noexcept { writer_.reset(); }
  dapple::TileWriter& tiles() const {
    if (!writer_) throw dapple::Error(dapple::Errc::invalid_argument, "the writer is closed");
    return *writer_;
  }

  nb::object finish() {
    const std::shared_ptr<dapple::TileWriter> writer = std::move(writer_);
    if (!writer) throw dapple::Error(dapple::Errc::invalid_argument, "the writer is closed");
    const auto summary = [&] {
      const WithoutGil release;
      return writer->finish();
    }();
    return to_tuple(summary);
  }

  void put(std::uint64_t row, std::uint64_t col, nb::handle array, Threads threads) const {
    PyArrayObject* const cells = as_array(array);
    const auto type = value_type_of(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(cells))));
    const nb::object kept = contiguous(array, type, 2);
    const auto rows = static_cast<std::uint64_t>(PyArray_DIM(as_array(kept), 0));
    const auto cols = static_cast<std::uint64_t>(PyArray_DIM(as_array(kept), 1));
    const auto writer = writer_;  // another thread may close this one meanwhile
    dapple::visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      const T* const data = static_cast<const T*>(data_of(kept));
      in_turns(row, rows, threads, [&](Range part) {
        writer->put_region({row + part.begin, col},
                           dapple::DenseRef<T>{data + part.begin * cols, part.size(), cols},
                           threads);
      });
    });
  }

  void put_csr(std::uint64_t row, std::uint64_t col, std::uint64_t cols, nb::handle data,
               nb::handle indices, nb::handle indptr, Threads threads) const {
    const auto type =
        value_type_of(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(data)))));
    const bool narrow =
        PyArray_ITEMSIZE(as_array(indices)) == 4 && PyArray_ITEMSIZE(as_array(indptr)) == 4;
    dapple::visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      if (narrow) {
        put_rows<T, std::int32_t>(row, col, cols, data, indices, indptr, threads);
      } else {
        put_rows<T, std::int64_t>(row, col, cols, data, indices, indptr, threads);
      }
    });
  }

 private:
  /// Calls `put` with some of `n` rows after others, without the GIL, and looks at signals in
  /// between. The parts end where tiles do.
  void in_turns(std::uint64_t row, std::uint64_t n, unsigned threads,
                const std::function<void(Range)>& put) const {
    const std::uint64_t tile = std::max<std::uint64_t>(tiles().tile().rows, 1);
    const std::uint64_t step = tile * (threads == 1 ? 4 : 32);
    std::uint64_t done = 0;
    do {
      const std::uint64_t end = std::min(n, done + step - (row + done) % tile);
      {
        const WithoutGil release;
        put({done, end});
      }
      check_signals();
      done = end;
    } while (done < n);
  }

  template <class T>
  static std::span<const T> values_of(nb::handle array) {
    return {static_cast<const T*>(data_of(array)),
            static_cast<std::size_t>(PyArray_SIZE(as_array(array)))};
  }

  /// SciPy's three arrays. Their signed numbers are taken for unsigned ones: what is negative is
  /// beyond every bound.
  template <class T, class Index>
  void put_rows(std::uint64_t row, std::uint64_t col, std::uint64_t cols, nb::handle data,
                nb::handle indices, nb::handle indptr, unsigned threads) const {
    using Unsigned = std::make_unsigned_t<Index>;
    constexpr auto index_type = dapple::value_type_of<Index>();
    const nb::object kept_values = contiguous(data, dapple::value_type_of<T>(), 1);
    const nb::object kept_columns = contiguous(indices, index_type, 1);
    const nb::object kept_starts = contiguous(indptr, index_type, 1);
    const auto values = values_of<T>(kept_values);
    const auto columns = values_of<Unsigned>(kept_columns),
               starts = values_of<Unsigned>(kept_starts);
    if (starts.empty() || columns.size() != values.size()) {
      throw Error(Errc::invalid_argument, "the arrays of the sparse rows do not fit each other");
    }
    const auto writer = writer_;
    in_turns(row, starts.size() - 1, threads, [&](Range part) {
      const std::uint64_t begin = starts[part.begin], end = starts[part.end];
      if (begin > end || end > values.size()) {
        throw Error(Errc::invalid_argument, "indptr does not ascend within the sparse entries");
      }
      writer->put_region(
          {row + part.begin, col},
          dapple::CsrRef<T, Unsigned, Unsigned>{
              part.size(), cols, starts.subspan(part.begin, part.size() + 1),
              columns.subspan(begin, end - begin), values.subspan(begin, end - begin)},
          threads);
    });
  }

  std::shared_ptr<dapple::TileWriter> writer_;
};

nb::object strips_of(const Writer& writer) {
  nb::list out;
  for (const Range& strip : writer.tiles().column_strips()) {
    out.append(nb::make_tuple(strip.begin, strip.end));
  }
  return out;
}

Writer create_matrix(const std::filesystem::path& path, std::uint64_t rows, std::uint64_t cols,
                     nb::handle dtype, const dapple::WriteOptions& options, bool sparse) {
  const auto storage = sparse ? dapple::Storage::csr : dapple::Storage::dense;
  return Writer(
      dapple::MatrixWriter::create(path, rows, cols, value_type_of(dtype), options, storage));
}

Writer create_frame(const std::filesystem::path& path, std::uint64_t rows, nb::list columns,
                    const dapple::WriteOptions& options) {
  std::vector<dapple::Column> made;
  for (nb::handle column : columns) {
    const nb::bytes label = nb::cast<nb::bytes>(column[0]);
    made.push_back({std::string(label.c_str(), label.size()), value_type_of(column[1]),
                    to_meaning(column[2])});
  }
  return Writer(dapple::FrameWriter::create(path, rows, std::move(made), options));
}

}  // namespace

void bind_writer(nb::module_& m) {
  nb::class_<Writer>(m, "Writer")
      .def_prop_ro("open", &Writer::open)
      .def("tile_rows", [](const Writer& w) { return w.tiles().tile().rows; })
      .def("strips", &strips_of)
      .def("put", &Writer::put)
      .def("put_csr", &Writer::put_csr)
      .def("finish", &Writer::finish)
      .def("abort", &Writer::abort);
  m.def("create_matrix", &create_matrix);
  m.def("create_frame", &create_frame);
}

}  // namespace pydapple
