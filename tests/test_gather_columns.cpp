// Lists of columns (dapple/gather.h) and reads of few columns, with a copy by column and without.

#include <string>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/columns.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Image;
using test::Rng;
using test::TempDir;

TEST_CASE("columns: those of any partition, kind and type are those of a read") {
  Rng rng(91);
  for (const ValueType type : kValueTypes) {
    for (const test::Partition& p : test::partitions(rng, 20)) {
      CAPTURE(p.name);
      CAPTURE(name(type));
      const TempDir dir;
      const auto path = dir.write("m", test::random_matrix(rng, p, type, 0).bytes());
      const Matrix plain = Matrix::open(path);
      test::check_columns(rng, plain);
      bool whole = false;
      if (const auto error = error_of([&] { write_column_copy(path); })) {
        CHECK(error->code() == Errc::absent);
        CHECK(dir.names() == std::vector<std::string>{"m"});
      } else {
        whole = true;
      }
      const Matrix m = Matrix::open(path);
      CHECK(column_copy_state(m) == (whole ? SidecarState::fresh : SidecarState::none));
      CHECK((m.store().by_column() != nullptr) == whole);
      test::check_columns(rng, m);
      if (!whole) continue;
      CHECK(verify(path, Level::payload).findings.empty());
      const Matrix copy = Matrix::open(column_copy_path(path));
      CHECK(copy.rows() == m.cols());
      CHECK(copy.cols() == m.rows());
      CHECK(copy.value_type() == m.value_type());
    }
  }
}

TEST_CASE("columns: shapes without rows or columns, and with one of them") {
  Rng rng(92);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> shapes{{0, 0}, {0, 5}, {5, 0},
                                                                    {1, 7}, {7, 1}, {1, 1}};
  for (const auto& shape : shapes) {
    const std::uint64_t rows = shape.first, cols = shape.second;
    CAPTURE(rows);
    CAPTURE(cols);
    const TempDir dir;
    auto w = MatrixWriter::create(dir / "m", rows, cols, ValueType::i32);
    const std::vector<std::int32_t> cells(rows * cols, -5);
    if (!cells.empty()) {
      w.put<std::int32_t>({0, 0}, {cells.data(), static_cast<std::uint32_t>(rows),
                                   static_cast<std::uint32_t>(cols)});
    }
    w.finish();
    test::check_columns(rng, Matrix::open(dir / "m"));
    write_column_copy(dir / "m");
    const Matrix m = Matrix::open(dir / "m");
    CHECK(m.store().by_column() != nullptr);
    test::check_columns(rng, m);
    CHECK(verify(dir / "m", Level::payload).findings.empty());
  }
}

TEST_CASE("columns: numbers outside, absent cells, and outputs that overlap are errors") {
  const TempDir dir;
  const auto gaps = dir.write(
      "m", Image::matrix(3, 3, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, 3, {1, 2, 3}).bytes());
  const Matrix m = Matrix::open(gaps);
  Csr<float> out;
  const std::vector<std::uint64_t> outside{0, 3}, inside{2, 2};
  const auto code = [&](std::span<const std::uint64_t> list, const GatherOptions& options) {
    return test::required_error(error_of([&] { gather_columns(m, list, out, options); })).code();
  };
  CHECK(code(outside, {}) == Errc::out_of_range);
  CHECK(code(inside, {}) == Errc::absent);
  CHECK(code(inside, {.absent = Absent::nan}) == Errc::unsupported);
  gather_columns<float>(m, inside, out, {.absent = Absent::zero});
  CHECK(out.values == std::vector<float>{3, 3});
  out.col_idx.reset(4);
  const std::span<const std::uint64_t> inner(out.col_idx.data(), 2);
  out.col_idx[0] = out.col_idx[1] = 0;
  CHECK(error_of([&] { gather_columns(m, inner, out, {.absent = Absent::zero}); })->code() ==
        Errc::invalid_argument);
}

TEST_CASE("columns: reads of few columns use the copy, and give the same") {
  for (const TileShape tile : {TileShape{500, 64}, TileShape{3000, 70}, TileShape{64, 32}}) {
    const TempDir dir;
    const auto path = test::high_matrix(dir, tile);
    const auto cells = Matrix::open(path).read<float>({{0, 3000}, {0, 70}});
    for (const bool copied : {false, true}) {
      if (copied) write_column_copy(path, {}, {.threads = 2});
      const Matrix m = Matrix::open(path);
      for (const Range cols : {Range{0, 1}, Range{69, 70}, Range{30, 32}, Range{61, 65}}) {
        test::check_reads(m, cells, {0, 3000}, cols);
        test::check_reads(m, cells, {700, 1900}, cols);
      }
      CHECK(m.read<float>({{0, 3000}, {5, 5}}).empty());
      CHECK(error_of([&] { m.read<std::uint8_t>({{0, 3000}, {0, 1}}); })->file() == path.string());
    }
  }
}
