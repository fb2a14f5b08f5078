#include "workloads/coordinates.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/page_cache.h"
#include "harness/random.h"
#include "peers/python_peers.h"
#include "workloads/cells_file.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// In every column one entry in each of as many equal strips of rows. Values are eighths below
/// 10^6: their sum is exact in any order.
struct Coordinates {
  std::uint64_t rows, cols, per_col;

  std::uint64_t entries() const { return cols * per_col; }
  std::uint64_t row(std::uint64_t col, std::uint64_t k) const {
    const std::uint64_t step = rows / per_col;
    return k * step + mix((col << 20) ^ k) % step;
  }
  double value(std::uint64_t col, std::uint64_t k) const {
    return static_cast<double>(1 + mix((k << 40) ^ col) % 7'999'999) / 8;
  }
  double sum() const {
    double sum = 0;
    for (std::uint64_t i = 0; i < entries(); ++i) sum += value(i / per_col, i % per_col);
    return sum;
  }
};

enum class Order { column, row, none };

/// Entry `i` of the file, as its number by column.
std::uint64_t in_order(const Coordinates& c, Order order, std::uint64_t i) {
  constexpr std::uint64_t kPrime = 1'000'000'007;
  if (order == Order::column) return i;
  // By strip of rows is as near to an order by row as a file without sorting comes.
  if (order == Order::row) return i % c.cols * c.per_col + i / c.cols;
  return i * kPrime % c.entries();
}

void write_file(const Path& path, const Coordinates& c, Order order) {
  std::ofstream out(path, std::ios::binary);
  out << fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", c.rows, c.cols,
                     c.entries());
  std::string text;
  for (std::uint64_t i = 0; i < c.entries(); ++i) {
    const std::uint64_t at = in_order(c, order, i), col = at / c.per_col, k = at % c.per_col;
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", c.row(col, k) + 1, col + 1,
                   c.value(col, k));
    if (text.size() < (std::size_t{1} << 20) && i + 1 < c.entries()) continue;
    out << text;
    text.clear();
  }
}

double sum_of(const Path& path) {
  const Matrix matrix = Matrix::open(path);
  const Csr<double> csr = matrix.read_csr<double>({{0, matrix.rows()}, {0, matrix.cols()}});
  double sum = 0;
  for (const double value : csr.values) sum += value;
  return sum;
}

}  // namespace

void measure_coordinates(Session& session) {
  const Coordinates c =
      session.quick() ? Coordinates{2000, 1000, 10} : Coordinates{200'000, 100'000, 100};
  const double sum = c.sum();
  for (const auto& way :
       {std::pair("column", Order::column), {"row", Order::row}, {"none", Order::none}}) {
    const char* const name = way.first;
    const Path path = session.file(fmt::format("coordinates-{}.mtx", name),
                                   [&](const Path& to) { write_file(to, c, way.second); });
    const Pin pin(path);
    const auto work = static_cast<double>(std::filesystem::file_size(path));
    const Path to = session.folder().scratch("imported.dbdf");
    Series series{fmt::format("mtx coordinate, order: {}, to dbdf (GB of text)", name),
                  kGigabytesPerSecond,
                  Cache::any,
                  {{"", 0.4}}};
    series.contenders.push_back(raw_reader(path, Per::byte));
    for (const unsigned threads : {1U, 2U}) {
      series.contenders.push_back(file_writer(
          threads == 1 ? "dapple" : "dapple, 2 threads", threads == 1 ? Role::dapple : Role::aside,
          "convert to a dbdf file in memory", work, to,
          [=] { convert_file(path, to, "dbdf", threads); }, [=] { return sum_of(to) == sum; }));
    }
    if (session.python().has("scipy")) {
      Contender peer{"scipy", Role::peer, "mmread to a coo_matrix", work, sum, {}};
      series.contenders.push_back(session.python().contender(
          std::move(peer), {{"do", "load_coordinates"}, {"file", path.string()}}));
    }
    session.measure(series);
    std::filesystem::remove(to);
  }
}

}  // namespace dapple::bench
