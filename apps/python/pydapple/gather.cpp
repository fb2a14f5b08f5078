#include "gather.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "at_work.h"
#include "numpy_api.h"
#include "progress.h"

namespace pydapple {

namespace {

using dapple::Array;
using dapple::Range;
using dapple::Region;
using dapple::ValueType;

// Rows that are gathered at once, so that what is put together from them takes little memory twice.
constexpr std::size_t kGatheredAtOnce = 1 << 16;
// Stored values that are decoded between two looks at signals.
constexpr double kEntriesAtOnce = 1 << 24;

/// Sparse rows put together from parts, with indices as narrow as SciPy likes them.
template <class T>
class CsrParts {
 public:
  explicit CsrParts(std::uint64_t cols) : cols_(cols) {}

  void add(dapple::Csr<T>&& part) {
    entries_ += part.values.size();
    rows_ += part.row_ptr.size() - 1;
    parts_.push_back(std::move(part));
  }

  nb::object finish() {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    return entries_ <= most && cols_ <= most ? put_together<std::int32_t>()
                                             : put_together<std::int64_t>();
  }

 private:
  template <class Index>
  nb::object put_together() {
    Array<Index> row_ptr(rows_ + 1), col_idx(entries_);
    Array<T> values;
    if (parts_.size() == 1) {
      values = std::move(parts_[0].values);
    } else {
      values.reset(entries_);
    }
    std::uint64_t row = 0, entry = 0;
    row_ptr[0] = 0;
    for (dapple::Csr<T>& part : parts_) {
      {
        const WithoutGil release;
        for (std::size_t r = 1; r < part.row_ptr.size(); ++r) {
          row_ptr[++row] = static_cast<Index>(entry + part.row_ptr[r]);
        }
        std::transform(part.col_idx.begin(), part.col_idx.end(), col_idx.data() + entry,
                       [](std::uint64_t col) { return static_cast<Index>(col); });
        std::copy(part.values.begin(), part.values.end(), values.data() + entry);
        entry += part.col_idx.size();
        part = {};
      }
      check_signals();
    }
    return nb::make_tuple(adopt_array(std::move(values)), adopt_array(std::move(col_idx)),
                          adopt_array(std::move(row_ptr)));
  }

  std::uint64_t cols_, entries_ = 0, rows_ = 0;
  std::vector<dapple::Csr<T>> parts_;
};

/// Of `wanted` sparse rows of so many columns, those of which a piece is made.
std::uint64_t rows_at_once(const dapple::Matrix& matrix, std::uint64_t wanted, std::uint64_t cols) {
  // Of few cells nobody need know how many blocks of the file store.
  const double most = static_cast<double>(wanted) * static_cast<double>(cols);
  if (most <= kEntriesAtOnce) return std::max<std::uint64_t>(wanted, 1);
  const double cells = static_cast<double>(matrix.rows()) * static_cast<double>(matrix.cols());
  const double share = static_cast<double>(matrix.counts().stored) / std::max(cells, 1.0);
  const double per_row = share * static_cast<double>(cols);
  const double rows = kEntriesAtOnce / std::max(per_row, 1.0);
  return rows >= static_cast<double>(wanted) ? wanted : static_cast<std::uint64_t>(rows) + 1;
}

[[noreturn]] void fail_target(const std::string& what) {
  throw dapple::Error(dapple::Errc::invalid_argument, "out must be an array " + what);
}

/// Throws Error where nothing can be written to `out`.
ValueType type_of_target(nb::handle out) {
  using dapple::Errc;
  if (!PyArray_Check(out.ptr())) {
    throw dapple::Error(Errc::type_mismatch, std::string("out must be a NumPy array, not ") +
                                                 Py_TYPE(out.ptr())->tp_name);
  }
  PyArrayObject* const array = as_array(out);
  const auto found = find_value_type(PyArray_DESCR(array));
  if (!found) {
    throw dapple::Error(Errc::type_mismatch,
                        "out must be of integers of 8 to 64 bits, float32 or float64");
  }
  if (!PyArray_ISWRITEABLE(array)) fail_target("that is writable");
  if (!PyArray_ISALIGNED(array)) fail_target("whose values are aligned");
  return *found;
}

/// Positions are not negative, so that both types hold them alike.
std::span<const std::uint64_t> as_positions(std::span<const std::int64_t> positions) {
  return {reinterpret_cast<const std::uint64_t*>(positions.data()), positions.size()};
}

/// Ctrl-C is seen while the library gathers.
dapple::GatherOptions watching(const Progress& progress, std::optional<Range> cols,
                               dapple::Absent absent, unsigned threads = 1) {
  return {cols, absent, threads, as_callback(progress)};
}

}  // namespace

ArrayTarget::ArrayTarget(nb::handle out, std::uint64_t rows, std::uint64_t cols)
    : type(type_of_target(out)) {
  PyArrayObject* const array = as_array(out);
  if (PyArray_NDIM(array) != 2 || PyArray_DIM(array, 0) != static_cast<npy_intp>(rows) ||
      PyArray_DIM(array, 1) != static_cast<npy_intp>(cols)) {
    fail_target("of the result's shape, (" + std::to_string(rows) + ", " + std::to_string(cols) +
                ")");
  }
  const auto item = static_cast<npy_intp>(dapple::size_of(type));
  const npy_intp* const strides = PyArray_STRIDES(array);
  const auto row_bytes = item * static_cast<npy_intp>(cols);
  if (rows != 0 && cols > 1 && strides[1] != item) {
    fail_target("one in which the values of each row are contiguous");
  }
  if (rows > 1 && (strides[0] < row_bytes || strides[0] % item != 0)) {
    fail_target("one whose rows do not overlap, and come one after the other, not backwards");
  }
  data = static_cast<std::byte*>(PyArray_DATA(array));
  row_stride = static_cast<std::size_t>(rows < 2 ? row_bytes / item : strides[0] / item);
}

void gather_rows(const dapple::Matrix& matrix, std::span<const std::int64_t> rows, Range cols,
                 const ArrayTarget& out, dapple::Absent absent) {
  if (rows.empty() || cols.empty()) return;
  const Progress progress;
  const auto options = watching(progress, cols, absent);
  dapple::visit_type(out.type, [&](auto tag) {
    using T = decltype(tag);
    const std::size_t size = (rows.size() - 1) * out.row_stride + cols.size();
    const std::span<T> to(reinterpret_cast<T*>(out.data), size);
    const WithoutGil release;
    dapple::gather_rows(matrix, as_positions(rows), to, out.row_stride, options);
  });
}

nb::object gather_csr(const dapple::Matrix& matrix, std::span<const std::int64_t> rows, Range cols,
                      dapple::Absent absent) {
  const Progress progress;
  const auto options = watching(progress, cols, absent);
  const auto all = as_positions(rows);
  const std::size_t step = rows_at_once(matrix, std::min(all.size(), kGatheredAtOnce), cols.size());
  return dapple::visit_type(matrix.value_type(), [&](auto tag) {
    using T = decltype(tag);
    CsrParts<T> parts(cols.size());
    for (std::size_t done = 0; done < all.size(); done += step) {
      dapple::Csr<T> made;
      {
        const WithoutGil release;
        const auto part = all.subspan(done, std::min(step, all.size() - done));
        dapple::gather_csr(matrix, part, made, options);
      }
      parts.add(std::move(made));
      check_signals();
    }
    return parts.finish();
  });
}

nb::object gather_columns(const dapple::Matrix& matrix, std::span<const std::int64_t> cols,
                          dapple::Absent absent, unsigned threads) {
  const Progress progress;
  const auto options = watching(progress, std::nullopt, absent, threads);
  return dapple::visit_type(matrix.value_type(), [&](auto tag) {
    using T = decltype(tag);
    dapple::Csr<T> made;
    {
      // All at once: without a copy by column, each call goes through strips of the file.
      const WithoutGil release;
      dapple::gather_columns(matrix, as_positions(cols), made, options);
    }
    CsrParts<T> parts(matrix.rows());
    parts.add(std::move(made));
    return parts.finish();
  });
}

ValueType type_of_cells(nb::handle out, std::uint64_t size) {
  const ValueType type = type_of_target(out);
  PyArrayObject* const array = as_array(out);
  if (PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != static_cast<npy_intp>(size) ||
      !PyArray_IS_C_CONTIGUOUS(array)) {
    fail_target("of " + std::to_string(size) + " contiguous values");
  }
  return type;
}

void gather_cells(const dapple::Matrix& matrix, std::span<const std::int64_t> rows,
                  std::span<const std::int64_t> cols, nb::handle out, dapple::Absent absent) {
  const ValueType type = type_of_cells(out, rows.size());
  std::vector<dapple::CellPos> cells(rows.size());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    cells[k] = {static_cast<std::uint64_t>(rows[k]), static_cast<std::uint64_t>(cols[k])};
  }
  const Progress progress;
  const auto options = watching(progress, std::nullopt, absent);
  dapple::visit_type(type, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> to(static_cast<T*>(data_of(out)), cells.size());
    const WithoutGil release;
    dapple::gather_cells(matrix, cells, to, options);
  });
}

nb::object read_csr(const dapple::Matrix& matrix, const Region& region,
                    const dapple::ReadOptions& options) {
  const std::uint64_t step = rows_at_once(matrix, region.rows.size(), region.cols.size());
  return dapple::visit_type(matrix.value_type(), [&](auto tag) {
    using T = decltype(tag);
    CsrParts<T> parts(region.cols.size());
    std::uint64_t row = region.rows.begin;
    do {
      const std::uint64_t end = row + std::min(region.rows.end - row, step);
      {
        const WithoutGil release;
        parts.add(matrix.read_csr<T>({{row, end}, region.cols}, options));
      }
      row = end;
      check_signals();
    } while (row < region.rows.end);
    return parts.finish();
  });
}

}  // namespace pydapple
