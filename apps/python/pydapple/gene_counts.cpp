// Counts of cells (rows) and genes (columns), summed up in one pass over the rows: what pydapple's
// singlecell.py makes quality control and highly variable genes of.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "at_work.h"
#include "core.h"
#include "dapple/rows.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

/// Of each column: cells that are not zero, their sum, and the sum and the sum of squares of their
/// normalised values.
struct GeneSums {
  double cells, total, sum, sum_squares;
};

/// An array of float64 of two dimensions, C-contiguous.
struct Table {
  Table(nb::handle given, std::uint64_t height, bool written)
      : kept(contiguous(given, dapple::ValueType::f64, 2)),
        values(static_cast<double*>(data_of(kept))),
        width(static_cast<std::size_t>(PyArray_DIM(as_array(kept), 1))) {
    if (PyArray_DIM(as_array(kept), 0) != static_cast<npy_intp>(height) ||
        (written && kept.ptr() != given.ptr())) {
      throw dapple::Error(dapple::Errc::invalid_argument,
                          "an array for sums is of another shape, or not contiguous float64");
    }
  }

  nb::object kept;
  double* values;
  std::size_t width;
};

/// Writes the sum of the `tops[k]` largest values to out[k]; `tops` ascends. Reorders the values.
void sum_largest(std::span<double> values, std::span<const std::uint64_t> tops, double* out) {
  // The largest group first, so that each smaller one is found among fewer values.
  std::size_t end = values.size();
  for (std::size_t k = tops.size(); k-- > 0;) {
    const std::size_t top = std::min<std::size_t>(tops[k], end);
    if (top < end) {
      std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(top),
                       values.begin() + static_cast<std::ptrdiff_t>(end), std::greater<>());
    }
    end = top;
  }
  double sum = 0;
  std::size_t done = 0;
  for (std::size_t k = 0; k < tops.size(); ++k) {
    for (; done < std::min<std::size_t>(tops[k], values.size()); ++done) sum += values[done];
    out[k] = sum;
  }
}

/// Adds the rows `begin` to `end` to `genes` (columns x 4), and writes to each row of `cells` how
/// many of its cells are not zero, their sum, the sum within each column of `masks` (columns x
/// masks, zeros and ones) and that of the largest `tops`. A value v counts as v * target / the sum
/// of its row, and with `log1p` as the logarithm of one more than that.
void add_counts(const MatrixHandle& handle, std::uint64_t begin, std::uint64_t end, int absent,
                double target, bool log1p, nb::handle masks, const std::vector<std::uint64_t>& tops,
                nb::handle genes, nb::handle cells) {
  const auto matrix = handle.share_matrix();
  const std::uint64_t cols = matrix->cols();
  const Table mask(masks, cols, false), sums(genes, cols, true), out(cells, end - begin, true);
  if (sums.width != 4 || out.width != 2 + mask.width + tops.size()) {
    throw dapple::Error(dapple::Errc::invalid_argument, "an array for sums is of another width");
  }
  auto* const gene_sums = reinterpret_cast<GeneSums*>(sums.values);
  const WithoutGil release;
  std::vector<double> values;
  const dapple::Region region{{begin, end}, {0, cols}};
  const dapple::ReadOptions options{static_cast<dapple::Absent>(absent)};
  for (const auto row : dapple::stream_rows<double>(*matrix, region, options)) {
    double* const to = out.values + row.number() * out.width;
    std::fill_n(to, out.width, 0.0);
    for (const double value : row.values()) {
      to[0] += value != 0;
      to[1] += value;
    }
    const double scale = to[1] != 0 ? target / to[1] : 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double value = row.values()[i];
      GeneSums& gene = gene_sums[row.cols()[i]];
      const double normal = log1p ? std::log1p(value * scale) : value * scale;
      gene.cells += value != 0;
      gene.total += value;
      gene.sum += normal;
      gene.sum_squares += normal * normal;
    }
    for (std::size_t k = 0; k < mask.width; ++k) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        to[2 + k] += row.values()[i] * mask.values[row.cols()[i] * mask.width + k];
      }
    }
    if (tops.empty()) continue;
    values.assign(row.values().begin(), row.values().end());
    sum_largest(values, tops, to + 2 + mask.width);
  }
}

}  // namespace

void bind_gene_counts(nb::module_& m) { m.def("add_counts", &add_counts); }

}  // namespace pydapple
