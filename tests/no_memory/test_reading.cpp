// When memory runs out while a file is read: it can be read again.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/no_memory/allocations.h"
#include "tests/no_memory/work.h"
#include "tests/support.h"

namespace dapple::test {

TEST_CASE("no memory: what could not be read can be read again") {
  const TempDir dir;
  const Work work;
  const auto path = dir / "written.dbdf";
  {
    auto writer = test::writer<double>(path, Work::rows(), Work::cols());
    for (const auto& step : work.steps()) step.put(writer);
    writer.finish();
  }
  const Region all{{0, Work::rows()}, {0, Work::cols()}};
  const Region some{{3, Work::rows() - 5}, {7, Work::cols() - 9}};
  const auto whole = Matrix::open(path);
  const auto cells = whole.read<double>(some);
  const auto csr = whole.read_csr<double>(all);
  const auto same = [](const Csr<double>& a, const Csr<double>& b) {
    return a.row_ptr == b.row_ptr && a.col_idx == b.col_idx && a.values == b.values;
  };
  const auto sum = [](const Matrix& matrix) {
    double result = 0;
    for (const BlockInfo info : matrix.blocks()) {
      for (const double value : matrix.block(info.pos).to_csr<double>().values) result += value;
    }
    return result;
  };
  const double total = sum(whole);

  const std::vector<std::function<bool(const Matrix&)>> reads = {
      [&](const Matrix& m) { return m.read<double>(some) == cells; },
      [&](const Matrix& m) { return same(m.read_csr<double>(all), csr); },
      [&](const Matrix& m) { return sum(m) == total; },
      [&](const Matrix& m) {
        return m.find_cover(200, 200)->info().pos == BlockPos{160, 160};
      },
  };
  for (std::size_t i = 0; i < reads.size(); ++i) {
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(i);
      CAPTURE(n);
      std::optional<Matrix> matrix;
      bool right = true;
      failed = fails_after(n, [&] {
        succeeds([&] {
          matrix.emplace(Matrix::open(path));
          right = reads[i](*matrix);
        });
      });
      CHECK(right);
      if (matrix) CHECK(reads[i](*matrix));
    }
    CHECK(n > 2);
  }
}

TEST_CASE("no memory: a region whose cells are not there is refused without taking any") {
  const TempDir dir;
  auto writer = MatrixWriter::create(dir / "m", ~std::uint64_t{0}, 1, ValueType::f64);
  const std::uint64_t rows = std::uint64_t{1} << 62;
  const std::vector<std::byte> cell(8);
  const std::vector<std::function<void()>> puts = {
      [&] {
        writer.put_region({{0, rows}, {0, 1}}, ValueType::f64, cell);
      },
      [&] {
        writer.put_region({0, 0}, DenseRef<double>{nullptr, rows, 1});
      },
  };
  for (const auto& put : puts) {
    std::optional<Errc> code;
    fails_after(20, [&] {  // those of the message are fewer
      try {
        put();
      } catch (const Error& error) {
        code = error.code();
      } catch (const std::bad_alloc&) {
      }
    });
    CHECK(code == Errc::invalid_argument);
  }
}

}  // namespace dapple::test
