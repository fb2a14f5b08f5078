// W10: several processes sum all tiles of one file at once. How long until the last is done, and
// how much memory do they take together?
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/kernels.h"
#include "harness/usage.h"
#include "peers/hdf5_matrix.h"
#include "workloads/tiles.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

/// Opens a file, calls `done` with the sum of all cells, and only then closes.
using SumAll = std::function<void(const std::function<void(double)>& done)>;

class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("pipe failed");
  }
  ~Pipe() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void put(double value) const {
    if (::write(ends_[1], &value, sizeof value) != sizeof value) ::_exit(1);
  }
  double take() const {
    double value = 0;
    if (::read(ends_[0], &value, sizeof value) != sizeof value) {
      throw std::runtime_error("expected a figure of a child process, got none");
    }
    return value;
  }
  /// Waits until every process has called `let_go`.
  void wait() const {
    char byte;
    while (::read(ends_[0], &byte, 1) > 0) {
    }
  }
  void let_go() {
    ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// What ties the processes together.
struct Steps {
  Pipe start, all_summed, all_measured;  // barriers
  Pipe sums, memory;                     // what the children tell
};

/// A child's steps: start together, sum, tell; when all have summed, measure and tell; when all
/// have measured, leave, because shared pages are accounted to those who are left. An exception
/// ends it, and the parent misses its figures.
[[noreturn]] void be_child(const SumAll& sum_all, Steps& steps) noexcept {
  const auto before = memory_bytes("Pss");
  for (Pipe* barrier : {&steps.start, &steps.all_summed, &steps.all_measured}) barrier->let_go();
  steps.start.wait();
  sum_all([&](double sum) {
    steps.sums.put(sum);
    steps.all_summed.wait();
    steps.memory.put(static_cast<double>(memory_bytes("Pss")) - static_cast<double>(before));
    steps.all_measured.wait();
  });
  ::_exit(0);
}

/// Where each tile's cells start in dapple's file. Nothing stays mapped: a mapping of this process
/// would take its part of the shared pages.
std::vector<std::uint64_t> tile_offsets(const TileFiles& files) {
  const RawTiles raw(files.dapple, files.shape);
  std::vector<std::uint64_t> offsets(files.shape.grid() * files.shape.grid());
  for (std::uint64_t n = 0; n < offsets.size(); ++n) offsets[n] = raw.offset(n);
  return offsets;
}

/// Seconds and bytes together; the answer is the sum over all processes.
double run_processes(unsigned count, const SumAll& sum_all, double file_bytes, Sample& sample) {
  using Clock = std::chrono::steady_clock;
  Steps steps;
  std::vector<pid_t> children;
  for (unsigned k = 0; k < count; ++k) {
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) be_child(sum_all, steps);
    children.push_back(pid);
  }
  steps.sums.let_go();
  steps.memory.let_go();
  const auto begin = Clock::now();
  steps.start.let_go();
  double sum = 0, bytes = 0;
  for (unsigned k = 0; k < count; ++k) sum += steps.sums.take();
  sample.set(std::chrono::duration<double>(Clock::now() - begin).count());
  steps.all_summed.let_go();
  for (unsigned k = 0; k < count; ++k) bytes += steps.memory.take();
  steps.all_measured.let_go();
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  sample.note("PSS per byte of the file", bytes / file_bytes);
  return sum;
}

double sum_raw(const RawMap& map, const std::vector<std::uint64_t>& offsets, std::size_t cells) {
  double sum = 0;
  for (const std::uint64_t offset : offsets) sum += sum_doubles(map.data() + offset, cells);
  return sum;
}

double sum_dapple(const Matrix& matrix, const TileShapeOf& shape) {
  double sum = 0;
  for (std::uint64_t i = 0; i < shape.grid(); ++i) {
    for (std::uint64_t j = 0; j < shape.grid(); ++j) {
      sum += sum_doubles(matrix.tile(i, j).dense_view<double>().row_bytes(0), shape.tile_cells());
    }
  }
  return sum;
}

double sum_hdf5(Hdf5Matrix& matrix, const TileShapeOf& shape) {
  std::vector<double> buffer(shape.tile_cells());
  double sum = 0;
  for (std::uint64_t row = 0; row < shape.side; row += shape.tile) {
    for (std::uint64_t col = 0; col < shape.side; col += shape.tile) {
      matrix.read({{row, row + shape.tile}, {col, col + shape.tile}}, buffer.data());
      sum += sum_doubles(buffer);
    }
  }
  return sum;
}

}  // namespace

void run_w10(Session& session) {
  const TileShapeOf shape = session.quick() ? TileShapeOf{512, 64} : TileShapeOf{16384, 256};
  const TileFiles files = make_tile_files(session, shape);
  session.describe(fmt::format("{0} x {0} f64 in tiles of {1} x {1}; the time includes opening",
                               shape.side, shape.tile));
  double expected = 0;
  for (const double sum : tile_sums(shape)) expected += sum;
  const auto offsets = tile_offsets(files);
  const auto bytes = static_cast<double>(std::filesystem::file_size(files.dapple));

  for (const unsigned count : {1U, 2U, 4U, 8U}) {
    const auto contender = [&](std::string name, Role role, std::string how, SumAll sum_all) {
      return Contender{std::move(name),
                       role,
                       std::move(how),
                       count * static_cast<double>(shape.side * shape.side * sizeof(double)),
                       count * expected,
                       [count, bytes, sum_all = std::move(sum_all)](Sample& s) {
                         return run_processes(count, sum_all, bytes, s);
                       }};
    };
    Series series{fmt::format("sum all tiles, {} process{}", count, count == 1 ? "" : "es"),
                  kGigabytesPerSecond,
                  Cache::warm,
                  {{"limit", 1 / 0.97}, {"limit", 1.01, "PSS per byte of the file"}}};
    series.contenders.push_back(
        contender("raw mapping", Role::limit, "mmap in each process", [&](const auto& done) {
          const RawMap map(files.dapple);
          done(sum_raw(map, offsets, shape.tile_cells()));
        }));
    series.contenders.push_back(
        contender("dapple", Role::dapple, "Matrix::open in each process", [&](const auto& done) {
          const auto matrix = Matrix::open(files.dapple);
          done(sum_dapple(matrix, shape));
        }));
    if constexpr (kHasHdf5) {
      series.contenders.push_back(
          contender("HDF5, default cache", Role::peer, "H5Dread tile by tile in each process",
                    [&](const auto& done) {
                      Hdf5Matrix matrix(files.hdf5, ValueType::f64, kHdf5DefaultCache);
                      done(sum_hdf5(matrix, shape));
                    }));
    }
    session.measure(series);
  }
}

}  // namespace dapple::bench
