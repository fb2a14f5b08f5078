#include "gather.h"

#include <algorithm>
#include <any>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "at_work.h"
#include "interruptible.h"
#include "numpy_api.h"
#include "progress.h"

namespace pydapple {

namespace {

using dapple::Array;
using dapple::Range;
using dapple::Region;
using dapple::ValueType;

/// Calls f(tag) with the type of indices: 32 bits if they hold `n` columns, and SciPy's signed
/// ones.
template <class F>
auto with_index(std::uint64_t n, const F& f) {
  return n <= std::numeric_limits<std::int32_t>::max() ? f(std::uint32_t{}) : f(std::uint64_t{});
}

/// The same indices, signed, in arrays of `Index`; as they are if that is as wide.
template <class Index, class Col>
nb::object as_indices(Array<Col>&& cols) {
  constexpr ValueType type = dapple::value_type_of<Index>();
  if constexpr (sizeof(Index) == sizeof(Col)) return adopt_array(std::move(cols), type);
  Array<Index> out(cols.size());
  std::transform(cols.begin(), cols.end(), out.data(),
                 [](Col col) { return static_cast<Index>(col); });
  return adopt_array(std::move(out));
}

/// (data, indices, indptr), the latter two of one type and as narrow as SciPy likes them.
template <class T, class Col>
nb::object arrays_of(dapple::Csr<T, Col>&& made) {
  const auto give = [&](auto index) {
    using Index = decltype(index);
    return nb::make_tuple(adopt_array(std::move(made.values)),
                          as_indices<Index>(std::move(made.col_idx)),
                          as_indices<Index>(std::move(made.row_ptr)));
  };
  const bool few = made.values.size() <= std::numeric_limits<std::int32_t>::max();
  return sizeof(Col) == 4 && few ? give(std::int32_t{}) : give(std::int64_t{});
}

/// Whether reading takes so long that Ctrl-C must be seen meanwhile.
bool is_long(const dapple::Matrix& matrix, const Region& region) {
  const auto cells_of = [](std::uint64_t rows, std::uint64_t cols) {
    return static_cast<double>(rows) * static_cast<double>(cols);
  };
  const double wanted = cells_of(region.rows.size(), region.cols.size());
  // Of few cells nobody need know how many blocks of the file store.
  if (wanted <= static_cast<double>(kLongWork)) return false;
  const double all = cells_of(matrix.rows(), matrix.cols());
  return static_cast<double>(matrix.counts().stored) / all * wanted >
         static_cast<double>(kLongWork);
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
    fail_target("in which the values of each row are contiguous");
  }
  if (rows > 1 && (strides[0] < row_bytes || strides[0] % item != 0)) {
    fail_target("whose rows do not overlap, and come one after the other, not backwards");
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
  return dapple::visit_type(matrix.value_type(), [&](auto tag) {
    return with_index(cols.size(), [&](auto col) {
      dapple::Csr<decltype(tag), decltype(col)> made;
      {
        const WithoutGil release;
        dapple::gather_csr(matrix, as_positions(rows), made, options);
      }
      return arrays_of(std::move(made));
    });
  });
}

template <class T, class Col>
struct CsrPool::Lent {
  std::shared_ptr<CsrPool> pool;
  dapple::Csr<T, Col> made{};

  explicit Lent(std::shared_ptr<CsrPool> of) : pool(std::move(of)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() {
    if (pool->free_.size() >= pool->most_) return;
    try {
      pool->free_.emplace_back(std::move(made));
    } catch (const std::bad_alloc&) {  // then it is gone
    }
  }
  /// (data, indices, indptr), which keep this.
  static nb::object arrays_of(std::unique_ptr<Lent> lent) {
    auto& made = lent->made;
    const auto entries = static_cast<npy_intp>(made.values.size());
    nb::object ends = as_indices<std::int32_t>(Array<std::uint64_t>(made.row_ptr));
    const nb::capsule owner(lent.release(), [](void* p) noexcept { delete static_cast<Lent*>(p); });
    return nb::make_tuple(
        borrow_array(made.values.data(), 1, &entries, nullptr, dapple::value_type_of<T>(), owner,
                     true),
        borrow_array(made.col_idx.data(), 1, &entries, nullptr, ValueType::i32, owner, true),
        std::move(ends));
  }
};

nb::object CsrPool::gather(const std::shared_ptr<CsrPool>& pool, const dapple::Matrix& matrix,
                           std::span<const std::int64_t> rows, Range cols, dapple::Absent absent) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (cols.size() > most) return gather_csr(matrix, rows, cols, absent);
  const Progress progress;
  const auto options = watching(progress, cols, absent);
  return dapple::visit_type(matrix.value_type(), [&](auto tag) {
    using Made = dapple::Csr<decltype(tag), std::uint32_t>;
    auto lent = std::make_unique<Lent<decltype(tag), std::uint32_t>>(pool);
    auto& free = pool->free_;
    if (!free.empty()) {
      if (auto* const left = std::any_cast<Made>(&free.back())) lent->made = std::move(*left);
      free.pop_back();
    }
    {
      const WithoutGil release;
      dapple::gather_csr(matrix, as_positions(rows), lent->made, options);
    }
    if (lent->made.values.size() > most) return arrays_of(std::move(lent->made));
    return Lent<decltype(tag), std::uint32_t>::arrays_of(std::move(lent));
  });
}

nb::object gather_columns(const dapple::Matrix& matrix, std::span<const std::int64_t> cols,
                          dapple::Absent absent, unsigned threads) {
  const Progress progress;
  const auto options = watching(progress, std::nullopt, absent, threads);
  return dapple::visit_type(matrix.value_type(), [&](auto tag) {
    return with_index(matrix.rows(), [&](auto row) {
      dapple::Csr<decltype(tag), decltype(row)> made;
      {
        const WithoutGil release;
        dapple::gather_columns(matrix, as_positions(cols), made, options);
      }
      return arrays_of(std::move(made));
    });
  });
}

bool covers(const dapple::BlockedObject& object, Range rows, std::span<const std::int64_t> cols) {
  const WithoutGil release;
  return dapple::covers(object, rows, as_positions(cols));
}

std::size_t convert_values(nb::handle values, nb::handle out) {
  const auto bytes_of = [](nb::handle array) {
    return std::span(static_cast<std::byte*>(PyArray_DATA(as_array(array))),
                     static_cast<std::size_t>(PyArray_NBYTES(as_array(array))));
  };
  const auto from = find_value_type(PyArray_DESCR(as_array(values)));
  return dapple::convert_values(from.value(), bytes_of(values), type_of_target(out), bytes_of(out));
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

nb::object read_csr(const std::shared_ptr<const dapple::Matrix>& matrix, const Region& region,
                    const dapple::ReadOptions& options) {
  return dapple::visit_type(matrix->value_type(), [&](auto tag) {
    return with_index(region.cols.size(), [&](auto col) {
      return arrays_of(interruptible(is_long(*matrix, region), [matrix, region, options] {
        return matrix->template read_csr<decltype(tag), decltype(col)>(region, options);
      }));
    });
  });
}

}  // namespace pydapple
