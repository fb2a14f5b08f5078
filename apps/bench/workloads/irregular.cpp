// W12: blocks of all sizes, found by their position and by a cell inside.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dapple/dapple.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "peers/lmdb_store.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

constexpr std::uint64_t kSide = 1 << 20;  // rows and columns of the matrix

/// Strips of rows of random height, each cut into columns at random places.
struct Partition {
  struct Rect {
    std::uint64_t rx, cx;
    std::uint32_t rows, cols;
  };
  std::vector<Rect> rects;  // by (rx, cx)
};

/// Ascending cuts from 0 to kSide: `count` pieces.
std::vector<std::uint64_t> random_cuts(Random& random, std::size_t count) {
  std::vector<std::uint64_t> cuts{0, kSide};
  while (cuts.size() < count + 1) {
    for (std::size_t k = cuts.size(); k < count + 1; ++k)
      cuts.push_back(1 + random.below(kSide - 1));
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
  return cuts;
}

Partition make_partition(std::size_t strips, std::size_t per_strip) {
  Random random(12);
  Partition partition;
  const auto rows = random_cuts(random, strips);
  for (std::size_t i = 0; i < strips; ++i) {
    const auto cols = random_cuts(random, per_strip);
    for (std::size_t j = 0; j < per_strip; ++j) {
      partition.rects.push_back({rows[i], cols[j],
                                 static_cast<std::uint32_t>(rows[i + 1] - rows[i]),
                                 static_cast<std::uint32_t>(cols[j + 1] - cols[j])});
    }
  }
  return partition;
}

void make_dapple_partition(const Path& path, const Partition& partition) {
  WriteOptions options;
  options.sync = false;
  auto writer = MatrixWriter::create(path, kSide, kSide, ValueType::u8, options);
  const std::vector<Triplet<std::uint8_t>> one = {{0, 0, 1}};
  for (const auto& r : partition.rects) {
    writer.put<std::uint8_t>({r.rx, r.cx}, TileShape{r.rows, r.cols}, one);
  }
  writer.finish();
}

std::uint64_t key_of(std::uint64_t rx, std::uint64_t cx) { return rx << 32 | cx; }

void make_lmdb_partition(const Path& path, const Partition& partition) {
  LmdbMaker maker(path, partition.rects.size() * 256 + (64 << 20));
  for (const auto& r : partition.rects) {
    maker.append(key_of(r.rx, r.cx), std::as_bytes(std::span(&r.rows, 1)));
  }
  maker.finish();
}

/// A block, and a cell inside it.
struct Wanted {
  std::uint64_t rx, cx, row, col;
};

std::vector<Wanted> random_wanted(const Partition& partition, std::size_t count) {
  Random random(13);
  std::vector<Wanted> wanted(count);
  for (Wanted& w : wanted) {
    const auto& r = partition.rects[random.below(partition.rects.size())];
    w = {r.rx, r.cx, r.rx + random.below(r.rows), r.cx + random.below(r.cols)};
  }
  return wanted;
}

/// The answer of a lookup: where the block starts.
double answer(std::uint64_t rx, std::uint64_t cx) { return static_cast<double>(rx + cx); }

}  // namespace

void run_w12(Session& session) {
  const std::size_t side = session.sized<std::size_t>(1000, 30);
  const Partition partition = make_partition(side, side);
  session.describe(fmt::format("{} blocks of random sizes", partition.rects.size()));
  const auto make = [&](const char* ending, const auto& how) {
    return session.file(fmt::format("irregular-{}.{}", side, ending),
                        [&](const Path& path) { how(path, partition); });
  };
  const Path path = make("dbdf", make_dapple_partition);
  std::vector<Pin> pins;
  pins.emplace_back(path);
  const auto matrix = Matrix::open(path);
  const auto wanted = random_wanted(partition, session.sized<std::size_t>(200'000, 1000));
  double expected = 0;
  for (const Wanted& w : wanted) expected += answer(w.rx, w.cx);

  const auto contender = [&](std::string name, Role role, std::string how, const auto& find) {
    return Contender{std::move(name),
                     role,
                     std::move(how),
                     static_cast<double>(wanted.size()),
                     expected,
                     [&wanted, find](Sample&) {
                       double sum = 0;
                       for (const Wanted& w : wanted) sum += find(w);
                       return sum;
                     }};
  };
  const auto by_key = [](const Partition::Rect& r, std::uint64_t key) {
    return key_of(r.rx, r.cx) < key;
  };
  const std::vector<Goal> goals = {{"", 1000}};

  Series positions{"look up by (rx, cx)", kNanoseconds, Cache::warm, goals};
  positions.contenders.push_back(
      contender("sorted array", Role::limit, "std::lower_bound in memory", [&](const Wanted& w) {
        const auto at = std::lower_bound(partition.rects.begin(), partition.rects.end(),
                                         key_of(w.rx, w.cx), by_key);
        return answer(at->rx, at->cx);
      }));
  positions.contenders.push_back(contender(
      "dapple", Role::dapple, "matrix.find_block({rx, cx})->info()", [&](const Wanted& w) {
        const BlockInfo info = matrix.find_block({w.rx, w.cx})->info();
        return answer(info.pos.rx, info.pos.cx);
      }));
  if constexpr (kHasLmdb) {
    const Path lmdb = make("lmdb", make_lmdb_partition);
    pins.emplace_back(lmdb);
    const auto store = std::make_shared<LmdbStore>(lmdb);
    const auto reader = std::make_shared<LmdbStore::Reader>(*store);
    positions.contenders.push_back(contender("LMDB", Role::peer, "mdb_get of (rx, cx) in a u64",
                                             [store, reader](const Wanted& w) {
                                               reader->find(key_of(w.rx, w.cx));
                                               return answer(w.rx, w.cx);
                                             }));
  }
  session.measure(positions);

  Series cells{"look up by a cell inside", kNanoseconds, Cache::warm, goals};
  cells.contenders.push_back(contender(
      "sorted array", Role::limit, "std::upper_bound of the strip, then in the strip",
      [&, side](const Wanted& w) {
        std::size_t low = 0, high = side;  // strips
        while (high - low > 1) {
          const std::size_t middle = (low + high) / 2;
          (partition.rects[middle * side].rx <= w.row ? low : high) = middle;
        }
        const auto first = partition.rects.begin() + static_cast<std::ptrdiff_t>(low * side);
        const auto at = std::upper_bound(
            first, first + static_cast<std::ptrdiff_t>(side), w.col,
            [](std::uint64_t col, const Partition::Rect& r) { return col < r.cx; });
        return answer(std::prev(at)->rx, std::prev(at)->cx);
      }));
  cells.contenders.push_back(contender(
      "dapple", Role::dapple, "matrix.find_cover(row, col)->info()", [&](const Wanted& w) {
        const BlockInfo info = matrix.find_cover(w.row, w.col)->info();
        return answer(info.pos.rx, info.pos.cx);
      }));
  session.measure(cells);
}

}  // namespace dapple::bench
