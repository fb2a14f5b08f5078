// W6: open a file that has no index, so that its blocks must be found by hopping from header to
// header; then the same file with an index beside it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dapple/dapple.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "harness/raw_file.h"
#include "harness/usage.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

// The published layout of a dense f64 matrix (lib/dbdf/FORMAT.md): where the body starts, what
// stands in front of a block's cells, and where in there its rows and columns are.
constexpr std::uint64_t kBody = 19, kBlockHead = 26, kRowsAt = 16, kColsAt = 20;

/// Dense tiles of f64 without index, padding or hashes.
struct PlainFile {
  Path path;
  std::uint64_t down, across;  // tiles
  std::uint32_t tile;
  std::uint64_t count() const { return down * across; }
};

void make_plain(const Path& path, const PlainFile& file) {
  WriteOptions options;
  options.tile = {file.tile, file.tile};
  options.kind = KindChoice::dense;
  options.narrow = false;
  options.plain = true;
  auto writer = MatrixWriter::create(path, file.down * file.tile, file.across * file.tile,
                                     ValueType::f64, options);
  std::vector<double> cells(std::size_t{file.tile} * file.tile);
  for (std::uint64_t k = 0; k < file.count(); ++k) {
    std::fill(cells.begin(), cells.end(), cell(k, 0));
    writer.put<double>({k / file.across * file.tile, k % file.across * file.tile},
                       {cells.data(), file.tile, file.tile});
  }
  writer.finish();
}

PlainFile make(const Session& session, std::uint64_t down, std::uint64_t across,
               std::uint32_t tile) {
  PlainFile file{{}, down, across, tile};
  file.path = session.file(fmt::format("plain-{}-{}.dbdf", file.count(), tile),
                           [&](const Path& path) { make_plain(path, file); });
  return file;
}

/// Calls head(offset) for each block; it gives a block's first `kBlockHead` bytes. Returns how many
/// blocks there are.
template <class Head>
double walk(std::uint64_t size, const Head& head) {
  double blocks = 0;
  for (std::uint64_t at = kBody; at < size; ++blocks) {
    const std::byte* const bytes = head(at);
    std::uint32_t rows, cols;
    std::memcpy(&rows, bytes + kRowsAt, sizeof rows);
    std::memcpy(&cols, bytes + kColsAt, sizeof cols);
    at += kBlockHead + std::uint64_t{rows} * cols * sizeof(double);
  }
  return blocks;
}

double walk_map(const Path& path) {
  const RawMap map(path);
  return walk(map.size(), [&](std::uint64_t at) { return map.data() + at; });
}

/// One small read per block: right for large blocks on cold storage.
double walk_by_heads(const Path& path) {
  const RawFile file(path);
  std::array<std::byte, kBlockHead> head;
  return walk(file.size(), [&](std::uint64_t at) {
    file.read_at(at, head);
    return head.data();
  });
}

/// Everything, in large reads: right for small blocks.
double walk_by_windows(const Path& path) {
  const RawFile file(path);
  std::vector<std::byte> window(std::size_t{1} << 20);
  std::uint64_t begin = 0, end = 0;
  return walk(file.size(), [&](std::uint64_t at) {
    if (at < begin || at + kBlockHead > end) {
      begin = at;
      end = at + file.read_some_at(at, window);
    }
    return window.data() + (at - begin);
  });
}

double open_and_count(const Path& path) {
  const Matrix matrix = Matrix::open(path);
  return static_cast<double>(matrix.blocks().size());
}

Contender walker(std::string name, Role role, std::string how, const PlainFile& file,
                 double (*count)(const Path&), bool cold) {
  Contender c{std::move(name), role, std::move(how), 1, static_cast<double>(file.count()), {}};
  c.run = [path = file.path, count](Sample& sample) {
    const std::uint64_t before = bytes_read_from_storage();
    const double blocks = count(path);
    sample.note("MB read", static_cast<double>(bytes_read_from_storage() - before) / 1e6);
    return blocks;
  };
  if (cold) c.prepare = [path = file.path] { evict(path); };
  return c;
}

void measure_walk(Session& session, const PlainFile& file, const std::string& blocks) {
  for (const bool cold : {false, true}) {
    std::vector<Pin> pins;
    if (!cold) pins.emplace_back(file.path);
    Series series{fmt::format("open by walking, {}, {}", blocks, cold ? "cold" : "warm"),
                  kMilliseconds,
                  cold ? Cache::any : Cache::warm,
                  {{"limit", cold ? 1.1 : 1.2}}};
    series.contenders = {
        walker("walk through a map", Role::limit, "mmap, header to header", file, walk_map, cold),
        walker("walk by reads of headers", Role::limit, "one pread of 26 bytes per block", file,
               walk_by_heads, cold),
        walker("walk by reads of 1 MiB", Role::limit, "everything is read", file, walk_by_windows,
               cold),
        walker("dapple", Role::dapple, "Matrix::open(path), which also builds an index", file,
               open_and_count, cold)};
    session.measure(series);
  }
}

/// With the index beside it: the limit reads its binding line and trailer, an entry, the cells.
void measure_sidecar(Session& session, const PlainFile& file) {
  constexpr std::size_t kOpens = 50;
  const Pin pin(file.path);
  write_sidecar(file.path);
  const Path sidecar = sidecar_path(file.path);
  Random random(6);
  std::vector<std::uint64_t> wanted(kOpens);
  for (auto& k : wanted) k = random.below(file.count());
  double expected = 0;
  for (const std::uint64_t k : wanted) expected += cell(k, 0);

  const auto contender = [&](std::string name, Role role, std::string how, const auto& open) {
    return Contender{
        std::move(name), role, std::move(how), kOpens, expected, [&wanted, open](Sample&) {
          double sum = 0;
          for (const std::uint64_t k : wanted) sum += open(k);
          return sum;
        }};
  };
  Series series{"open with an index beside the file", kMicroseconds, Cache::warm, {{"limit", 1.5}}};
  series.contenders.push_back(contender("five preads", Role::limit,
                                        "header, binding line, trailer, entry, cells; two files",
                                        [&](std::uint64_t k) {
                                          const RawFile data(file.path), index(sidecar);
                                          std::array<std::byte, 64> line;
                                          data.read_at(0, line);
                                          index.read_at(0, line);
                                          const std::uint64_t size = index.size();
                                          index.read_at(size - line.size(), line);
                                          std::uint64_t bytes, offset;
                                          std::memcpy(&bytes, line.data() + 8, sizeof bytes);
                                          index.read_at(size - bytes + 64 * (1 + k), line);
                                          std::memcpy(&offset, line.data() + 16, sizeof offset);
                                          std::array<std::byte, sizeof(double)> first;
                                          data.read_at(offset + 10, first);
                                          double value;
                                          std::memcpy(&value, first.data(), sizeof value);
                                          return value;
                                        }));
  series.contenders.push_back(contender(
      "dapple", Role::dapple, "Matrix::open(path), one cell of one tile", [&](std::uint64_t k) {
        const auto matrix = Matrix::open(file.path);
        return matrix.tile(k / file.across, k % file.across).dense_view<double>()(0, 0);
      }));
  session.measure(series);
  std::filesystem::remove(sidecar);
}

}  // namespace

void run_w6(Session& session) {
  const PlainFile small = make(session, session.sized<std::uint64_t>(1000, 10), 1000, 8);
  const PlainFile large = session.quick() ? make(session, 2, 32, 64) : make(session, 32, 32, 256);
  session.describe(fmt::format("f64 without index: {} blocks of {} x {}; {} blocks of {} x {}",
                               small.count(), small.tile, small.tile, large.count(), large.tile,
                               large.tile));
  measure_walk(session, small, "small blocks");
  measure_walk(session, large, "large blocks");
  measure_sidecar(session, small);
}

}  // namespace dapple::bench
