// W5: open a file of 10^3 to 10^7 blocks and look at one cell of one block. Closing is not timed.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "dapple/dapple.h"
#include "harness/child.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "harness/raw_file.h"
#include "harness/usage.h"
#include "peers/hdf5_matrix.h"
#include "peers/lmdb_store.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Steady = std::chrono::steady_clock;
using Path = std::filesystem::path;

constexpr std::uint32_t kTile = 8;
constexpr std::size_t kTileCells = kTile * kTile;

/// Blocks of 8 x 8 u8.
struct Blocks {
  std::uint64_t down, across;
  std::uint64_t count() const { return down * across; }
  std::uint64_t rows() const { return down * kTile; }
  std::uint64_t cols() const { return across * kTile; }
};

template <class Take>
void for_each_block(const Blocks& blocks, const Take& take) {
  std::array<std::uint8_t, kTileCells> cells;
  for (std::uint64_t i = 0; i < blocks.down; ++i) {
    for (std::uint64_t j = 0; j < blocks.across; ++j) {
      for (std::size_t k = 0; k < kTileCells; ++k) {
        cells[k] = cell(i * kTile + k / kTile, j * kTile + k % kTile);
      }
      take(i, j, cells);
    }
  }
}

void make_dapple_grid(const Path& path, const Blocks& blocks) {
  WriteOptions options;
  options.tile = {kTile, kTile};
  options.kind = KindChoice::dense;
  auto writer = MatrixWriter::create(path, blocks.rows(), blocks.cols(), ValueType::u8, options);
  for_each_block(blocks, [&](std::uint64_t i, std::uint64_t j, const auto& cells) {
    writer.put<std::uint8_t>({i * kTile, j * kTile}, {cells.data(), kTile, kTile});
  });
  writer.finish();
}

void make_lmdb_grid(const Path& path, const Blocks& blocks) {
  LmdbMaker maker(path, blocks.count() * 256 + (64 << 20));
  for_each_block(blocks, [&](std::uint64_t i, std::uint64_t j, const auto& cells) {
    maker.append(i * blocks.across + j, std::as_bytes(std::span(cells)));
  });
  maker.finish();
}

void make_hdf5(const Path& path, const Blocks& blocks) {
  Hdf5Maker maker(path, {blocks.rows(), blocks.cols(), {kTile, kTile}, ValueType::u8});
  for_each_block(blocks, [&](std::uint64_t i, std::uint64_t j, const auto& cells) {
    maker.put(i * kTile, j * kTile, cells.data());
  });
  maker.finish();
}

/// A block to fetch, and the cell to look at: its first.
struct Target {
  std::uint64_t i, j;
  double value() const { return cell(i * kTile, j * kTile); }
};

/// The limit: dapple's file without dapple. The trailer says where the index is, its entry where
/// the block is (lib/dbdf/FORMAT.md).
double fetch_by_pread(const RawFile& file, const Blocks& blocks, const Target& wanted) {
  const auto u64_at = [](std::span<const std::byte> bytes, std::size_t at) {
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  const std::uint64_t size = file.size();
  std::array<std::byte, 64> trailer, entry;
  file.read_at(size - trailer.size(), trailer);
  const std::uint64_t index = size - u64_at(trailer, 8);
  file.read_at(index + 64 * (1 + wanted.i * blocks.across + wanted.j), entry);
  std::array<std::byte, kTileCells> cells;
  file.read_at(u64_at(entry, 16) + 10, cells);
  return static_cast<double>(cells[0]);
}

/// A way of opening: `open(wanted, value)` opens, sets the value, and returns what closes again
/// when it is destroyed.
template <class Open>
struct Way {
  std::string name;
  Role role;
  std::string how;
  Open open;
};
template <class Open>
Way(std::string, Role, std::string, Open) -> Way<Open>;

struct OpenFiles {
  Blocks blocks;
  Path dapple, lmdb, hdf5;
};

/// Calls take(way) for each way of opening.
template <class Take>
void for_each_way(const OpenFiles& files, const Take& take) {
  take(Way{"three preads", Role::limit, "open, fstat, pread of trailer, index entry and block",
           [files](const Target& wanted, double& value) {
             RawFile file(files.dapple);
             value = fetch_by_pread(file, files.blocks, wanted);
             return file;
           }});
  take(Way{"dapple", Role::dapple, "Matrix::open(path).tile(i, j).dense_view<uint8_t>()(0, 0)",
           [files](const Target& wanted, double& value) {
             Matrix matrix = Matrix::open(files.dapple);
             value = matrix.tile(wanted.i, wanted.j).dense_view<std::uint8_t>()(0, 0);
             return matrix;
           }});
  if constexpr (kHasLmdb) {
    take(Way{"LMDB", Role::peer, "environment, transaction, mdb_get",
             [files](const Target& wanted, double& value) {
               auto store = std::make_unique<LmdbStore>(files.lmdb);
               auto reader = std::make_unique<LmdbStore::Reader>(*store);
               value =
                   static_cast<double>(*reader->find(wanted.i * files.blocks.across + wanted.j));
               return std::pair(std::move(store), std::move(reader));
             }});
  }
  if constexpr (kHasHdf5) {
    take(Way{"HDF5", Role::peer, "H5Fopen, H5Dopen2, H5Dread of one cell; default chunk cache",
             [files](const Target& wanted, double& value) {
               auto matrix =
                   std::make_unique<Hdf5Matrix>(files.hdf5, ValueType::u8, kHdf5DefaultCache);
               std::uint8_t read = 0;
               const std::uint64_t row = wanted.i * kTile, col = wanted.j * kTile;
               matrix->read({{row, row + 1}, {col, col + 1}}, &read);
               value = read;
               return matrix;
             }});
  }
}

std::vector<Target> random_blocks(const Blocks& blocks, std::size_t count) {
  Random random(5);
  std::vector<Target> wanted(count);
  for (Target& w : wanted) w = {random.below(blocks.down), random.below(blocks.across)};
  return wanted;
}

double total(const std::vector<Target>& wanted) {
  double sum = 0;
  for (const Target& w : wanted) sum += w.value();
  return sum;
}

/// Opens once for each of `wanted`; only opening and fetching is timed.
template <class Open>
double open_all(const Open& open, const std::vector<Target>& wanted, Sample& sample) {
  double sum = 0, seconds = 0;
  for (const Target& w : wanted) {
    const auto start = Steady::now();
    double value = 0;
    const auto held = open(w, value);
    seconds += std::chrono::duration<double>(Steady::now() - start).count();
    sum += value;
  }
  sample.set(seconds);
  return sum;
}

/// Private memory that an opened file with one fetched block costs.
template <class Open>
double growth(const Open& open, const Target& wanted) {
  return in_child([&] {
    memory_bytes("Private_Dirty");  // its own buffers are there from now on
    const auto before = static_cast<double>(memory_bytes("Private_Dirty"));
    double value = 0;
    const auto held = open(wanted, value);
    return static_cast<double>(memory_bytes("Private_Dirty")) - before;
  });
}

void measure_opens(Session& session, const OpenFiles& files) {
  const auto blocks = static_cast<double>(files.blocks.count());
  const std::string size = fmt::format("10^{:.0f} blocks", std::log10(blocks));
  const std::vector<Goal> goals = {{"limit", 1.5}, {"HDF5", 1.0 / 8}, {"LMDB", 1.0 / 4}};
  const auto many = random_blocks(files.blocks, session.sized<std::size_t>(200, 5));

  Series hot{"open and fetch, back to back, " + size, kMicroseconds, Cache::warm, goals};
  for_each_way(files, [&](const auto& way) {
    hot.contenders.push_back(
        {way.name, way.role, way.how, static_cast<double>(many.size()), total(many),
         [&many, open = way.open](Sample& sample) { return open_all(open, many, sample); }});
  });
  hot.at = blocks;
  session.measure(hot);

  Series idle{"open and fetch, after 60 ms of idling, " + size, kMicroseconds, Cache::warm, goals};
  const std::vector<Target> one(many.begin(), many.begin() + 1);
  for_each_way(files, [&](const auto& way) {
    idle.contenders.push_back(
        {way.name, way.role, way.how, 1, total(one),
         [one, open = way.open](Sample& sample) { return open_all(open, one, sample); },
         [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }});
  });
  idle.at = blocks;
  idle.rounds = 21;
  session.measure(idle);

  Series memory{"private memory of an open file, " + size, kKibibytes, Cache::any, {}};
  for_each_way(files, [&](const auto& way) {
    memory.contenders.push_back({way.name, way.role == Role::limit ? Role::aside : way.role,
                                 way.how, 1, 0, [one, open = way.open](Sample& sample) {
                                   sample.set(growth(open, one[0]));
                                   return 0.0;
                                 }});
  });
  memory.at = blocks;
  session.measure(memory);
}

}  // namespace

void run_w5(Session& session) {
  session.describe("blocks of 8 x 8 u8, a thousand in a row of blocks");
  const std::vector<std::uint64_t> down = session.quick()
                                              ? std::vector<std::uint64_t>{1}
                                              : std::vector<std::uint64_t>{1, 100, 1000, 10000};
  for (const std::uint64_t d : down) {
    const Blocks blocks{d, 1000};
    const auto make = [&](const char* ending, const auto& how) {
      return session.file(fmt::format("blocks-{}.{}", blocks.count(), ending),
                          [&](const Path& path) { how(path, blocks); });
    };
    OpenFiles files{blocks, make("dbdf", make_dapple_grid), {}, {}};
    if constexpr (kHasLmdb) files.lmdb = make("lmdb", make_lmdb_grid);
    if constexpr (kHasHdf5) files.hdf5 = make("h5", make_hdf5);
    std::vector<Pin> pins;
    for (const Path& path : {files.dapple, files.lmdb, files.hdf5}) {
      if (!path.empty()) pins.emplace_back(path);
    }
    measure_opens(session, files);
  }
}

}  // namespace dapple::bench
