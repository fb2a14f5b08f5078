// Many processes write one data set, and are killed at random moments: writers, compactors,
// collectors, two of each at once. Whoever reads meanwhile sees whole states only; what was
// committed is there in the end, once, and nothing else is.
//
//   datasets RUNS [PROCESSES PARTS]     with processes: all at once commit parts, and none is
//   killed
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "tests/children.h"
#include "tests/support.h"

namespace {

using namespace dapple;
using namespace dapple::test;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kRows = 3, kCols = 4;  // of one part
constexpr std::uint64_t kGrace = 2;            // seconds for which what is collected stays

// Which write a part is of. Its cells (r, c) are all computed from that.
struct Write {
  std::uint64_t writer, number;
  friend auto operator<=>(const Write&, const Write&) = default;
};

std::vector<double> cells_of(const Write& write) {
  std::vector<double> cells;
  for (std::uint64_t r = 0; r < kRows; ++r) {
    cells.push_back(static_cast<double>(write.writer));
    cells.push_back(static_cast<double>(write.number));
    cells.push_back(static_cast<double>(r));
    cells.push_back(static_cast<double>(write.writer * 1000003 + write.number * 101 + r));
  }
  return cells;
}

// The writes that a state holds. Exits when a part is torn, there twice, or nobody's.
std::map<Write, int> writes_in(const std::filesystem::path& folder) {
  const Matrix m = Matrix::open(folder);
  std::map<Write, int> writes;
  const auto cells = m.read<double>({{0, m.rows()}, {0, m.cols()}});
  for (std::size_t at = 0; at + kRows * kCols <= cells.size(); at += kRows * kCols) {
    const Write write{static_cast<std::uint64_t>(cells[at]),
                      static_cast<std::uint64_t>(cells[at + 1])};
    const auto wanted = cells_of(write);
    if (!std::equal(wanted.begin(), wanted.end(), cells.begin() + static_cast<long>(at))) {
      throw std::runtime_error("a mixture at row " + std::to_string(at / kCols));
    }
    if (++writes[write] > 1) throw std::runtime_error("a part is there twice");
  }
  if (cells.size() % (kRows * kCols) != 0) throw std::runtime_error("half a part");
  return writes;
}

// Files may be gone for who began with them longer ago than the grace: on a busy machine processes
// are not run for as long.
bool came_too_late(const Error& error, Clock::time_point start) {
  return error.code() == Errc::io && Clock::now() - start >= std::chrono::seconds(kGrace);
}

ConvertOptions not_synced() {
  ConvertOptions options;
  options.write.sync = false;
  return options;
}

// Writes parts until it is killed, and notes each one that was committed.
int write_parts(const std::filesystem::path& folder, std::uint64_t writer, std::uint64_t first,
                std::uint64_t most) {
  const int notes = ::open((folder / "committed").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  for (std::uint64_t number = first; number < first + most; ++number) {
    const Write write{writer, number};
    const auto cells = cells_of(write);
    const auto source = folder.parent_path() / ("rows" + std::to_string(getpid()) + ".dbdf");
    WriteOptions how;
    how.overwrite = true;
    how.sync = false;
    auto rows = MatrixWriter::create(source, kRows, kCols, ValueType::f64, how);
    rows.put<double>({0, 0}, {cells.data(), kRows, kCols});
    rows.finish();
    const auto start = Clock::now();
    try {
      dataset::append(folder, open(source), not_synced());
    } catch (const Error& error) {
      // It was so slow that the part was collected.
      const bool removed = error.detail().find("was removed") != std::string::npos;
      if (!removed && !came_too_late(error, start)) throw;
      continue;
    }
    if (::write(notes, &write, sizeof write) != sizeof write) return 1;
    std::filesystem::remove(source);
  }
  return 0;
}

int compact_again_and_again(const std::filesystem::path& folder) {
  for (;;) {
    const auto start = Clock::now();
    try {
      dataset::compact(folder, 1 << 20, not_synced());
    } catch (const Error& error) {
      const bool lost = came_too_late(error, start) ||
                        error.detail().find("replaced") != std::string::npos ||
                        error.detail().find("was removed") != std::string::npos ||
                        error.code() == Errc::not_recognised;
      if (!lost) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

int collect_again_and_again(const std::filesystem::path& folder) {
  for (;;) {
    try {
      dataset::collect(folder, {.keep = 2, .grace_s = kGrace});
    } catch (const Error& error) {
      if (error.code() != Errc::not_recognised) throw;  // there is no state yet
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

int read_for(const std::filesystem::path& folder, std::chrono::milliseconds time) {
  std::size_t before = 0;
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
    const auto start = Clock::now();
    try {
      const std::size_t now = writes_in(folder).size();
      if (now < before) throw std::runtime_error("parts went away");
      before = now;
    } catch (const Error& error) {
      if (error.code() != Errc::not_recognised && !came_too_late(error, start)) throw;
    }
  }
  return 0;
}

void require_all_committed(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "committed")) return;
  const auto notes = read_bytes(folder / "committed");
  if (notes.empty()) return;
  const auto there = writes_in(folder);
  for (std::size_t at = 0; at + sizeof(Write) <= notes.size(); at += sizeof(Write)) {
    Write write{};
    std::memcpy(&write, notes.data() + at, sizeof write);
    if (there.count(write) == 0) throw std::runtime_error("a committed part is lost");
  }
}

void run_and_kill(const std::filesystem::path& folder, std::uint64_t run, Rng& rng) {
  std::vector<pid_t> doomed;
  for (std::uint64_t k = 0; k < 2; ++k) {
    doomed.push_back(start_child([&] { return write_parts(folder, 2 * run + k, 0, 1000); }));
    doomed.push_back(start_child([&] { return compact_again_and_again(folder); }));
    doomed.push_back(start_child([&] { return collect_again_and_again(folder); }));
  }
  const pid_t reader =
      start_child([&] { return read_for(folder, std::chrono::milliseconds(rng.between(5, 60))); });
  std::shuffle(doomed.begin(), doomed.end(), std::mt19937(static_cast<unsigned>(rng.bits())));
  for (const pid_t child : doomed) {
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(10'000)));
    ::kill(child, SIGKILL);
    const int status = status_of(child);
    if (!WIFSIGNALED(status)) throw std::runtime_error("a process failed before it was killed");
  }
  if (status_of(reader) != 0) throw std::runtime_error("a reader was disturbed");
  require_all_committed(folder);
}

int commit_at_once(const std::filesystem::path& folder, std::uint64_t processes,
                   std::uint64_t parts) {
  std::vector<pid_t> children;
  const auto start = Clock::now();
  for (std::uint64_t k = 0; k < processes; ++k) {
    children.push_back(start_child([&, k] {
      double longest = 0;
      for (std::uint64_t number = 0; number < parts; ++number) {
        const auto before = Clock::now();
        if (write_parts(folder, k, number, 1) != 0) return 1;
        longest = std::max(longest, std::chrono::duration<double>(Clock::now() - before).count());
      }
      const int notes = ::open((folder / "waits").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
      return ::write(notes, &longest, sizeof longest) == sizeof longest ? 0 : 1;
    }));
  }
  if (!all_well(children)) return 1;
  require_all_committed(folder);
  const std::size_t there = writes_in(folder).size();
  const auto waits = read_bytes(folder / "waits");
  double longest = 0;
  for (std::size_t at = 0; at < waits.size(); at += sizeof(double)) {
    double wait = 0;
    std::memcpy(&wait, waits.data() + at, sizeof wait);
    longest = std::max(longest, wait);
  }
  std::printf("%zu of %llu parts in %.1f s; the longest commit took %.2f s\n", there,
              static_cast<unsigned long long>(processes * parts),
              std::chrono::duration<double>(Clock::now() - start).count(), longest);
  return there == processes * parts ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10;
  if (argc > 3) {
    const TempDir folder;
    std::filesystem::create_directory(folder / "set");
    return commit_at_once(folder / "set", std::strtoull(argv[2], nullptr, 10),
                          std::strtoull(argv[3], nullptr, 10));
  }
  Rng rng(static_cast<std::uint64_t>(getpid()));
  constexpr std::uint64_t kRunsOfOneSet = 25;
  for (std::uint64_t run = 0; run < runs; run += kRunsOfOneSet) {
    const TempDir folder;
    std::filesystem::create_directory(folder / "set");
    for (std::uint64_t i = run; i < std::min(runs, run + kRunsOfOneSet); ++i) {
      run_and_kill(folder / "set", i, rng);
    }
  }
  std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
