// W15, cold: rows at random of a file that is on storage and not in memory.
#include "workloads/cold_rows.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "harness/page_cache.h"
#include "harness/random.h"
#include "harness/raw_file.h"
#include "harness/usage.h"
#include "workloads/cells_file.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// Reads that are under way at once.
constexpr std::size_t kDepth = 64;

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
  std::vector<std::uint64_t> rows(session.sized<std::size_t>(4096, 64));
  Random random(20);
  for (std::uint64_t& row : rows) row = random.below(shape.rows);
  // A row is a count and pairs of a column and a byte, right behind the one before it.
  std::uint64_t first = 0;
  {
    const Matrix matrix = Matrix::open(path);
    for (const BlockInfo& info : matrix.blocks()) first = info.offset + 18;
  }
  const std::uint64_t step = 4 + std::uint64_t{shape.per_row} * 5;
  std::vector<Place> places;
  double sum = 0;  // of the last values
  for (const std::uint64_t row : rows) {
    places.push_back({first + row * step, step});
    sum += shape.value(static_cast<std::uint32_t>(row), shape.per_row - 1);
  }
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
      [rows, out](const Matrix& matrix) {
        gather_csr(matrix, rows, *out);
        double total = 0;
        for (std::size_t k = 0; k < rows.size(); ++k) total += out->values[out->row_ptr[k + 1] - 1];
        return total;
      }));
  session.measure(series);
}

}  // namespace dapple::bench
