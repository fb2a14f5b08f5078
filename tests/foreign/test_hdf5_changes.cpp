// HDF5 files that change while they are open.
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/children.h"
#include "tests/foreign/hdf5_writer.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

constexpr hsize_t kWidth = 4;

/// A process that appends rows to the data set "m" of a file in SWMR mode; its cells count up.
class RowWriter {
 public:
  explicit RowWriter(const std::filesystem::path& path) {
    if (pipe(orders_.data()) != 0 || pipe(answers_.data()) != 0) throw std::runtime_error("pipe");
    child_ = start_child([&] {
      close(orders_[1]);
      write_rows(path);
      return 0;
    });
    close(orders_[0]);
    close(answers_[1]);
  }
  ~RowWriter() { close(answers_[0]); }

  /// Returns when that many more rows are in the file.
  void append(unsigned char rows) {
    REQUIRE(write(orders_[1], &rows, 1) == 1);
    REQUIRE(read(answers_[0], &rows, 1) == 1);
  }
  /// True when it has closed the file.
  bool finish() {
    close(orders_[1]);
    return all_well({child_});
  }

 private:
  void write_rows(const std::filesystem::path& path) const {
    const std::array<hsize_t, 2> most{H5S_UNLIMITED, kWidth}, chunk{3, kWidth};
    std::array<hsize_t, 2> extents{0, kWidth};
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    const Hdf5Id created(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(created, 2, chunk.data());
    const Hdf5Id none(H5Screate_simple(2, extents.data(), most.data()), H5Sclose);
    const Hdf5Id data(H5Dcreate2(file, "m", H5T_STD_I32LE, none, H5P_DEFAULT, created, H5P_DEFAULT),
                      H5Dclose);
    if (H5Fstart_swmr_write(file) < 0) throw std::runtime_error("HDF5 has no SWMR mode");
    unsigned char rows = 0;
    while (read(orders_[0], &rows, 1) == 1) {
      const std::array<hsize_t, 2> start{extents[0], 0}, added{rows, kWidth};
      std::vector<std::int32_t> cells(rows * kWidth);
      std::iota(cells.begin(), cells.end(), static_cast<std::int32_t>(extents[0] * kWidth));
      extents[0] += rows;
      H5Dset_extent(data, extents.data());
      const Hdf5Id all(H5Dget_space(data), H5Sclose);
      H5Sselect_hyperslab(all, H5S_SELECT_SET, start.data(), nullptr, added.data(), nullptr);
      const Hdf5Id memory(H5Screate_simple(2, added.data(), nullptr), H5Sclose);
      H5Dwrite(data, H5T_NATIVE_INT32, memory, all, H5P_DEFAULT, cells.data());
      if (H5Dflush(data) < 0 || write(answers_[1], &rows, 1) != 1) return;
    }
  }

  std::array<int, 2> orders_{}, answers_{};
  pid_t child_ = 0;
};

void check_rows(const Matrix& m, std::uint64_t rows) {
  std::vector<std::int32_t> wanted(rows * kWidth);
  std::iota(wanted.begin(), wanted.end(), 0);
  REQUIRE(m.rows() == rows);
  CHECK(m.read<std::int32_t>({{0, rows}, {0, kWidth}}) == wanted);
}

void check_ended(const Matrix& m) {
  const Error error = required_error(error_of([&] {
    m.read<float>({{0, m.rows()}, {0, kWidth}});
  }));
  CHECK(error.code() == Errc::io);
  CHECK(error.detail() ==
        "the file was changed after it was opened, and then opened once more; open this again");
}

}  // namespace

TEST_CASE("hdf5: a file that is written in SWMR mode has the rows of when it was opened") {
  const TempDir dir;
  RowWriter writer(dir / "rows.h5");
  writer.append(5);
  const Matrix first = Matrix::open(dir / "rows.h5");
  check_rows(first, 5);
  writer.append(7);
  check_rows(first, 5);
  // As long as the first was open, the library kept its 5 rows for others, too.
  const Matrix second = Matrix::open(dir / "rows.h5");
  check_rows(second, 12);
  check_ended(first);
  writer.append(250);
  REQUIRE(writer.finish());
  check_rows(Matrix::open(dir / "rows.h5"), 262);
  check_ended(second);
}

TEST_CASE("hdf5: a file overwritten in place is read as it is now, and no longer as it was") {
  // While the first was open, the library kept the old extents and places for the second, too.
  const TempDir dir;
  const std::vector<float> old_cells(400, 1.5F), new_cells(90, 2.5F);
  for (const Hdf5Layout& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {1, 3}, .gzip = 1}}) {
    {
      Hdf5Writer file(dir / "new.h5");
      file.data_set("X", {30, 3}, new_cells, layout);
      file.data_set("Y", {30, 3}, new_cells, layout);
    }
    std::filesystem::remove(dir / "d.h5");
    Hdf5Writer(dir / "d.h5").data_set("X", {100, 4}, old_cells, layout);
    const Matrix before = Matrix::open(dir / "d.h5");
    CHECK(before.read<float>({{0, 1}, {0, 4}}) == std::vector<float>(4, 1.5F));
    write_text(dir / "d.h5", read_text(dir / "new.h5"));  // as h5py and anndata write
    for (const char* const array : {"X", "Y"}) {
      const Matrix now = Matrix::open(dir / "d.h5", {.array = array});
      REQUIRE(now.rows() == 30);
      REQUIRE(now.cols() == 3);
      CHECK(now.read<float>({{0, 30}, {0, 3}}) == new_cells);
    }
    if (!layout.chunk.empty())
      check_ended(before);  // others are read in place, where nothing tells
  }
}
