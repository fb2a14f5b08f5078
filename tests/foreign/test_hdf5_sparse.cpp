// Sparse groups of HDF5 files, as anndata and Cell Ranger write them, sound and damaged.

#include <algorithm>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/hdf5_writer.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// The arrays of a matrix whose lines are rows, or columns.
struct Group {
  bool by_columns = false;
  std::vector<std::int64_t> shape, indptr{0}, indices;
  std::vector<float> data;

  static Group random(Rng& rng) {
    Group g;
    g.by_columns = rng.chance(50);
    g.shape = {static_cast<std::int64_t>(rng.below(40)), static_cast<std::int64_t>(rng.below(40))};
    const std::int64_t across = g.shape[g.by_columns ? 0 : 1];
    for (std::int64_t line = 0; line < g.shape[g.by_columns ? 1 : 0]; ++line) {
      std::vector<std::int64_t> row;
      for (std::int64_t i = 0; i < across; ++i) {
        if (rng.chance(20)) row.push_back(i);
      }
      if (rng.chance(30)) std::reverse(row.begin(), row.end());
      g.indices.insert(g.indices.end(), row.begin(), row.end());
      g.indptr.push_back(static_cast<std::int64_t>(g.indices.size()));
    }
    for (std::size_t i = 0; i < g.indices.size(); ++i) {
      g.data.push_back(static_cast<float>(rng.between(1, 1000)) / 8);
    }
    return g;
  }
  std::vector<float> cells() const {
    std::vector<float> out(static_cast<std::size_t>(shape[0] * shape[1]));
    for (std::size_t line = 0; line + 1 < indptr.size(); ++line) {
      for (auto k = static_cast<std::size_t>(indptr[line]);
           k < static_cast<std::size_t>(indptr[line + 1]); ++k) {
        const auto index = static_cast<std::size_t>(indices[k]);
        const auto cols = static_cast<std::size_t>(shape[1]);
        out[by_columns ? index * cols + line : line * cols + index] = data[k];
      }
    }
    return out;
  }
  std::string kind() const { return by_columns ? "csc" : "csr"; }
};

void write_integers(Hdf5Writer& file, const std::string& name,
                    const std::vector<std::int64_t>& values, bool wide, const Hdf5Layout& layout) {
  if (wide) return file.vector(name, values, layout);
  file.vector(name, std::vector<std::int32_t>(values.begin(), values.end()), layout);
}

void write_arrays(Hdf5Writer& file, const Group& group, bool wide, const Hdf5Layout& layout) {
  write_integers(file, "X/indptr", group.indptr, wide, layout);
  write_integers(file, "X/indices", group.indices, !wide, layout);
  file.vector("X/data", group.data, layout);
}

/// As anndata writes it.
void write_group(Hdf5Writer& file, const Group& group, bool wide = false,
                 const Hdf5Layout& layout = {}) {
  write_arrays(file, group, wide, layout);
  file.text_attribute("X", "encoding-type", group.kind() + "_matrix");
  file.text_attribute("X", "encoding-version", "0.1.0");
  file.integers_attribute("X", "shape", group.shape);
}

void check_cells(const std::filesystem::path& path, const Group& group, Rng& rng) {
  const Matrix m = Matrix::open(path);
  const auto rows = static_cast<std::uint64_t>(group.shape[0]),
             cols = static_cast<std::uint64_t>(group.shape[1]);
  REQUIRE(m.rows() == rows);
  REQUIRE(m.cols() == cols);
  CHECK(m.storage() == Storage::csr);
  CHECK(m.value_type() == ValueType::f32);
  CHECK(m.counts().stored == (rows == 0 || cols == 0 ? 0 : group.data.size()));
  CHECK(verify(path, Level::payload).findings.empty());
  const std::vector<float> wanted = group.cells();
  REQUIRE(m.read<float>({{0, rows}, {0, cols}}) == wanted);
  const Range of_rows = rows == 0 ? Range{} : rng.range(rows);
  const Range of_cols = cols == 0 ? Range{} : rng.range(cols);
  const auto csr = m.read_csr<double>({of_rows, of_cols});
  std::size_t k = 0;
  for (std::uint64_t row = of_rows.begin; row < of_rows.end; ++row) {
    for (std::uint64_t col = of_cols.begin; col < of_cols.end; ++col) {
      const float value = wanted[row * cols + col];
      if (value == 0) continue;
      REQUIRE(k < csr.values.size());
      REQUIRE(csr.col_idx[k] == col - of_cols.begin);
      REQUIRE(csr.values[k++] == value);
    }
    REQUIRE(csr.row_ptr[row - of_rows.begin + 1] == k);
  }
  CHECK(csr.values.size() == k);
}

/// 3 x 4 cells.
Group small(bool by_columns = false) {
  Group g;
  g.by_columns = by_columns;
  g.shape = {3, 4};
  g.indptr =
      by_columns ? std::vector<std::int64_t>{0, 1, 2, 2, 3} : std::vector<std::int64_t>{0, 2, 2, 3};
  g.indices = by_columns ? std::vector<std::int64_t>{2, 0, 0} : std::vector<std::int64_t>{3, 1, 0};
  g.data = by_columns ? std::vector<float>{5, 7, 1} : std::vector<float>{1, 7, 5};
  return g;
}

Error error_of_reading(const std::filesystem::path& path) {
  return required_error(error_of([&] {
    const Matrix m = Matrix::open(path, {.array = "X"});
    m.read<double>({{0, m.rows()}, {0, m.cols()}});
  }));
}

/// What is wrong with a file that `write` writes.
template <class Write>
std::string damage(const TempDir& dir, const Write& write) {
  {
    Hdf5Writer file(dir / "bad.h5ad");
    write(file);
  }
  const Error error = error_of_reading(dir / "bad.h5ad");
  const bool means_sum = error.detail().find("sum_duplicates") != std::string::npos;
  CHECK(error.code() == (means_sum ? Errc::unsupported : Errc::corrupt));
  return error.detail();
}

template <class Change>
std::string changed(const TempDir& dir, bool by_columns, const Change& change) {
  Group group = small(by_columns);
  change(group);
  std::string direct = damage(dir, [&](Hdf5Writer& file) { write_group(file, group); });
  const Hdf5Layout packed{.chunk = {2}, .gzip = 1};
  CHECK(damage(dir, [&](Hdf5Writer& file) { write_group(file, group, true, packed); }) == direct);
  return direct;
}

}  // namespace

TEST_CASE("hdf5: groups of anndata are sparse matrices, in every layout") {
  const TempDir dir;
  Rng rng(31);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const Group group = Group::random(rng);
    Hdf5Layout layout;
    if (rng.chance(70)) layout.chunk = {rng.between(1, 50)};
    if (!layout.chunk.empty() && rng.chance(50)) layout.gzip = 4;
    layout.shuffle = layout.gzip >= 0 && rng.chance(50);
    layout.big_endian = rng.chance(30);
    {
      Hdf5Writer file(dir / "a.h5ad");
      write_group(file, group, rng.chance(50), layout);
    }
    check_cells(dir / "a.h5ad", group, rng);
  }
}

TEST_CASE("hdf5: verify looks at all that can be opened") {
  const TempDir dir;
  {
    Hdf5Writer file(dir / "a.h5ad");
    write_group(file, small());
    file.vector("raw/indptr", std::vector<std::int64_t>{1, 2});
    file.vector("raw/indices", std::vector<std::int64_t>{0, 0});
    file.vector("raw/data", std::vector<float>{1, 2});
    file.text_attribute("raw", "encoding-type", "csr_matrix");
    file.integers_attribute("raw", "shape", {1, 4});
  }
  const VerifyReport report = verify(dir / "a.h5ad", Level::payload);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].detail() == "'raw': the first pointer should be 0, not 1");
  CHECK(verify(dir / "a.h5ad", Level::payload, {.array = "X"}).findings.empty());
}

TEST_CASE("hdf5: indices and pointers may be as narrow as the matrix allows") {
  const TempDir dir;
  const auto check = [&](auto tag, const Hdf5Layout& layout) {
    using T = decltype(tag);
    const Group g = small();
    {
      Hdf5Writer file(dir / "a.h5ad");
      file.vector("X/indptr", std::vector<T>(g.indptr.begin(), g.indptr.end()), layout);
      file.vector("X/indices", std::vector<T>(g.indices.begin(), g.indices.end()), layout);
      file.vector("X/data", g.data, layout);
      file.text_attribute("X", "encoding-type", "csr_matrix");
      file.integers_attribute("X", "shape", g.shape);
    }
    const Matrix m = Matrix::open(dir / "a.h5ad");
    CHECK(m.read<float>({{0, 3}, {0, 4}}) ==
          std::vector<float>{0, 7, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0});
    CHECK(verify(dir / "a.h5ad", Level::payload).findings.empty());
  };
  for (const Hdf5Layout& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {2}, .gzip = 1}}) {
    check(std::uint16_t{}, layout);
    check(std::int16_t{}, layout);
    check(std::uint8_t{}, layout);
    check(std::int8_t{}, layout);
  }
}

TEST_CASE("hdf5: groups of the first versions of anndata are read, too") {
  const TempDir dir;
  Rng rng(32);
  for (const bool by_columns : {false, true}) {
    for (const bool fixed : {false, true}) {
      const Group group = small(by_columns);
      {
        Hdf5Writer file(dir / "a.h5ad");
        write_arrays(file, group, false, {});
        file.text_attribute("X", "h5sparse_format", group.kind(), fixed);
        file.integers_attribute("X", "h5sparse_shape", group.shape);
      }
      check_cells(dir / "a.h5ad", group, rng);
      CHECK(Matrix::open(dir / "a.h5ad").details()[1].text == group.kind() + "_matrix");
    }
  }
}

TEST_CASE("hdf5: a group of Cell Ranger is stored by columns") {
  const TempDir dir;
  Rng rng(33);
  const Group group = small(true);
  const Hdf5Id name(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(name, 3);
  const auto write = [&](const std::vector<std::int32_t>& shape) {
    Hdf5Writer file(dir / "c.h5");
    write_arrays(file, group, true, {.chunk = {2}, .gzip = 1});
    file.vector("X/shape", shape);
    file.data_set_of("X/barcodes", name, {4}, {}, name, "AAAAACAAGAAT");
  };
  write({3, 4});
  check_cells(dir / "c.h5", group, rng);
  write({3, 5});
  CHECK(error_of_reading(dir / "c.h5").detail() == "5 pointers do not fit a matrix of 5 columns");
  write({3, 4, 1});
  CHECK(error_of_reading(dir / "c.h5").detail() == "X/shape: should hold 2 integers");
}

TEST_CASE("hdf5: many rows make several blocks") {
  const TempDir dir;
  Rng rng(34);
  Group group;
  group.shape = {3000, 800};
  for (std::int64_t line = 0; line < 3000; ++line) {
    for (std::int64_t i = 0; i < 800; ++i) {
      if (rng.chance(50)) group.indices.push_back(i);
    }
    group.indptr.push_back(static_cast<std::int64_t>(group.indices.size()));
  }
  for (std::size_t i = 0; i < group.indices.size(); ++i) {
    group.data.push_back(static_cast<float>(1 + i % 300));
  }
  {
    Hdf5Writer file(dir / "a.h5ad");
    write_group(file, group, false, {.chunk = {100'000}, .gzip = 1, .shuffle = true});
  }
  const Matrix m = Matrix::open(dir / "a.h5ad");
  CHECK(m.blocks().size() == 2);
  check_cells(dir / "a.h5ad", group, rng);
}

TEST_CASE("hdf5: sparse arrays that do not fit each other are corrupt") {
  const TempDir dir;
  const auto rows = [&](auto change) { return changed(dir, false, change); };
  CHECK(rows([](Group& g) {
          g.indptr = {0, 2, 1, 3};
        }) == "a row ends at value 1, but starts at 2");
  CHECK(rows([](Group& g) { g.indptr = {0, 2, 2, 4}; }) == "a row ends at value 4 of 3");
  CHECK(rows([](Group& g) { g.indptr = {1, 2, 2, 3}; }) == "the first pointer should be 0, not 1");
  CHECK(rows([](Group& g) { g.indptr = {0, 2, 3}; }) == "3 pointers do not fit a matrix of 3 rows");
  CHECK(rows([](Group& g) { g.indices = {3, 1}; }) == "there are 2 indices for 3 values");
  CHECK(rows([](Group& g) { g.indices[2] = 4; }) == "column 4 is outside a matrix of 4 columns");
  CHECK(rows([](Group& g) { g.indices[0] = 1; }) ==
        "column 1 is twice in a row; add such entries up first, as SciPy's sum_duplicates() does");
  CHECK(rows([](Group& g) { g.shape = {4, 4}; }) == "4 pointers do not fit a matrix of 4 rows");
  CHECK(rows([](Group& g) { g.shape = {3, 0}; }) == "a matrix without cells cannot have 3 values");
  CHECK(rows([](Group& g) { g.shape = {3}; }) ==
        "X: the sparse matrix has no attribute 'shape' of two extents");
  CHECK(rows([](Group& g) {
          g.shape = {-3, 4};
        }) == "X: the sparse matrix has no attribute 'shape' of two extents");
  const auto columns = [&](auto change) { return changed(dir, true, change); };
  CHECK(columns([](Group& g) { g.indices[1] = 3; }) == "row 3 is outside a matrix of 3 rows");
  CHECK(columns([](Group& g) {
          g.indptr = {0, 2, 1, 2, 3};
        }) == "a column ends at value 1, but starts at 2");
  CHECK(columns([](Group& g) {
          g.shape = {3, 5};
        }) == "5 pointers do not fit a matrix of 5 columns");
}

TEST_CASE("hdf5: members of a sparse group that are missing or of another kind are corrupt") {
  const TempDir dir;
  const auto with = [&](auto change) {
    return damage(dir, [&](Hdf5Writer& file) {
      write_group(file, small());
      change(file);
    });
  };
  for (const std::string name : {"X/data", "X/indices", "X/indptr"}) {
    CHECK(with([&](Hdf5Writer& file) {
            file.remove(name);
          }).starts_with("the data set " + name + " cannot be opened: "));
    CHECK(with([&](Hdf5Writer& file) {
            file.remove(name);
            file.data_set<std::int32_t>(name, {1, 3}, {0, 1, 2});
          }) == "the data set " + name + " should have one dimension");
  }
  CHECK(with([](Hdf5Writer& file) {
          file.remove("X/indices");
          file.vector<double>("X/indices", {3, 1, 0});
        }) == "X/indices should hold integers, not f64");
  CHECK(with([](Hdf5Writer& file) {  // far more pointers than the file has bytes for
          file.remove("X/indptr");
          file.data_set_of("X/indptr", H5T_NATIVE_INT64, {hsize_t{1} << 40}, {.chunk = {1000}},
                           H5T_NATIVE_INT64, nullptr);
        }) == "the data set X/indptr has more items than the file can hold");
  CHECK(damage(dir, [](Hdf5Writer& file) {
          write_arrays(file, small(), false, {});
          file.text_attribute("X", "encoding-type", "csr_matrix");
        }) == "X: the sparse matrix has no attribute 'shape' of two extents");
}

TEST_CASE("hdf5: other encodings are not taken for sparse matrices") {
  const TempDir dir;
  {
    Hdf5Writer file(dir / "a.h5ad");
    write_arrays(file, small(), false, {});
    file.text_attribute("X", "encoding-type", "coo_matrix");
  }
  const Error error = error_of_reading(dir / "a.h5ad");
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.detail() ==
        "X is neither a data set nor a sparse matrix in CSR or CSC form, nor a table of anndata's");
}
