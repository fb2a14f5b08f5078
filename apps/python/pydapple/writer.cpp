// Writer: rectangles of arrays cut into tiles and written, by several threads if that is asked for.
#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
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

/// Calls work(0), ..., work(n - 1), by several threads at once. Throws what one of them threw.
void run(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& work) {
  const std::size_t wanted =
      threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto serve = [&] {
    for (std::size_t k; (k = next++) < n;) {
      try {
        work(k);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = n;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t k = 1; k < std::min(wanted, n); ++k) helpers.emplace_back(serve);
    serve();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Sparse rows of the caller's: SciPy's three arrays.
template <class T, class Index>
struct CsrArrays {
  std::span<const Index> row_ptr, col_idx;
  std::span<const T> values;
};

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
    const std::vector<Range> bands = cut_rows(row, rows);
    const std::vector<Range> strips = cut_cols(col, cols);
    const auto writer = writer_;  // another thread may close this one meanwhile
    dapple::visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      const T* const data = static_cast<const T*>(data_of(kept));
      work(bands.size(), threads, [&](std::size_t k) {
        for (const Range& strip : strips) {
          const T* const first = data + (bands[k].begin - row) * cols + (strip.begin - col);
          writer->put<T>({bands[k].begin, strip.begin},
                         {first, extent(bands[k]), extent(strip), cols});
        }
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
  static std::uint32_t extent(const Range& range) noexcept {
    return static_cast<std::uint32_t>(range.size());
  }

  /// [begin, begin + n) cut where tiles end.
  std::vector<Range> cut_rows(std::uint64_t begin, std::uint64_t n) const {
    const std::uint64_t tile = std::max<std::uint64_t>(tiles().tile().rows, 1);
    std::vector<Range> out;
    for (std::uint64_t left = n; left > 0;) {
      const std::uint64_t rows = std::min(left, tile - begin % tile);
      out.push_back({begin, begin + rows});
      begin += rows;
      left -= rows;
    }
    return out;
  }
  /// The same of columns. What is outside the object stays, so that the library refuses it.
  std::vector<Range> cut_cols(std::uint64_t begin, std::uint64_t n) const {
    std::vector<Range> out;
    const auto& strips = tiles().column_strips();
    auto strip = std::upper_bound(strips.begin(), strips.end(), begin,
                                  [](std::uint64_t col, const Range& r) { return col < r.end; });
    for (std::uint64_t left = n; left > 0;) {
      const std::uint64_t room = strip != strips.end() ? (strip++)->end - begin : left;
      const std::uint64_t cols = std::min(left, room);
      out.push_back({begin, begin + cols});
      begin += cols;
      left -= cols;
    }
    return out;
  }

  /// Without the GIL, but for looks at signals between some bands of tiles and others.
  static void work(std::size_t bands, unsigned threads,
                   const std::function<void(std::size_t)>& band) {
    const std::size_t at_once = threads == 1 ? 4 : 32;
    for (std::size_t done = 0; done < bands; done += at_once) {
      {
        const WithoutGil release;
        run(std::min(at_once, bands - done), threads, [&](std::size_t k) { band(done + k); });
      }
      check_signals();
    }
  }

  template <class T>
  static std::span<const T> values_of(nb::handle array) {
    return {static_cast<const T*>(data_of(array)),
            static_cast<std::size_t>(PyArray_SIZE(as_array(array)))};
  }

  template <class T, class Index>
  void put_rows(std::uint64_t row, std::uint64_t col, std::uint64_t cols, nb::handle data,
                nb::handle indices, nb::handle indptr, unsigned threads) const {
    constexpr auto index_type = dapple::value_type_of<Index>();
    const nb::object values = contiguous(data, dapple::value_type_of<T>(), 1);
    const nb::object columns = contiguous(indices, index_type, 1);
    const nb::object starts = contiguous(indptr, index_type, 1);
    const CsrArrays<T, Index> csr{values_of<Index>(starts), values_of<Index>(columns),
                                  values_of<T>(values)};
    if (csr.row_ptr.empty() || csr.col_idx.size() != csr.values.size()) {
      throw dapple::Error(dapple::Errc::invalid_argument,
                          "the arrays of the sparse rows do not fit each other");
    }
    const std::vector<Range> bands = cut_rows(row, csr.row_ptr.size() - 1);
    const std::vector<Range> strips = cut_cols(col, cols);
    const auto writer = writer_;
    work(bands.size(), threads,
         [&](std::size_t k) { put_band<T, Index>(*writer, csr, bands[k], row, col, strips); });
  }

  /// One band of tiles: entries of a row are dealt out to the strips of columns from left to right.
  template <class T, class Index>
  static void put_band(dapple::TileWriter& writer, const CsrArrays<T, Index>& csr,
                       const Range& band, std::uint64_t first_row, std::uint64_t first_col,
                       const std::vector<Range>& strips) {
    std::vector<std::size_t> next;
    const std::size_t from = band.begin - first_row, rows = band.size();
    for (std::size_t r = 0; r < rows; ++r) {
      const Index begin = csr.row_ptr[from + r], end = csr.row_ptr[from + r + 1];
      if (begin < 0 || end < begin || static_cast<std::size_t>(end) > csr.col_idx.size()) {
        throw Error(Errc::invalid_argument, "indptr does not ascend within the sparse entries");
      }
      next.push_back(static_cast<std::size_t>(begin));
    }
    std::vector<std::uint64_t> row_ptr;
    std::vector<std::uint32_t> col_idx;
    std::vector<T> values;
    for (const Range& strip : strips) {
      const std::uint64_t begin = strip.begin - first_col, end = strip.end - first_col;
      row_ptr.assign(1, 0);
      col_idx.clear();
      values.clear();
      for (std::size_t r = 0; r < rows; ++r) {
        const auto stop = static_cast<std::size_t>(csr.row_ptr[from + r + 1]);
        std::size_t& k = next[r];
        for (; k < stop; ++k) {
          const auto column = static_cast<std::uint64_t>(csr.col_idx[k]);
          if (column - begin >= end - begin) break;
          col_idx.push_back(static_cast<std::uint32_t>(column - begin));
          values.push_back(csr.values[k]);
        }
        row_ptr.push_back(col_idx.size());
      }
      writer.put<T>({band.begin, strip.begin},
                    dapple::CsrRef<T>{extent(band), extent(strip), row_ptr, col_idx, values});
    }
    for (std::size_t r = 0; r < rows; ++r) {
      if (next[r] != static_cast<std::size_t>(csr.row_ptr[from + r + 1])) {
        throw Error(Errc::invalid_argument,
                    "row " + std::to_string(band.begin + r) +
                        " has a column that is outside, or columns that do not ascend");
      }
    }
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
