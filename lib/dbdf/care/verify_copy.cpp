#include "lib/dbdf/care/verify_copy.h"

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/compute/source.h"
#include "lib/dbdf/care/verify_dbdf.h"
#include "lib/dbdf/column_copy.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

/// Columns are compared one by one, or in this number of bins.
constexpr std::uint64_t kComparedBins = std::uint64_t{1} << 20;

/// Of each bin of columns, the sum of hashes of its cells, whatever their order. Who forges a copy
/// does not know the seed.
std::vector<std::uint64_t> sum_columns(const std::shared_ptr<const Store>& store, bool transposed,
                                       std::uint64_t seed, unsigned shift) {
  const Source source(store, {}, {});
  const std::uint64_t cols = transposed ? source.rows() : source.cols();
  std::vector<std::uint64_t> sums(cols == 0 ? 0 : ((cols - 1) >> shift) + 1);
  source.entries({{0, source.rows()}, {0, source.cols()}}, [&](const StoredCell& cell) {
    std::array<std::uint64_t, 3> key{cell.row, cell.col, cell.bits};
    if (transposed) std::swap(key[0], key[1]);
    sums[key[1] >> shift] += xxh3(std::as_bytes(std::span(key)), seed);
  });
  return sums;
}

/// The first column, or the first of many, in which they differ.
std::optional<std::uint64_t> find_difference(const std::shared_ptr<const Store>& matrix,
                                             const std::shared_ptr<const Store>& copy) {
  std::random_device random;
  const std::uint64_t seed = std::uint64_t{random()} << 32 | random();
  unsigned shift = 0;
  while (matrix->schema().cols >> shift > kComparedBins) ++shift;
  const auto truth = sum_columns(matrix, false, seed, shift);
  const auto said = sum_columns(copy, true, seed, shift);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] != said[i]) return std::uint64_t{i} << shift;
  }
  return std::nullopt;
}

}  // namespace

void verify_copy(const std::shared_ptr<const Store>& matrix, Level level,
                 const TakeProgress& progress, std::vector<Error>& findings) {
  const FoundCopy copy = find_column_copy(*matrix);
  const auto report = [&](Errc code, std::optional<std::uint64_t> byte, const std::string& what) {
    findings.emplace_back(code, copy.file->name(), byte, what + "; remove it or make it again");
  };
  switch (copy.state) {
    case SidecarState::none:
      return;
    case SidecarState::stale:
      return report(Errc::stale_index, copy.fault,
                    "the copy by column belongs to another state of the file, or to another "
                    "object in it");
    case SidecarState::damaged:
      return report(Errc::corrupt, copy.fault, "the copy by column is damaged");
    case SidecarState::fresh:
      break;
  }
  const std::size_t before = findings.size();
  const VerifyReport found = verify_dbdf(copy.file, level, progress);
  findings.insert(findings.end(), found.findings.begin(), found.findings.end());
  if (findings.size() != before || level != Level::payload) return;
  try {
    if (const auto col = find_difference(matrix, copy.store)) {
      report(Errc::corrupt, std::nullopt,
             "from column " + std::to_string(*col) +
                 " on, the copy by column does not hold the cells of the file");
    }
  } catch (const Error& e) {
    // What is wrong with the matrix was found before.
    if (e.code() == Errc::io) throw;
  }
}

}  // namespace dapple::detail::dbdf
