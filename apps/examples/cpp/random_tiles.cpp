// Reads cells of random tiles through the accessor, from several threads that share one matrix. The
// tiles are stored as u8, since that is the smallest type that holds their values; they read as
// double.
//
//   random_tiles OUT.dbdf
//
// prints
//   8 x 8 tiles; tile (3, 5) stores u8
//   2 threads saw 4000 cells, each of them right
#include <dapple/dapple.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::uint32_t kSide = 128, kTiles = 8;

void write(const char* path) {
  auto writer =
      dapple::MatrixWriter::create(path, kTiles * kSide, kTiles * kSide, dapple::ValueType::f64,
                                   {.tile = dapple::TileShape{kSide, kSide}});
  for (std::uint64_t i = 0; i < kTiles; ++i) {
    for (std::uint64_t j = 0; j < kTiles; ++j) {
      const std::vector<double> cells(kSide * kSide, static_cast<double>(10 * i + j));
      writer.put<double>({i * kSide, j * kSide}, {cells.data(), kSide, kSide});
    }
  }
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  try {
    write(argv[1]);
    const auto matrix = dapple::Matrix::open(argv[1]);
    const auto stored = matrix.tile(3, 5).info().value_type;
    std::printf("%u x %u tiles; tile (3, 5) stores %s\n", kTiles, kTiles,
                std::string(dapple::name(stored)).c_str());

    constexpr int kThreads = 2, kEach = 2000;
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < kThreads; ++seed) {
      threads.emplace_back([&matrix, &right, seed] {
        const auto tiles = matrix.tiles<double>();  // once for each thread, outside of the loop
        std::mt19937 random(seed);
        int found = 0;
        for (int k = 0; k < kEach; ++k) {
          const std::uint64_t i = random() % kTiles, j = random() % kTiles;
          const auto tile = tiles(i, j);
          found += tile(random() % kSide, random() % kSide) == static_cast<double>(10 * i + j);
        }
        right += found;
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%d threads saw %d cells, each of them right\n", kThreads, right.load());
    return right == kThreads * kEach ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const dapple::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
