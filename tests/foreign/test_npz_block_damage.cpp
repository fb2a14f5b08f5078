// Matrices of blocks and of diagonals in .npz archives whose arrays lie.

#include <string>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/changed_bytes.h"
#include "tests/foreign/scipy_image.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

Error error_of_reading(const TempDir& dir, const std::string& bytes) {
  write_text(dir / "bad.npz", bytes);
  return required_error(error_of([&] {
    const Matrix m = Matrix::open(dir / "bad.npz");
    m.read<double>({{0, m.rows()}, {0, m.cols()}});
  }));
}

}  // namespace

TEST_CASE("npz: blocks and diagonals that do not fit the matrix are corrupt") {
  const TempDir dir;
  const auto detail = [&](const auto& m) {
    const Error error = error_of_reading(dir, m.image({}));
    const bool means_sum = error.detail().find("sum_duplicates") != std::string::npos;
    CHECK(error.code() == (means_sum ? Errc::unsupported : Errc::corrupt));
    return error.detail();
  };
  const auto blocks = [&](auto change) {
    BlockMatrix m = kBlocks;
    change(m);
    return detail(m);
  };
  CHECK(blocks([](BlockMatrix& m) { m.cols = 7; }) ==
        "a matrix of 4 x 7 cells cannot be made of blocks of 2 x 3");
  CHECK(blocks([](BlockMatrix& m) { m.down = 0, m.data.clear(); }) ==
        "a matrix of 4 x 6 cells cannot be made of blocks of 0 x 3");
  CHECK(blocks([](BlockMatrix& m) { m.indptr.pop_back(); }) ==
        "3 blocks in 2 rows of them do not fit 2 pointers and 3 indices");
  CHECK(blocks([](BlockMatrix& m) { m.indptr[2] = 1; }) ==
        "a row ends at value 1, but starts at 2");
  CHECK(blocks([](BlockMatrix& m) { m.indptr[2] = 4; }) == "a row ends at value 4 of 3");
  CHECK(blocks([](BlockMatrix& m) { m.indptr[0] = 1; }) == "the first pointer should be 0, not 6");
  CHECK(blocks([](BlockMatrix& m) { m.indices[2] = 2; }) ==
        "column 2 is outside a matrix of 2 columns, counted in blocks");
  CHECK(blocks([](BlockMatrix& m) { m.indices[0] = -1; }) ==
        "column 4294967295 is outside a matrix of 2 columns, counted in blocks");
  CHECK(blocks([](BlockMatrix& m) { m.indices[0] = 0; }) ==
        "column 0 is twice in a row; add such entries up first, as SciPy's "
        "sum_duplicates() does");

  const auto diagonals = [&](auto change) {
    DiagonalMatrix m = kDiagonals;
    change(m);
    return detail(m);
  };
  CHECK(diagonals([](DiagonalMatrix& m) { m.offsets[2] = -2; }) ==
        "the diagonal -2 is there twice");
  CHECK(diagonals([](DiagonalMatrix& m) { m.rows = -1; }) == "an extent is negative");
  const auto arrays = [&](const std::string& offsets, const std::string& data) {
    return scipy_archive("dia", {},
                         {{"shape", npy_integers({3, 4})}, {"offsets", offsets}, {"data", data}});
  };
  const std::string two = values_image({1, 2, 3, 4}, "2, 2", {});
  CHECK(error_of_reading(dir, arrays(npy_integers({0}), two)).detail() ==
        "1 offset do not fit values of 2 diagonals");
  CHECK(error_of_reading(dir, arrays(npy_integers({0, 1}), values_image({1, 2}, "2,", {})))
            .detail() == "data.npy should be an array of 2 dimensions");
  CHECK(error_of_reading(dir, arrays(two, two)).detail() ==
        "offsets.npy should be an array of 1 dimension");
  CHECK(error_of_reading(dir, arrays(npy_image("<f8", "1,", std::string(8, 'x')), two)).detail() ==
        "offsets.npy should hold integers, not f64");
  CHECK(error_of_reading(dir, scipy_archive("dia", {}, {{"shape", two}, {"data", two}})).detail() ==
        "the sparse matrix has no offsets.npy");
}

TEST_CASE("npz: extents and sizes of blocks that no file can hold are refused before they are") {
  const TempDir dir;
  const std::string big = std::to_string(std::uint64_t{1} << 40);
  const auto blocks = [&](std::int64_t rows, std::int64_t cols, const std::string& shape) {
    return error_of_reading(dir, scipy_archive("bsr", {},
                                               {{"shape", npy_integers({rows, cols})},
                                                {"indptr", npy_integers({0, 0})},
                                                {"indices", npy_integers({})},
                                                {"data", values_image({}, shape, {})}}));
  };
  constexpr std::int64_t large = std::int64_t{1} << 40;
  CHECK(blocks(large, 2, "0, " + big + ", 1").detail() ==
        "1099511627776 rows are too many for 0 entries; save the matrix after .tocsr()");
  CHECK(blocks(1, large, "0, 1, " + big).detail() ==
        "1099511627776 columns are more than the 4294967295 of a block");
  CHECK(blocks(1, 1, big + ", " + big + ", 0").detail() == "data.npy has 2^64 items or more");
  CHECK(blocks(2, 2, "1, 2, 2").code() == Errc::corrupt);

  DiagonalMatrix diagonals = kDiagonals;
  diagonals.rows = large;
  const Error error = error_of_reading(dir, diagonals.image({false, false, false, 8}));
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.detail() ==
        "1099511627776 rows are too many for 12 entries; save the matrix after .tocsr()");
  diagonals.rows = std::int64_t{1} << 20;
  write_text(dir / "d.npz", diagonals.image({false, false, false, 8}));
  const Matrix m = Matrix::open(dir / "d.npz");
  CHECK(m.blocks().size() == 1);
  CHECK(m.read<double>({{1, 3}, {0, 4}}) == std::vector<double>{0, 0, 2, 0, 4, 0, 0, 3});
}

TEST_CASE("npz: any changed byte of blocks, diagonals or big-endian arrays is met") {
  for (const ArrayForm& form : {ArrayForm{}, ArrayForm{true}, ArrayForm{false, true, true}}) {
    read_with_changed_bytes(kBlocks.image(form));
    read_with_changed_bytes(kDiagonals.image(form));
  }
}
