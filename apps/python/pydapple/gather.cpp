#include "gather.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "at_work.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::Array;
using dapple::Range;
using dapple::Region;
using dapple::ValueType;

// Rows gathered, or stored values decoded, between two looks at signals.
constexpr std::size_t kGatheredAtOnce = 1 << 16;
constexpr double kEntriesAtOnce = 1 << 24;

/// Calls take(rows) without the GIL, for some rows after the others.
template <class F>
void for_each_part(std::span<const std::int64_t> rows, const F& take) {
  // Positions are not negative, so that both types hold them alike.
  const std::span<const std::uint64_t> all(reinterpret_cast<const std::uint64_t*>(rows.data()),
                                           rows.size());
  for (std::size_t done = 0; done < all.size(); done += kGatheredAtOnce) {
    {
      const WithoutGil release;
      take(all.subspan(done, std::min(kGatheredAtOnce, all.size() - done)));
    }
    check_signals();
  }
}

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
    {
      const WithoutGil release;
      if (parts_.size() == 1) {
        values = std::move(parts_[0].values);
      } else {
        values.reset(entries_);
      }
      std::uint64_t row = 0, entry = 0;
      row_ptr[0] = 0;
      for (dapple::Csr<T>& part : parts_) {
        for (std::size_t r = 1; r < part.row_ptr.size(); ++r) {
          row_ptr[++row] = static_cast<Index>(entry + part.row_ptr[r]);
        }
        std::transform(part.col_idx.begin(), part.col_idx.end(), col_idx.data() + entry,
                       [](std::uint64_t col) { return static_cast<Index>(col); });
        std::copy(part.values.begin(), part.values.end(), values.data() + entry);
        entry += part.col_idx.size();
        part = {};
      }
    }
    return nb::make_tuple(adopt_array(std::move(values)), adopt_array(std::move(col_idx)),
                          adopt_array(std::move(row_ptr)));
  }

  std::uint64_t cols_, entries_ = 0, rows_ = 0;
  std::vector<dapple::Csr<T>> parts_;
};

/// Rows of which a piece of a region's sparse rows is made.
std::uint64_t rows_at_once(const dapple::Matrix& matrix, const Region& region) {
  // Of few cells nobody need know how many blocks of the file store.
  const double most =
      static_cast<double>(region.rows.size()) * static_cast<double>(region.cols.size());
  if (most <= kEntriesAtOnce) return region.rows.size();
  const double cells = static_cast<double>(matrix.rows()) * static_cast<double>(matrix.cols());
  const double share = static_cast<double>(matrix.counts().stored) / std::max(cells, 1.0);
  const double per_row = share * static_cast<double>(region.cols.size());
  const double rows = kEntriesAtOnce / std::max(per_row, 1.0);
  return rows >= static_cast<double>(region.rows.size()) ? region.rows.size()
                                                         : static_cast<std::uint64_t>(rows) + 1;
}

}  // namespace

ArrayTarget::ArrayTarget(nb::handle out, std::uint64_t rows, std::uint64_t cols) {
  if (!PyArray_Check(out.ptr()))
    throw dapple::Error(dapple::Errc::type_mismatch, "out must be a NumPy array");
  PyArrayObject* const array = as_array(out);
  const auto found = find_value_type(PyArray_DESCR(array));
  if (!found)
    throw dapple::Error(dapple::Errc::type_mismatch,
                        "out must be of integers of 8 to 64 bits, float32 or float64");
  const auto item = static_cast<npy_intp>(dapple::size_of(*found));
  const bool same_shape = PyArray_NDIM(array) == 2 &&
                          PyArray_DIM(array, 0) == static_cast<npy_intp>(rows) &&
                          PyArray_DIM(array, 1) == static_cast<npy_intp>(cols);
  if (!same_shape || !PyArray_ISWRITEABLE(array) || !PyArray_ISALIGNED(array)) {
    throw dapple::Error(dapple::Errc::invalid_argument,
                        "out must be a writable array of the shape that is read");
  }
  const npy_intp* const strides = PyArray_STRIDES(array);
  const auto row_bytes = item * static_cast<npy_intp>(cols);
  const bool packed = rows == 0 || cols < 2 || strides[1] == item;
  const bool apart = rows < 2 || (strides[0] >= row_bytes && strides[0] % item == 0);
  if (!packed || !apart)
    throw dapple::Error(dapple::Errc::invalid_argument,
                        "the values of each row of out must be contiguous");
  data = static_cast<std::byte*>(PyArray_DATA(array));
  row_stride = static_cast<std::size_t>(rows < 2 ? row_bytes / item : strides[0] / item);
  type = *found;
}

void gather_rows(const dapple::Matrix& matrix, std::span<const std::int64_t> rows, Range cols,
                 const ArrayTarget& out) {
  dapple::visit_type(out.type, [&](auto tag) {
    using T = decltype(tag);
    auto* to = reinterpret_cast<T*>(out.data);
    for_each_part(rows, [&](std::span<const std::uint64_t> part) {
      if (cols.size() != 0) {
        const std::size_t size = (part.size() - 1) * out.row_stride + cols.size();
        dapple::gather_rows(matrix, part, std::span<T>(to, size), out.row_stride, {.cols = cols});
      }
      to += part.size() * out.row_stride;
    });
  });
}

nb::object gather_csr(const dapple::Matrix& matrix, std::span<const std::int64_t> rows,
                      Range cols) {
  return dapple::visit_type(matrix.value_type(), [&](auto tag) {
    using T = decltype(tag);
    CsrParts<T> parts(cols.size());
    for_each_part(rows, [&](std::span<const std::uint64_t> part) {
      dapple::Csr<T> made;
      dapple::gather_csr(matrix, part, made, {.cols = cols});
      parts.add(std::move(made));
    });
    return parts.finish();
  });
}

nb::object read_csr(const dapple::Matrix& matrix, const Region& region,
                    const dapple::ReadOptions& options) {
  const std::uint64_t step = std::max<std::uint64_t>(rows_at_once(matrix, region), 1);
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
