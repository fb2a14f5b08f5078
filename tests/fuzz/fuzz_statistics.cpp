// Door: the statistics of blocks. The input replaces the table of a file; signed, so that a lie
// gets past its hash, or not, when it must make no difference.
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/statistics.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::statistics_target {

namespace {

struct Victim {
  std::vector<std::byte> bytes;
  detail::dbdf::Hint hint;
  Stats stats;
  std::uint64_t above = 0;

  Victim() {
    const test::TempDir dir;
    WriteOptions options;
    options.tile = TileShape{64, 64};
    auto writer = MatrixWriter::create(dir / "m.dbdf", 128, 128, ValueType::f64, options);
    std::vector<double> cells(64 * 64);
    for (std::uint64_t tile = 0; tile < 4; ++tile) {
      for (std::size_t k = 0; k < cells.size(); ++k) {
        cells[k] = static_cast<double>(tile * 100 + k % 7) + (tile == 3 ? 0.25 : 0);
      }
      writer.put<double>({tile / 2 * 64, tile % 2 * 64}, {cells.data(), 64, 64});
    }
    writer.finish();
    bytes = test::read_bytes(dir / "m.dbdf");
    hint = fuzz::hint_of((dir / "m.dbdf").string(), detail::dbdf::kStatisticsTag);
    const Matrix m = Matrix::open(dir / "m.dbdf");
    stats = matrix_stats(m);
    above = count_where(m, Condition::above(205));
  }
};

}  // namespace

FUZZ_TARGET(statistics) {
  using namespace detail::dbdf;
  static fuzz::MemoryFile file;
  static const Victim victim;
  if (size == 0) return 0;
  std::vector<std::byte> bytes = victim.bytes;
  const auto input = std::as_bytes(std::span(data + 1, size - 1));
  // The first line tells which table it is, and stays.
  const std::size_t room = victim.hint.bytes - kLine;
  for (std::size_t i = 0; i < std::min(input.size(), room); ++i) {
    bytes[victim.hint.offset + kLine + i] ^= input[i];
  }
  const bool is_signed = data[0] % 2 == 1;
  if (is_signed) fuzz::sign_hint(bytes, victim.hint);
  file.set(std::span<const std::byte>(bytes));
  try {
    const Matrix m = Matrix::open(file.path());
    const Stats stats = matrix_stats(m);
    const std::uint64_t above = count_where(m, Condition::above(205));
    static_cast<void>(tile_row_stats(m).size() + tile_column_stats(m).size());
    static_cast<void>(explain_where(m, Condition::nan()));
    // A lie hides cells, or counts all of a block; verify compares statistics with values.
    require(above <= m.rows() * m.cols(), "count");
    if (is_signed) return 0;
    require(above == victim.above, "count without a table");
    require(stats.max == victim.stats.max && stats.nnz == victim.stats.nnz, "statistics");
    require(std::fabs(stats.variance() - victim.stats.variance()) <= 1e-9, "variance");
  } catch (const Error&) {
    require(is_signed, "error without a table");
  }
  return 0;
}

}  // namespace dapple::fuzz::statistics_target
