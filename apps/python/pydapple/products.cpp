// Products with vectors, and statistics: computed where the cells are.
#include <algorithm>
#include <vector>

#include "block.h"
#include "core.h"
#include "interruptible.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::ExactStats;
using dapple::Stats;
using dapple::ValueType;

/// A x, or A^T x, for a C-contiguous f64 array x of one or two dimensions.
nb::object multiply(const MatrixHandle& handle, nb::handle x, bool transposed, int absent,
                    Threads threads) {
  const auto matrix = handle.share_matrix();
  const int ndim = PyArray_NDIM(as_array(x));
  const nb::object kept = contiguous(x, ValueType::f64, ndim);
  const std::uint64_t inner = transposed ? matrix->rows() : matrix->cols();
  const std::uint64_t outer = transposed ? matrix->cols() : matrix->rows();
  if (ndim < 1 || ndim > 2 || PyArray_DIM(as_array(kept), 0) != static_cast<npy_intp>(inner)) {
    throw dapple::Error(dapple::Errc::invalid_argument,
                        "the factor must have " + std::to_string(inner) + " rows");
  }
  const auto k = ndim == 2 ? static_cast<std::size_t>(PyArray_DIM(as_array(kept), 1)) : 1;
  if (k == 0) return new_array(outer, k, ValueType::f64);
  const auto* const values = static_cast<const double*>(data_of(kept));
  const std::span<const double> given(values, inner * k);
  const bool is_long = matrix->counts().stored >= kLongWork / k;
  dapple::Array<double> copy(is_long ? given.size() : 0);
  std::copy(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(copy.size()), copy.data());
  const dapple::ReadOptions options{static_cast<dapple::Absent>(absent), threads};
  auto work = [matrix, copy = std::move(copy), given, outer, k, transposed, options] {
    dapple::Array<double> out(outer * k);
    const std::span<const double> from =
        copy.size() != 0 ? std::span<const double>(copy.data(), copy.size()) : given;
    const auto product = transposed ? dapple::multiply_transposed : dapple::multiply;
    product(*matrix, from, {out.data(), out.size()}, k, options);
    return out;
  };
  nb::object out = adopt_array(interruptible(is_long, std::move(work)));
  return ndim == 2 ? out.attr("reshape")(outer, k) : out;
}

/// (count, nnz, nans, min, max, sum, sum of squares, mean, variance, and of times the ticks of
/// minimum, maximum and mean), each an array.
nb::object to_arrays(const std::vector<Stats>& all) {
  const auto whole = [&](auto member) {
    nb::object array = new_array(all.size(), ValueType::i64);
    auto* to = static_cast<std::int64_t*>(data_of(array));
    for (const Stats& one : all) *to++ = static_cast<std::int64_t>(one.*member);
    return array;
  };
  const auto real = [&](const auto& value) {
    nb::object array = new_array(all.size(), ValueType::f64);
    auto* to = static_cast<double*>(data_of(array));
    for (const Stats& one : all) *to++ = value(one);
    return array;
  };
  // Of times; the mark of missing ones where there are none.
  const auto ticks = [&](std::uint64_t ExactStats::*member) {
    nb::object array = new_array(all.size(), ValueType::i64);
    auto* to = static_cast<std::int64_t*>(data_of(array));
    for (const Stats& one : all) {
      const std::uint64_t bits = one.exact ? (*one.exact).*member : dapple::kMissingTick;
      *to++ = static_cast<std::int64_t>(bits);
    }
    return array;
  };
  return nb::make_tuple(whole(&Stats::count), whole(&Stats::nnz), whole(&Stats::nans),
                        real([](const Stats& s) { return s.min; }),
                        real([](const Stats& s) { return s.max; }),
                        real([](const Stats& s) { return s.sum; }),
                        real([](const Stats& s) { return s.sum_squares; }),
                        real([](const Stats& s) { return s.mean(); }),
                        real([](const Stats& s) { return s.variance(); }), ticks(&ExactStats::min),
                        ticks(&ExactStats::max), ticks(&ExactStats::mean));
}

/// Of the whole object (axis -1, arrays of one), of each column (0) or row (1), or of each column
/// (2) or row (3) of tiles.
nb::object stats(const Handle& handle, int axis, int absent, Threads threads) {
  const auto object = handle.share();
  const dapple::ReadOptions options{static_cast<dapple::Absent>(absent), threads};
  const bool is_long = object->counts().stored >= kLongWork;
  return to_arrays(interruptible(is_long, [object, options, axis] {
    switch (axis) {
      case 0:
        return dapple::column_stats(*object, options);
      case 1:
        return dapple::row_stats(*object, options);
      case 2:
        return dapple::tile_column_stats(*object, options);
      case 3:
        return dapple::tile_row_stats(*object, options);
      default:
        return std::vector<Stats>{dapple::matrix_stats(*object, options)};
    }
  }));
}

/// Of a block, in arrays of one; None where the file has none.
nb::object block_stats(const BlockHandle& block) {
  const auto found = dapple::stored_stats(*block.object, block.info);
  return found ? to_arrays({*found}) : nb::none();
}

}  // namespace

void bind_products(nb::module_& m) {
  m.def("multiply", &multiply);
  m.def("stats", &stats);
  m.def("block_stats", &block_stats);
}

}  // namespace pydapple
