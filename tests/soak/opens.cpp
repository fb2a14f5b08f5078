// Nothing is used up: after any number of opens, sound and failing ones, of writes, of writes that
// are given up, of appends, concatenations and sidecars, the process has the descriptors, the maps
// and the memory that it had before.
//
// usage: opens COUNT [SECONDS]
// With SECONDS, all of it is done again and again for so long, and held against the first time.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

using namespace dapple;

namespace {

namespace fs = std::filesystem;

struct Use {
  std::size_t descriptors = 0, maps = 0;
  std::size_t kilobytes = 0;  // of its own: pages of files come and go as the system likes
};

Use use() {
  Use now;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    ++now.descriptors;
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++now.maps;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) now.kilobytes = std::strtoul(line.c_str() + 8, nullptr, 10);
  }
  return now;
}

void read_all(const fs::path& path, const OpenOptions& options) {
  const Matrix m = Matrix::open(path, options);
  m.prefetch({{0, m.rows()}, {0, m.cols()}});  // maps the file
  m.read<double>({{0, m.rows()}, {0, m.cols()}});
}

void write(const fs::path& path, bool finish) {
  WriteOptions options;
  options.overwrite = true;
  options.sync = false;
  auto w = MatrixWriter::create(path, 4, 4, ValueType::f64, options);
  const std::vector<double> cells(16, 1.5);
  w.put<double>({0, 0}, {cells.data(), 4, 4, 4});
  if (finish) w.finish();
}

// Appends the rows of `sound` to a new file, or fails to: with rows that are twice as long.
void append_rows(const fs::path& path, const fs::path& sound, bool fits) {
  write(path, true);
  ConvertOptions options;
  options.write.sync = false;
  const std::variant<Matrix, Frame> more[] = {open(sound), open(sound)};
  test::error_of([&] { append(path, fits ? more[0] : concat(more, Axis::columns), options); });
}

void concat_files(const fs::path& sound) {
  const std::variant<Matrix, Frame> parts[] = {open(sound), open(sound), open(sound)};
  const auto whole = std::get<Matrix>(concat(parts, Axis::rows));
  whole.read<double>({{0, whole.rows()}, {0, whole.cols()}});
}

void write_and_use_sidecar(const fs::path& path) {
  SidecarOptions options;
  options.even_if_indexed = options.statistics = true;
  write_sidecar(path, {}, options);
  matrix_stats(Matrix::open(path));
}

// Says whether what is used now is what was used before.
bool is_flat(const std::string& name, const Use& before) {
  constexpr std::size_t kSlack = 512;  // kilobytes: what an allocator may keep
  const Use after = use();
  const bool flat = after.descriptors == before.descriptors && after.maps <= before.maps + 2 &&
                    after.kilobytes <= before.kilobytes + kSlack;
  std::printf("%s: %zu -> %zu descriptors, %zu -> %zu maps, %zu -> %zu KiB: %s\n", name.c_str(),
              before.descriptors, after.descriptors, before.maps, after.maps, before.kilobytes,
              after.kilobytes, flat ? "flat" : "grown");
  return flat;
}

// Runs `work` a tenth of the times to warm up, then all of them, and compares. What leaks grows
// every time; a table that grows once does not, so that three rounds in a row have to grow.
bool is_flat(const std::string& name, std::uint64_t count, const std::function<void()>& work) {
  for (std::uint64_t i = 0; i < count / 10 + 10; ++i) work();
  for (int round = 0; round < 3; ++round) {
    const Use before = use();
    for (std::uint64_t i = 0; i < count; ++i) work();
    if (is_flat(name, before)) return true;
  }
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t times = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000;
  const test::TempDir dir;
  const fs::path sound = dir / "sound.dbdf", cut = dir / "cut.dbdf", out = dir / "out.dbdf";
  write(sound, true);
  auto bytes = test::read_bytes(sound);
  bytes.resize(bytes.size() - 100);
  test::write_bytes(cut, bytes);
  OpenOptions guard;
  guard.guard = true;
  struct Loop {
    std::string name;
    std::uint64_t share;  // one in that many: these wait for a clock tick, or for storage
    std::function<void()> work;
  };
  const Loop loops[] = {
      {"opens", 1, [&] { read_all(sound, {}); }},
      {"guarded opens", 1, [&] { read_all(sound, guard); }},
      {"failing opens", 1, [&] { test::error_of([&] { read_all(cut, {}); }); }},
      {"missing files", 1, [&] { test::error_of([&] { read_all(dir / "none", {}); }); }},
      {"writes", 1, [&] { write(out, true); }},
      {"writes that are given up", 1, [&] { write(out, false); }},
      {"concatenations", 1, [&] { concat_files(sound); }},
      {"appends", 200, [&] { append_rows(out, sound, true); }},
      {"appends that fail", 2, [&] { append_rows(out, sound, false); }},
      {"sidecars", 200, [&] { write_and_use_sidecar(sound); }},
  };
  int failed = 0, passed = 0;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (const Loop& loop : loops) {
    ++(is_flat(loop.name, times / loop.share, loop.work) ? passed : failed);
  }
  if (count > 2) {
    const Use before = use();
    std::uint64_t rounds = 0;
    for (; Clock::now() - start < std::chrono::seconds(std::atoi(arguments[2])); ++rounds) {
      for (const Loop& loop : loops) {
        for (std::uint64_t i = 0; i < times / loop.share; ++i) loop.work();
      }
    }
    const std::string name = std::to_string(rounds) + " rounds of all of it";
    ++(is_flat(name, before) ? passed : failed);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
