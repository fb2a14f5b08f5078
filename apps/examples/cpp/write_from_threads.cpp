// Writes a matrix tile by tile from several threads, then reads a corner of it.
//
//   write_from_threads OUT.dbdf
//
// prints
//   1000 x 1000 cells; the last one is 6
#include <dapple/dapple.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  constexpr std::uint64_t kRows = 1000, kCols = 1000;
  constexpr std::uint32_t kSide = 256;
  constexpr unsigned kThreads = 2;
  try {
    auto writer = dapple::MatrixWriter::create(argv[1], kRows, kCols, dapple::ValueType::f64,
                                               {.tile = dapple::TileShape{kSide, kSide}});
    // put() may be called from any thread, for tiles in any order.
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&writer, t] {
        for (std::uint64_t i = t * kSide; i < kRows; i += kThreads * kSide) {
          for (std::uint64_t j = 0; j < kCols; j += kSide) {
            const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(kSide, kRows - i));
            const auto cols = static_cast<std::uint32_t>(std::min<std::uint64_t>(kSide, kCols - j));
            const double value = static_cast<double>((i + j) / kSide);
            const std::vector<double> cells(std::size_t{rows} * cols, value);
            writer.put<double>({i, j}, {cells.data(), rows, cols});
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    writer.finish();  // the file appears now, whole

    const auto matrix = dapple::Matrix::open(argv[1]);
    const auto last = matrix.read<double>({{kRows - 1, kRows}, {kCols - 1, kCols}});
    std::printf("%llu x %llu cells; the last one is %g\n",
                static_cast<unsigned long long>(matrix.rows()),
                static_cast<unsigned long long>(matrix.cols()), last[0]);
  } catch (const dapple::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
