#include "workloads/sparse.h"

#include <fmt/format.h>

#include "harness/raw_file.h"
#include "workloads/cells_file.h"

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

void write_sparse(const std::filesystem::path& path, const SparseShape& shape,
                  const SparseArrays& arrays, WriteOptions options) {
  options.tile = {shape.rows, shape.cols};
  auto writer =
      MatrixWriter::create(path, shape.rows, shape.cols, ValueType::f64, options, Storage::csr);
  writer.put<double>({0, 0}, CsrRef<double>{shape.rows, shape.cols, arrays.row_ptr, arrays.col_idx,
                                            arrays.values});
  writer.finish();
}

std::filesystem::path make_arrays_file(const Session& session, const SparseShape& shape) {
  const auto make = [&](const std::filesystem::path& path) {
    const SparseArrays arrays = make_arrays(shape);
    const RawFile file(path, RawFile::For::writing);
    std::uint64_t at = 0;
    const auto append = [&](std::span<const std::byte> bytes) {
      file.write_at(at, bytes);
      at += bytes.size();
    };
    append(std::as_bytes(std::span(arrays.row_ptr)));
    append(std::as_bytes(std::span(arrays.col_idx)));
    append(std::as_bytes(std::span(arrays.values)));
  };
  return session.file(fmt::format("sparse-{}-{}.arrays", shape.rows, shape.per_row), make);
}

double sum_of(const SparseShape& shape) {
  double sum = 0;
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    for (std::uint32_t k = 0; k < shape.per_row; ++k) sum += shape.value(row, k);
  }
  return sum;
}

const char* name_of(Cut cut) {
  return cut == Cut::one_block       ? "one block"
         : cut == Cut::default_tiles ? "default tiles"
         : cut == Cut::small_tiles   ? "tiles of 256 x 256"
                                     : "tiles as wide as the matrix";
}

std::filesystem::path make_narrow_file(const Session& session, const SparseShape& shape, Cut cut) {
  const auto file = [&](const char* suffix, const auto& make) {
    return session.file(
        fmt::format("narrow-u8-{}-{}-{}-{}.dbdf", shape.rows, shape.cols, shape.per_row, suffix),
        make);
  };
  WriteOptions options;
  options.kind = KindChoice::csr;
  const auto whole = file("block", [&](const std::filesystem::path& path) {
    write_sparse(path, shape, make_arrays(shape), options);
  });
  if (cut == Cut::one_block) return whole;
  if (cut == Cut::small_tiles) options.tile = {256, 256};
  if (cut == Cut::wide_tiles) options.tile = {4096, shape.cols};
  const char* const suffix = cut == Cut::small_tiles  ? "256"
                             : cut == Cut::wide_tiles ? "wide"
                                                      : "tiles";
  return file(suffix, [&](const std::filesystem::path& path) {
    convert_file(whole, path, "dbdf", 2, options);
  });
}

std::filesystem::path make_sparse_file(const Session& session, const SparseShape& shape,
                                       KindChoice kind) {
  const char* const kind_name = kind == KindChoice::csr   ? "csr"
                                : kind == KindChoice::coo ? "coo"
                                                          : "dense";
  const auto make = [&](const std::filesystem::path& path) {
    WriteOptions options;
    options.kind = kind;
    options.narrow = false;
    write_sparse(path, shape, make_arrays(shape), options);
  };
  return session.file(
      fmt::format("sparse-{}-{}-{}-{}.dbdf", shape.rows, shape.cols, shape.per_row, kind_name),
      make);
}

}  // namespace dapple::bench
