// Opening a file and looking at one cell of one block. Closing is timed, too: who opens, closes.
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "bench.h"
#include "dapple/dapple.h"
#include "dapple/dapple_c.h"
#include "random.h"
#include "raw_file.h"

namespace dapple::bench {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kTile = 8;
constexpr std::size_t kTileCells = kTile * kTile;
constexpr std::uint64_t kAcross = 1000;

struct Target {
  std::uint64_t i, j;
};

fs::path make_blocks(const Data& data, std::uint64_t down) {
  return data.file("blocks-" + std::to_string(down * kAcross) + ".dbdf", [&](const fs::path& to) {
    auto writer =
        MatrixWriter::create(to, down * kTile, kAcross * kTile, ValueType::u8,
                             {.tile = TileShape{kTile, kTile}, .kind = KindChoice::dense});
    std::array<std::uint8_t, kTileCells> cells;
    for (std::uint64_t i = 0; i < down; ++i) {
      for (std::uint64_t j = 0; j < kAcross; ++j) {
        for (std::size_t k = 0; k < kTileCells; ++k) {
          cells[k] = cell(i * kTile + k / kTile, j * kTile + k % kTile);
        }
        writer.put<std::uint8_t>({i * kTile, j * kTile}, {cells.data(), kTile, kTile});
      }
    }
    writer.finish();
  });
}

/// dapple's file without dapple: the trailer says where the index is, its entry where the block is
/// (lib/dbdf/FORMAT.md).
double fetch_by_pread(const fs::path& path, const Target& wanted) {
  const auto u64_at = [](std::span<const std::byte> bytes, std::size_t at) {
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  const RawFile file(path);
  const std::uint64_t size = file.size();
  std::array<std::byte, 64> trailer, entry;
  file.read_at(size - trailer.size(), trailer);
  const std::uint64_t index = size - u64_at(trailer, 8);
  file.read_at(index + 64 * (1 + wanted.i * kAcross + wanted.j), entry);
  std::array<std::byte, kTileCells> cells;
  file.read_at(u64_at(entry, 16) + 10, cells);
  return static_cast<double>(cells[0]);
}

template <std::uint64_t Down>
Ready open_files(const Data& data) {
  const std::uint64_t down = data.sized<std::uint64_t>(Down, 1);
  const fs::path path = make_blocks(data, down);
  std::vector<Target> wanted(data.sized<std::size_t>(2000, 5));
  Random random(5);
  double expected = 0;
  for (Target& w : wanted) {
    w = {random.below(down), random.below(kAcross)};
    expected += cell(w.i * kTile, w.j * kTile);
  }
  const auto all = [wanted](const auto& fetch) {
    double sum = 0;
    for (const Target& w : wanted) sum += fetch(w);
    return sum;
  };
  return {.work = static_cast<double>(wanted.size()),
          .expected = expected,
          .run =
              [=] {
                return all([&](const Target& w) -> double {
                  const Matrix matrix = Matrix::open(path);
                  return matrix.tile(w.i, w.j).dense_view<std::uint8_t>()(0, 0);
                });
              },
          .limit = [=] { return all([&](const Target& w) { return fetch_by_pread(path, w); }); }};
}

/// One cell of a dense matrix by the C function, beside the same in C++.
Ready call_c(const Data& data) {
  const std::shared_ptr<const Matrix> matrix =
      std::make_shared<Matrix>(Matrix::open(make_blocks(data, data.sized<std::uint64_t>(1, 1))));
  dapple_object* opened = nullptr;
  if (dapple_open(make_blocks(data, 1).c_str(), nullptr, &opened, nullptr) != DAPPLE_OK) {
    throw std::runtime_error("the C functions cannot open what C++ opens");
  }
  const std::shared_ptr<dapple_object> object(opened, [](dapple_object* o) { dapple_close(&o); });
  const auto calls = data.sized<std::uint64_t>(2'000'000, 100);
  const auto all = [calls](const auto& read) {
    double sum = 0;
    for (std::uint64_t k = 0; k < calls; ++k) sum += read(k % kTile, k % 4096);
    return sum;
  };
  double expected = 0;
  for (std::uint64_t k = 0; k < calls; ++k) expected += cell(k % kTile, k % 4096);
  return {.work = static_cast<double>(calls),
          .expected = expected,
          .run =
              [=] {
                return all([&](std::uint64_t row, std::uint64_t col) -> double {
                  std::uint8_t value = 0;
                  const dapple_region one{row, row + 1, col, col + 1};
                  dapple_read(object.get(), &one, DAPPLE_U8, &value, 1, 0, 0, nullptr, nullptr);
                  return value;
                });
              },
          .limit =
              [=] {
                return all([&](std::uint64_t row, std::uint64_t col) -> double {
                  std::uint8_t value = 0;
                  matrix->read({{row, row + 1}, {col, col + 1}}, ValueType::u8,
                               std::as_writable_bytes(std::span(&value, 1)));
                  return value;
                });
              }};
}

constexpr Workload kWorkloads[] = {
    {"a cell through C", "What does a call of a C function cost above the same in C++?",
     kNanoseconds, false, call_c},
    {"open a small file", "What does opening 10^3 blocks and fetching one cost?", kMicroseconds,
     false, open_files<1>},
    {"open a large file", "And 10^6 blocks?", kMicroseconds, false, open_files<1000>},
};

}  // namespace

std::span<const Workload> opening_workloads() { return kWorkloads; }

}  // namespace dapple::bench
