// Many at once: processes and threads that read a file while it is replaced every few
// milliseconds. Each sees one whole version of it. Then the sidecar of one file, written by
// several processes while others open it: each sees one of theirs, whole, or none.
//
// usage: neighbours SECONDS [PROCESSES [THREADS]]
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "tests/children.h"
#include "tests/support.h"

using namespace dapple;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Version v: (10 + v % 50) x 40 cells, each of them v, in tiles of 8 x 8. Every third one is plain.
void write_version(const fs::path& path, std::uint32_t v) {
  const std::uint64_t rows = 10 + v % 50, cols = 40;
  WriteOptions options;
  options.tile = TileShape{8, 8};
  options.overwrite = true;
  options.sync = false;
  options.plain = v % 3 == 0;
  auto w = MatrixWriter::create(path, rows, cols, ValueType::u32, options);
  const std::vector<std::uint32_t> cells(64, v);
  for (std::uint64_t r = 0; r < rows; r += 8) {
    for (std::uint64_t c = 0; c < cols; c += 8) {
      w.put<std::uint32_t>(
          {r, c},
          {cells.data(), static_cast<std::uint32_t>(std::min<std::uint64_t>(8, rows - r)), 8, 8});
    }
  }
  w.finish();
}

// Throws, or says why, when what is read is not one version, whole.
std::string read_version(const fs::path& path, std::uint64_t round) {
  OpenOptions options;
  options.guard = round % 2 == 0;
  options.check = round % 4 < 2 ? Check::first_touch : Check::never;
  const Matrix m = Matrix::open(path, options);
  const auto cells = m.read<std::uint32_t>({{0, m.rows()}, {0, m.cols()}});
  const std::uint32_t v = cells.at(0);
  if (m.rows() != 10 + v % 50 || m.cols() != 40)
    return "a shape that is not version " + std::to_string(v);
  for (const std::uint32_t cell : cells) {
    if (cell != v) return "cells of versions " + std::to_string(v) + " and " + std::to_string(cell);
  }
  std::uint64_t area = 0;
  for (const BlockInfo& info : m.blocks()) area += std::uint64_t{info.rows} * info.cols;
  if (area != cells.size()) return "blocks that are not those of version " + std::to_string(v);
  m.require_intact();
  return "";
}

// Runs `work` in threads of this process until `end`; the number of rounds, or 0 after a failure.
std::uint64_t rounds_until(Clock::time_point end, unsigned threads,
                           const std::function<std::string(std::uint64_t)>& work) {
  std::atomic<std::uint64_t> rounds{0};
  std::atomic<bool> failed{false};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      while (Clock::now() < end && !failed) {
        std::string wrong;
        try {
          wrong = work(rounds++);
        } catch (const std::exception& error) {
          wrong = error.what();
        }
        if (!wrong.empty()) {
          std::fprintf(stderr, "%s\n", wrong.c_str());
          failed = true;
        }
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  return failed ? 0 : rounds.load();
}

// A process that runs `work` so, and exits with 1 when that fails or never comes round.
pid_t start(Clock::time_point end, unsigned threads,
            const std::function<std::string(std::uint64_t)>& work) {
  return test::start_child([&] { return rounds_until(end, threads, work) == 0 ? 1 : 0; });
}

bool readers_see_whole_versions(const fs::path& path, Clock::time_point end, unsigned processes,
                                unsigned threads) {
  write_version(path, 1);
  std::vector<pid_t> children;
  for (unsigned p = 0; p < processes; ++p) {
    children.push_back(
        start(end, threads, [&](std::uint64_t round) { return read_version(path, round); }));
  }
  std::uint32_t v = 1;
  for (; Clock::now() < end; ++v) {
    write_version(path, v);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const bool well = test::all_well(children);
  std::printf("%u versions, %u processes of %u threads: %s\n", v, processes, threads,
              well ? "each reader saw whole ones" : "FAILED");
  return well;
}

bool sidecars_are_whole(const fs::path& path, Clock::time_point end, unsigned processes) {
  write_version(path, 3);  // plain
  std::vector<pid_t> children;
  for (unsigned p = 0; p < processes; ++p) {
    children.push_back(start(end, 1, [&, p](std::uint64_t round) {
      if (p % 2 == 0) write_sidecar(path);
      const std::string wrong = read_version(path, round);
      return !wrong.empty() || verify(path, Level::payload).findings.empty() ? wrong
                                                                             : "a stale sidecar";
    }));
  }
  const bool well = test::all_well(children);
  write_sidecar(path);
  const bool used = Matrix::open(path).index_origin() == IndexOrigin::sidecar;
  std::printf("%u processes at one sidecar: %s\n", processes,
              well && used ? "always a whole one" : "FAILED");
  return well && used;
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  const auto processes = static_cast<unsigned>(count > 2 ? std::atoi(arguments[2]) : 16);
  const auto threads = static_cast<unsigned>(count > 3 ? std::atoi(arguments[3]) : 4);
  const auto half =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds / 2));
  const test::TempDir dir;
  int failed = 0;
  failed += !readers_see_whole_versions(dir / "m.dbdf", Clock::now() + half, processes, threads);
  failed += !sidecars_are_whole(dir / "n.dbdf", Clock::now() + half, processes);
  const auto names = dir.names();
  const bool clean = names == std::vector<std::string>{"m.dbdf", "n.dbdf", "n.dbdf.dpx"};
  failed += !clean;
  if (!clean) std::printf("files were left behind: %zu\n", names.size());
  std::printf("%d passed, %d failed\n", 3 - failed, failed);
  return failed == 0 ? 0 : 1;
}
