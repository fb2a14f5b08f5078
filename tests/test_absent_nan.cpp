#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "dapple/dapple.h"
#include "tests/reference.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// 4 x 4 cells of f64 of which only rows 0 and 1 of columns 0 and 1, and cell (3, 3), are in
/// blocks.
Matrix holey(const TempDir& dir, ValueType type) {
  Image image = Image::matrix(4, 4, type);
  image.dense<std::uint8_t>({0, 0}, 2, 2, {1, 2, 3, 4});
  image.dense<std::uint8_t>({3, 3}, 1, 1, {5});
  return Matrix::open(dir.write("m.dbdf", image.bytes()));
}

constexpr ReadOptions kNan{.absent = Absent::nan};

}  // namespace

TEST_CASE("absent: cells that no block covers are NaN where that is asked for") {
  const TempDir dir;
  const Matrix m = holey(dir, ValueType::f64);
  const auto cells = m.read<double>({{0, 4}, {0, 4}}, kNan);
  const auto floats = m.read<float>({{0, 4}, {0, 4}}, kNan);
  for (std::size_t i = 0; i < 16; ++i) {
    CAPTURE(i);
    constexpr double kStored[16] = {1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
    const double stored = kStored[i];
    CHECK(std::isnan(cells[i]) == (stored == 0));
    CHECK(std::isnan(floats[i]) == (stored == 0));
    if (stored != 0) CHECK(cells[i] == stored);
  }
  CHECK(m.read<double>({{0, 2}, {0, 2}}, kNan) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("absent: converting keeps the NaNs, and integers have none") {
  const TempDir dir;
  const Matrix m = holey(dir, ValueType::f64);
  ConvertOptions options;
  options.absent = Absent::nan;
  convert(m, {}, dir / "out.dbdf", options);
  const auto cells = Matrix::open(dir / "out.dbdf").read<double>({{0, 4}, {0, 4}});
  CHECK(std::isnan(cells[2]));
  CHECK(std::isnan(cells[14]));
  CHECK(cells[15] == 5);
  convert(m, {}, dir / "out.npy", options);
  CHECK(std::isnan(Matrix::open(dir / "out.npy").read<double>({{3, 4}, {0, 1}})[0]));

  CHECK(required_error(error_of([&] {
          m.read<int>({{0, 4}, {0, 4}}, kNan);
        })).code() == Errc::type_mismatch);
  CHECK(m.read<int>({{0, 2}, {0, 2}}, kNan) == std::vector<int>{1, 2, 3, 4});
  CHECK(required_error(error_of([&] {
          m.read_csr<double>({{0, 4}, {0, 4}}, kNan);
        })).code() == Errc::unsupported);
  CHECK(required_error(error_of([&] { matrix_stats(m, {.absent = Absent::nan}); })).code() ==
        Errc::unsupported);
}
