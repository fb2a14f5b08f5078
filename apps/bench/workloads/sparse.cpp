#include "workloads/sparse.h"

#include <fmt/format.h>

namespace dapple::bench {

SparseArrays make_arrays(const SparseShape& shape) {
  SparseArrays arrays;
  arrays.row_ptr.reserve(shape.rows + 1);
  arrays.col_idx.reserve(shape.entries());
  arrays.values.reserve(shape.entries());
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    for (std::uint32_t k = 0; k < shape.per_row; ++k) {
      arrays.col_idx.push_back(shape.col(row, k));
      arrays.values.push_back(shape.value(row, k));
    }
    arrays.row_ptr.push_back(arrays.values.size());
  }
  return arrays;
}

std::filesystem::path make_sparse_file(const Session& session, const SparseShape& shape,
                                       KindChoice kind) {
  const char* const kind_name = kind == KindChoice::csr ? "csr" : "coo";
  const auto make = [&](const std::filesystem::path& path) {
    WriteOptions options;
    options.tile = {shape.rows, shape.cols()};
    options.kind = kind;
    options.narrow = false;
    auto writer =
        MatrixWriter::create(path, shape.rows, shape.cols(), ValueType::f64, options, Storage::csr);
    const SparseArrays arrays = make_arrays(shape);
    writer.put<double>({0, 0}, CsrRef<double>{shape.rows, shape.cols(), arrays.row_ptr,
                                              arrays.col_idx, arrays.values});
    writer.finish();
  };
  return session.file(
      fmt::format("sparse-{}-{}-{}-{}.dbdf", shape.rows, shape.per_row, shape.step, kind_name),
      make);
}

}  // namespace dapple::bench
