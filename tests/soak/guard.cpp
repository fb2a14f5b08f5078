// Files that shrink, grow, lose their bytes or are written over while others read them with the
// guard on: a reader gets the cells of one version, or an Error, and its process lives. Before or
// after the library the readers handle SIGBUS themselves, for a map of their own that is cut too.
//
// usage: guard SECONDS [PROCESSES [THREADS]]
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

constexpr std::uint32_t kRows = 512, kCols = 256, kTile = 64;

void write_version(const fs::path& path, std::uint32_t v) {
  WriteOptions options;
  options.tile = TileShape{kTile, kTile};
  options.kind = KindChoice::dense;
  options.narrow = false;
  options.overwrite = true;
  options.sync = false;
  options.plain = v % 3 == 0;
  auto w = MatrixWriter::create(path, kRows, kCols, ValueType::u32, options);
  const std::vector<std::uint32_t> cells(kTile * kTile, v);
  for (std::uint32_t r = 0; r < kRows; r += kTile) {
    for (std::uint32_t c = 0; c < kCols; c += kTile) {
      w.put<std::uint32_t>({r, c}, {cells.data(), kTile, kTile, kTile});
    }
  }
  w.finish();
}

// The host program's own map of two pages, whose file is cut, and its handler.
std::atomic<char*> own{nullptr};
std::atomic<int> own_signals{0};
struct sigaction below;  // what stood there when the host came second

void on_host_signal(int signal, siginfo_t* info, void* context) {
  auto* const address = static_cast<char*>(info->si_addr);
  char* const map = own;
  if (address >= map && address < map + 8192) {
    ++own_signals;
    mmap(map, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  } else if ((below.sa_flags & SA_SIGINFO) != 0) {
    below.sa_sigaction(signal, info, context);
  } else {
    _exit(9);  // a signal of the library's maps came to a host that has its own handler
  }
}

void handle_host_signals(bool first) {
  struct sigaction action = {};
  action.sa_sigaction = on_host_signal;
  action.sa_flags = SA_SIGINFO;
  if (!first) sigaction(SIGBUS, nullptr, &below);
  sigaction(SIGBUS, &action, nullptr);
}

bool host_gets_its_signal(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  char* const map = ftruncate(fd, 8192) != 0
                        ? nullptr
                        : static_cast<char*>(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0));
  own = map;
  own_signals = 0;
  const bool cut = ftruncate(fd, 0) == 0;
  const char seen = *const_cast<volatile char*>(map + 5000);
  munmap(map, 8192);
  close(fd);
  return cut && seen == 0 && own_signals == 1;
}

struct Tally {
  std::atomic<std::uint64_t> reads{0}, errors{0}, wrong{0};
};

// Reads regions and holds views until that fails, at most that many.
void read_some(const Matrix& m, test::Rng rng, Tally& tally) {
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint32_t> cells;
    try {
      if (i % 3 == 0) {
        const auto view =
            m.tile(rng.below(kRows / kTile), rng.below(kCols / kTile)).dense_view<std::uint32_t>();
        for (std::uint32_t k = 0; k < kTile * kTile; ++k) {
          cells.push_back(view(k / kTile, k % kTile));
        }
        m.require_intact();
      } else {
        const std::uint64_t r = rng.below(kRows), c = rng.below(kCols);
        cells =
            m.read<std::uint32_t>({{r, rng.between(r + 1, kRows)}, {c, rng.between(c + 1, kCols)}});
      }
    } catch (const Error& error) {
      ++(error.code() == Errc::io ? tally.errors : tally.wrong);
      return;
    }
    ++tally.reads;
    for (const std::uint32_t cell : cells) {
      if (cell != cells[0] || cell == 0) {
        ++tally.wrong;
        return;
      }
    }
  }
}

// What is at a path now.
struct Standing {
  ino_t number;
  timespec changed;
  friend bool operator==(const Standing& a, const Standing& b) {
    return a.number == b.number && a.changed.tv_sec == b.changed.tv_sec &&
           a.changed.tv_nsec == b.changed.tv_nsec;
  }
};

Standing standing_at(const fs::path& path) {
  struct stat s = {};
  stat(path.c_str(), &s);
  return {s.st_ino, s.st_ctim};
}

// One process of readers; its exit status.
int read_until(Clock::time_point end, const fs::path& path, unsigned number, unsigned threads) {
  const fs::path mine = path.string() + "." + std::to_string(number);
  const bool first = number % 2 == 0;
  if (first) handle_host_signals(true);
  bool over = first;
  Tally tally;
  for (std::uint64_t round = 0; Clock::now() < end && tally.wrong == 0; ++round) {
    OpenOptions options;
    options.guard = true;
    options.check = number % 4 < 2 ? Check::never : Check::first_touch;
    const Standing before = standing_at(path);
    try {
      const Matrix m = Matrix::open(path, options);
      // A reader that pauses while it opens may be so late that harm is done to the file before it
      // learns the file's size and time: then it cannot know better.
      if (!(standing_at(path) == before)) continue;
      m.prefetch({{0, kRows}, {0, kCols}});  // maps it
      if (!over) handle_host_signals(false);
      over = true;
      tally.wrong += !host_gets_its_signal(mine);
      std::vector<std::thread> all;
      for (unsigned t = 0; t < threads; ++t) {
        all.emplace_back([&, t] { read_some(m, test::Rng(round * threads + t), tally); });
      }
      for (std::thread& thread : all) thread.join();
    } catch (const Error& error) {
      if (!(standing_at(path) == before)) continue;
      ++(error.code() == Errc::io ? tally.errors : tally.wrong);
    }
  }
  std::printf("%s: %llu reads, %llu errors\n", first ? "behind the library" : "in front of it",
              static_cast<unsigned long long>(tally.reads),
              static_cast<unsigned long long>(tally.errors));
  std::fflush(stdout);
  fs::remove(mine);
  return tally.wrong == 0 && tally.reads > 0 ? 0 : 1;
}

// Does something to a file that others have open.
bool harm(const fs::path& path, test::Rng& rng) {
  const auto size = static_cast<off_t>(fs::file_size(path));
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  const std::vector<char> bytes(4096, static_cast<char>(rng.below(256)));
  bool done = true;
  switch (rng.below(6)) {
    case 0:
      done = ftruncate(fd, 0) == 0;
      break;
    case 1:
      done = ftruncate(fd, static_cast<off_t>(rng.below(static_cast<std::uint64_t>(size)))) == 0;
      break;
    case 2:
      done = ftruncate(fd, size + 10000) == 0;
      break;
    case 3:
      done = pwrite(fd, bytes.data(), bytes.size(), size / 2) > 0;
      break;
    case 4:
      done = ftruncate(fd, 0) == 0 && ftruncate(fd, size) == 0;
      break;
    default:
      break;  // it was replaced, and that is all
  }
  close(fd);
  return done;
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  const auto processes = static_cast<unsigned>(count > 2 ? std::atoi(arguments[2]) : 4);
  const auto threads = static_cast<unsigned>(count > 3 ? std::atoi(arguments[3]) : 3);
  const test::TempDir dir;
  const fs::path path = dir / "m.dbdf", old = dir / "old";
  write_version(path, 1);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::vector<pid_t> children;
  for (unsigned p = 0; p < processes; ++p) {
    children.push_back(test::start_child([&] { return read_until(end, path, p, threads); }));
  }
  test::Rng rng(1);
  std::uint32_t v = 1;
  bool well = true;
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(9000)));
    // Whoever opens the file finds a sound one; harm is done to one that was replaced.
    fs::create_hard_link(path, old);
    write_version(path, ++v);
    well = harm(old, rng) && well;
    fs::remove(old);
  }
  for (const pid_t child : children) {
    const int status = test::status_of(child);
    if (status == 0) continue;
    std::printf("a reader ended with %s %d\n", WIFEXITED(status) ? "status" : "signal",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    well = false;
  }
  std::printf("%u versions harmed: %s\n", v,
              well ? "every reader lived and saw whole ones" : "FAILED");
  std::printf("%d passed, %d failed\n", well ? 1 : 0, well ? 0 : 1);
  return well ? 0 : 1;
}
