// W15, cold: rows at random of a file that is on storage and not in memory.
#include "workloads/cold_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "harness/helper_process.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "harness/raw_file.h"
#include "harness/short_memory.h"
#include "harness/usage.h"
#include "workloads/cells_file.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// Reads that are under way at once.
constexpr std::size_t kDepth = 64;
/// Rows that are gathered at a time where memory is short.
constexpr std::size_t kBatch = 1024;

/// Where the bytes of rows are in a file.
struct Place {
  std::uint64_t offset, bytes;
};

/// Reads all places, kDepth at a time; the sum of their last bytes.
double read_places(const Path& path, const std::vector<Place>& places) {
  const RawFile file(path);
  std::vector<double> sums(kDepth);
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < kDepth; ++i) {
    readers.emplace_back([&, i] {
      std::vector<std::byte> buffer;
      for (std::size_t k = i; k < places.size(); k += kDepth) {
        buffer.resize(places[k].bytes);
        file.read_at(places[k].offset, buffer);
        sums[i] += std::to_integer<unsigned>(buffer.back());
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

/// A contender whose time does not hold opening and closing.
template <class Open, class Work>
Contender timed(std::string name, Role role, std::string how, const Path& path,
                const std::vector<Place>& places, double expected, Open open, Work work) {
  double bytes = 0;  // of the pages that the rows are on
  for (const Place& p : places) {
    bytes += static_cast<double>(((p.offset + p.bytes - 1) / 4096 - p.offset / 4096 + 1) * 4096);
  }
  return {std::move(name),
          role,
          std::move(how),
          static_cast<double>(places.size()),
          expected,
          [=](Sample& sample) {
            using Clock = std::chrono::steady_clock;
            const auto opened = open(path);
            const std::uint64_t before = bytes_read_from_storage();
            const auto start = Clock::now();
            const double sum = work(opened);
            sample.set(std::chrono::duration<double>(Clock::now() - start).count());
            sample.note("bytes read per byte",
                        static_cast<double>(bytes_read_from_storage() - before) / bytes);
            return sum;
          },
          [path] { evict(path); }};
}

/// Where rows are in the file's only block: a count and pairs of a column and a byte, each right
/// behind the row before it.
std::vector<Place> places_of(const Path& path, const SparseShape& shape,
                             const std::vector<std::uint64_t>& rows) {
  std::uint64_t first = 0;
  {
    const Matrix matrix = Matrix::open(path);
    for (const BlockInfo& info : matrix.blocks()) first = info.offset + 18;
  }
  const std::uint64_t step = 4 + std::uint64_t{shape.per_row} * 5;
  std::vector<Place> places;
  for (const std::uint64_t row : rows) places.push_back({first + row * step, step});
  return places;
}

std::vector<std::uint64_t> some_rows(const SparseShape& shape, std::size_t count) {
  std::vector<std::uint64_t> rows(count);
  Random random(20);
  for (std::uint64_t& row : rows) row = random.below(shape.rows);
  return rows;
}

double sum_of_last_values(const SparseShape& shape, const std::vector<std::uint64_t>& rows) {
  double sum = 0;
  for (const std::uint64_t row : rows) {
    sum += shape.value(static_cast<std::uint32_t>(row), shape.per_row - 1);
  }
  return sum;
}

/// Gathers these rows; the sum of their last values.
double gather_places(const Matrix& matrix, std::span<const std::uint64_t> rows, Csr<float>& out) {
  gather_csr(matrix, rows, out);
  double sum = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) sum += out.values[out.row_ptr[k + 1] - 1];
  return sum;
}

void measure_evicted(Session& session, const SparseShape& shape, const Path& path) {
  const auto rows = some_rows(shape, session.sized<std::size_t>(4096, 64));
  const auto places = places_of(path, shape, rows);
  const double sum = sum_of_last_values(shape, rows);
  Series series{fmt::format("cold rows of CSR, {} a row", shape.per_row),
                kMicroseconds,
                Cache::any,
                {{"limit", 1.25}, {"", 1.2, "bytes read per byte"}}};
  series.contenders.push_back(timed(
      "pread", Role::limit, fmt::format("a pread per row, {} threads", kDepth), path, places, sum,
      [](const Path& p) { return p; }, [places](const Path& p) { return read_places(p, places); }));
  const auto out = std::make_shared<Csr<float>>();
  series.contenders.push_back(timed(
      "dapple", Role::dapple, "gather_csr<float>, 1 thread", path, places, sum,
      [](const Path& p) { return Matrix::open(p); },
      [rows, out](const Matrix& matrix) { return gather_places(matrix, rows, *out); }));
  session.measure(series);
}

/// Both contenders share memory for a fifth of the file, and so what of it is in the page cache.
/// Left out where this user may make no control groups.
void measure_short(Session& session, const SparseShape& shape, const Path& path) {
  const auto memory = std::make_shared<ShortMemory>(std::filesystem::file_size(path) / 5);
  if (!memory->works()) return;
  const auto rows = some_rows(shape, session.sized<std::size_t>(16 * kBatch, 64));
  const auto places = places_of(path, shape, rows);
  const double sum = sum_of_last_values(shape, rows);
  evict(path);  // what is in the page cache already counts for nobody
  Series series{fmt::format("rows of CSR, {} a row, file 5 x the memory", shape.per_row),
                kMicroseconds,
                Cache::any,
                {{"limit", 1.25}}};
  const auto contender = [&](std::string name, Role role, std::string how,
                             std::function<double()> work) {
    series.contenders.push_back({std::move(name), role, std::move(how),
                                 static_cast<double>(rows.size()), sum,
                                 [memory, work = std::move(work), inside = false](Sample&) mutable {
                                   if (!std::exchange(inside, true)) memory->enter();
                                   return work();
                                 }});
    move_to_helper(series.contenders.back());
  };
  contender("pread", Role::limit, fmt::format("a pread per row, {} threads", kDepth),
            [path, places] { return read_places(path, places); });
  contender("dapple", Role::dapple, "gather_csr<float> of 1024 rows at a time, 1 thread",
            [path, rows, matrix = std::optional<Matrix>(), out = Csr<float>()]() mutable {
              if (!matrix) matrix = Matrix::open(path);
              double total = 0;
              const std::span<const std::uint64_t> all(rows);
              for (std::size_t first = 0; first < all.size(); first += kBatch) {
                const std::size_t count = std::min(kBatch, all.size() - first);
                total += gather_places(*matrix, all.subspan(first, count), out);
              }
              return total;
            });
  session.measure(series);
}

}  // namespace

void measure_cold_rows(Session& session, const SparseShape& shape) {
  // A file of its own: what was evicted comes back in smaller pages, which others would notice.
  const Path path =
      session.file(fmt::format("cold-rows-{}-{}-{}.dbdf", shape.rows, shape.cols, shape.per_row),
                   [&](const Path& to) {
                     WriteOptions options;
                     options.kind = KindChoice::csr;
                     write_sparse(to, shape, make_arrays(shape), options);
                   });
  measure_evicted(session, shape, path);
  measure_short(session, shape, path);
}

}  // namespace dapple::bench
