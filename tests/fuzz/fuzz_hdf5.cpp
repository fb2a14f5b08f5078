// Door: HDF5. The HDF5 library itself writes the file, since it is what reads the structure: the
// input is what dapple reads by its own means, compressed chunks and the arrays of sparse groups.
// They are the same cells whole and row by row, or an error.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/foreign/hdf5_writer.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::hdf5_target {

namespace {

using test::Hdf5Id;

/// Bytes of the input, one after the other; zeros after the last.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::uint64_t below(std::uint64_t n) { return byte() % n; }
  std::span<const std::uint8_t> all() const { return rest_; }
  /// As many integers as a byte says.
  template <class T>
  std::vector<T> numbers() {
    const std::size_t wanted = byte();
    std::vector<T> made(std::min(wanted, rest_.size() / sizeof(T)));
    if (!made.empty()) std::memcpy(made.data(), rest_.data(), made.size() * sizeof(T));
    rest_ = rest_.subspan(made.size() * sizeof(T));
    return made;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// A data set all of whose chunks have the same bytes.
void write_chunks(const test::Hdf5Writer& file, Bytes& input) {
  const std::vector<hsize_t> extents{1 + input.below(23), 1 + input.below(23)};
  const std::vector<hsize_t> chunk{1 + input.below(extents[0]), 1 + input.below(extents[1])};
  const std::uint8_t filters = input.byte(), skipped = input.byte();
  const hid_t types[] = {H5T_NATIVE_UINT8, H5T_NATIVE_INT32, H5T_NATIVE_DOUBLE};
  const hid_t type = types[input.below(std::size(types))];
  const Hdf5Id space(H5Screate_simple(2, extents.data(), nullptr), H5Sclose);
  const Hdf5Id created(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(created, 2, chunk.data());
  if ((filters & 1) != 0) H5Pset_shuffle(created);
  if ((filters & 2) != 0) H5Pset_deflate(created, 6);
  const Hdf5Id data(H5Dcreate2(file.id(), "x", type, space, H5P_DEFAULT, created, H5P_DEFAULT),
                    H5Dclose);
  std::vector<std::uint8_t> bytes(input.all().begin(), input.all().end());
  // Without filters, the file does not say how long a chunk is.
  if ((filters & 3) == 0) bytes.resize(chunk[0] * chunk[1] * H5Tget_size(type));
  for (hsize_t row = 0; row < extents[0] && !bytes.empty(); row += chunk[0]) {
    for (hsize_t col = 0; col < extents[1]; col += chunk[1]) {
      const hsize_t at[] = {row, col};
      H5Dwrite_chunk(data, H5P_DEFAULT, skipped & filters, at, bytes.size(), bytes.data());
    }
  }
}

void write_sparse(test::Hdf5Writer& file, Bytes& input) {
  const bool by_column = input.below(2) == 1;
  const std::int64_t rows = input.byte(), cols = input.byte();
  file.group("x");
  file.text_attribute("x", "encoding-type", by_column ? "csc_matrix" : "csr_matrix");
  file.integers_attribute("x", "shape", {rows, cols});
  const test::Hdf5Layout layout{.chunk = {1 + input.below(9)},
                                .gzip = input.below(2) == 1 ? 1 : -1};
  file.vector("x/indptr", input.numbers<std::int32_t>(), layout);
  file.vector("x/indices", input.numbers<std::int32_t>(), layout);
  file.vector("x/data", input.numbers<std::uint8_t>(), layout);
}

/// A file of this process; the HDF5 library creates it anew for each input.
struct OwnFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("dapple-fuzz-" + std::to_string(::getpid()) + ".h5");

  ~OwnFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

void read_all(const Matrix& matrix) {
  constexpr std::uint64_t kMost = 1 << 16;
  const std::uint64_t rows = matrix.rows(), cols = matrix.cols();
  if (rows == 0 || cols == 0 || rows > kMost / cols) return;
  visit_type(matrix.value_type(), [&](auto tag) {
    using T = decltype(tag);
    const auto whole = matrix.read<T>({{0, rows}, {0, cols}});
    for (std::uint64_t row = 0; row < rows; row += 1 + rows / 8) {
      const auto part = matrix.read<T>({{row, row + 1}, {0, cols}});
      require(std::memcmp(part.data(), whole.data() + row * cols, cols * sizeof(T)) == 0);
    }
    const Csr<T> sparse = matrix.read_csr<T>({{0, rows}, {0, cols}});
    require(sparse.row_ptr.size() == rows + 1);
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t i = sparse.row_ptr[row]; i < sparse.row_ptr[row + 1]; ++i) {
        const T cell = whole[row * cols + sparse.col_idx[i]];
        require(std::memcmp(&cell, &sparse.values[i], sizeof cell) == 0);
      }
    }
  });
}

}  // namespace

FUZZ_TARGET(hdf5) {
  static const OwnFile file;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Bytes input(data, size);
  {
    test::Hdf5Writer writer(file.path);
    if (input.below(2) == 0) {
      write_chunks(writer, input);
    } else {
      write_sparse(writer, input);
    }
  }
  try {
    read_all(Matrix::open(file.path));
    verify(file.path, Level::payload);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::hdf5_target
