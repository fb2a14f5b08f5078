// Processes that append rows to one file, while others read it and write its sidecar. Every state
// that a reader sees continues the one that it saw before, nothing that was appended is lost, and
// verify finds nothing.
//
// usage: appends SECONDS [WRITERS [READERS]]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/children.h"
#include "tests/support.h"

using namespace dapple;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Numbers = std::vector<std::uint32_t>;

constexpr std::uint32_t kRows = 10, kCols = 40;  // of a batch, all of whose cells are its number

WriteOptions quick() {
  WriteOptions options;
  options.overwrite = true;
  options.sync = false;
  return options;
}

Matrix make_batch(const fs::path& path, std::uint32_t number) {
  auto w = MatrixWriter::create(path, kRows, kCols, ValueType::u32, quick());
  const Numbers cells(kRows * kCols, number);
  w.put<std::uint32_t>({0, 0}, {cells.data(), kRows, kCols, kCols});
  w.finish();
  return Matrix::open(path);
}

// The number of each batch. Throws when one is not whole.
Numbers batches_of(const fs::path& path, std::uint64_t round) {
  const auto fail = [](const std::string& what) { throw std::runtime_error(what); };
  const Matrix m = Matrix::open(path);
  const auto cells = m.read<std::uint32_t>({{0, m.rows()}, {0, m.cols()}});
  if (cells.size() % (kRows * kCols) != 0) fail("a part of a batch");
  if (matrix_stats(m).nnz != cells.size()) fail("statistics of another state");
  Numbers batches;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % (kRows * kCols) == 0) batches.push_back(cells[i]);
    if (cells[i] != batches.back()) fail("a torn batch");
  }
  if (round % 16 == 0) {
    for (const Error& finding : verify(path, Level::payload).findings) {
      if (finding.file() != sidecar_path(path)) fail(finding.what());  // that one may be stale
    }
  }
  return batches;
}

// Appends batches of the numbers first, first + step, ... and lists in `log` those that it
// appended.
int append_until(Clock::time_point end, const fs::path& path, const fs::path& log,
                 std::uint32_t first, std::uint32_t step) {
  std::ofstream out(log);
  const fs::path scratch = log.string() + ".batch";
  ConvertOptions options;
  options.write = quick();
  for (std::uint32_t number = first; Clock::now() < end; number += step) {
    const Matrix batch = make_batch(scratch, number);
    append(path, batch, options);
    out << number << '\n';
  }
  return 0;
}

int read_until(Clock::time_point end, const fs::path& path, bool indexes) {
  Numbers before;
  for (std::uint64_t round = 0; Clock::now() < end; ++round) {
    if (indexes) {
      try {
        SidecarOptions options;
        options.even_if_indexed = true;
        options.statistics = round % 2 == 0;
        write_sidecar(path, {}, options);
      } catch (const Error& error) {
        if (error.code() != Errc::stale_index) throw;
      }
    }
    const Numbers now = batches_of(path, round);
    if (now.size() < before.size() || !std::equal(before.begin(), before.end(), now.begin())) {
      throw std::runtime_error("batches that were there are gone");
    }
    before = now;
  }
  return 0;
}

// One file for so long; the number of batches, or 0 when something is wrong.
std::size_t try_file(Clock::time_point end, unsigned writers, unsigned readers) {
  const test::TempDir dir;
  const fs::path path = dir / "m.dbdf";
  make_batch(path, 1);
  std::vector<pid_t> children;
  std::vector<fs::path> logs;
  for (unsigned w = 0; w < writers; ++w) {
    logs.push_back(dir / ("log" + std::to_string(w)));
    children.push_back(
        test::start_child([&] { return append_until(end, path, logs.back(), 2 + w, writers); }));
  }
  for (unsigned r = 0; r < readers; ++r) {
    children.push_back(test::start_child([&] { return read_until(end, path, r == 0); }));
  }
  if (!test::all_well(children)) return 0;
  Numbers wanted{1}, found = batches_of(path, 0);
  for (const fs::path& log : logs) {
    std::ifstream in(log);
    for (std::uint32_t number; in >> number;) wanted.push_back(number);
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  if (found == wanted) return found.size();
  std::fprintf(stderr, "%zu batches of %zu that were appended\n", found.size(), wanted.size());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  const auto writers = static_cast<unsigned>(count > 2 ? std::atoi(arguments[2]) : 3);
  const auto readers = static_cast<unsigned>(count > 3 ? std::atoi(arguments[3]) : 3);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::size_t batches = 0, files = 0;
  bool well = true;
  for (; well && Clock::now() < end; ++files) {  // files that are not long take many appends
    const std::size_t found =
        try_file(std::min(end, Clock::now() + std::chrono::seconds(3)), writers, readers);
    well = found > 0;
    batches += found;
  }
  std::printf("%zu batches in %zu files: %s\n", batches, files, well ? "all there" : "FAILED");
  std::printf("%d passed, %d failed\n", well ? 1 : 0, well ? 0 : 1);
  return well ? 0 : 1;
}
