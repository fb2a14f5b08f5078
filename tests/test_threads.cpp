#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Partition;
using test::Rng;

namespace {

constexpr unsigned kThreads = 8;

// Workers inside one read. The system's oneTBB is not built for the thread sanitizer, which then
// sees none of its synchronisation.
#ifdef __SANITIZE_THREAD__
constexpr unsigned kWorkers = 1;
#else
constexpr unsigned kWorkers = 2;
#endif

// Runs f(thread) in several threads at once; rethrows nothing, gives the first error.
template <class F>
std::optional<Error> in_parallel(const F& f) {
  std::atomic<unsigned> waiting{kThreads};
  std::vector<std::optional<Error>> errors(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      --waiting;
      while (waiting != 0) std::this_thread::yield();
      errors[t] = test::error_of([&] { f(t); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& error : errors) {
    if (error) return error;
  }
  return std::nullopt;
}

// Every way to read, of a matrix that each cell of is known, by all threads from its first touch.
bool read_everything(const Matrix& m, const std::vector<std::int32_t>& all, unsigned seed) {
  Rng rng(seed);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t r = rng.below(m.rows()), c = rng.below(m.cols());
    const std::uint64_t r1 = rng.between(r, m.rows()), c1 = rng.between(c, m.cols());
    const auto part =
        m.read<std::int32_t>({{r, r1}, {c, c1}}, {.threads = i % 16 == 0 ? kWorkers : 1U});
    for (std::size_t k = 0; k < part.size(); ++k) {
      if (part[k] != all[(r + k / (c1 - c)) * m.cols() + c + k % (c1 - c)]) return false;
    }
    const auto block = m.find_cover(r, c);
    if (!block || !block->info().cells().contains(r, c)) return false;
    std::vector<std::int32_t> cells(std::size_t{block->info().rows} * block->info().cols);
    block->decode(std::span(cells));
    const BlockPos pos = block->info().pos;
    if (cells[(r - pos.rx) * block->info().cols + c - pos.cx] != all[r * m.cols() + c])
      return false;
    if (const auto grid = m.grid()) {
      const Block tile = m.tile(r / grid->tile.rows, c / grid->tile.cols);
      if (tile.info().kind == BlockKind::dense && tile.info().value_type == ValueType::i32 &&
          tile.dense_view<std::int32_t>()(r - pos.rx, c - pos.cx) != all[r * m.cols() + c]) {
        return false;
      }
    }
    m.counts();
    if (i % 50 == 0) m.prefetch({{r, r1}, {c, c1}});
  }
  std::uint64_t n = 0;
  for (const BlockInfo& info : m.blocks()) n += info.rows > 0;
  return n == m.blocks().size();
}

struct Stored {
  std::vector<std::int32_t> all;
  std::filesystem::path path;
};

Stored store(const test::TempDir& dir, const Partition& p, const WriteOptions& options) {
  Rng rng(60);
  Stored s{std::vector<std::int32_t>(p.rows * p.cols), dir / "m"};
  for (auto& cell : s.all) {
    cell = rng.chance(60) ? 0 : static_cast<std::int32_t>(rng.bits() >> (32 + rng.below(32)));
  }
  auto w = test::writer<std::int32_t>(s.path, p.rows, p.cols, options);
  for (const Region& cells : p.blocks) {
    const std::int32_t* first = s.all.data() + cells.rows.begin * p.cols + cells.cols.begin;
    w.put<std::int32_t>({cells.rows.begin, cells.cols.begin},
                        {first, static_cast<std::uint32_t>(cells.rows.size()),
                         static_cast<std::uint32_t>(cells.cols.size()), p.cols});
  }
  w.finish();
  return s;
}

}  // namespace

TEST_CASE("threads: many readers of one matrix get every cell, from the first touch on") {
  Rng rng(61);
  const std::vector<Partition> all = {test::regular(60, 50, {8, 8}), test::pinwheels(12),
                                      test::guillotine(rng, 50, 50, 0)};
  for (const Partition& p : all) {
    for (const bool plain : {false, true}) {
      for (const Check check : {Check::never, Check::first_touch, Check::always}) {
        CAPTURE(p.name);
        CAPTURE(plain);
        const test::TempDir dir;
        WriteOptions options;
        options.plain = plain;
        options.narrow = false;
        const Stored s = store(dir, p, options);
        OpenOptions open_options;
        open_options.check = check;
        const Matrix m = Matrix::open(s.path, open_options);
        std::atomic<unsigned> right{0};
        const auto error = in_parallel([&](unsigned t) {
          const Matrix copy = m;
          right += read_everything(copy, s.all, t);
        });
        if (error) CAPTURE(error->what());
        CHECK(!error);
        CHECK(right == kThreads);
      }
    }
  }
}

TEST_CASE("threads: even tiles, so many that they are found by their number") {
  const Partition p = test::regular(192, 192, {2, 2});
  const test::TempDir dir;
  WriteOptions options;
  options.narrow = false;
  options.kind = KindChoice::dense;
  const Stored s = store(dir, p, options);
  const Matrix m = Matrix::open(s.path);
  std::atomic<unsigned> right{0};
  const auto error = in_parallel([&](unsigned) {
    std::uint64_t equal = 0;
    for (std::uint64_t row = 0; row < p.rows; ++row) {
      for (std::uint64_t col = 0; col < p.cols; ++col) {
        const auto tile = m.tile(row / 2, col / 2).dense_view<std::int32_t>();
        equal += tile(row % 2, col % 2) == s.all[row * p.cols + col];
      }
    }
    right += equal == s.all.size();
  });
  CHECK(!error);
  CHECK(right == kThreads);
}

TEST_CASE("threads: cells that no block covers are asked for by many at once") {
  const test::TempDir dir;
  const auto path = dir.write("m", test::Image::matrix(4, 4, ValueType::u8)
                                       .dense<std::uint8_t>({0, 0}, 1, 4, {1, 2, 3, 4})
                                       .bytes());
  write_sidecar(path);
  const Matrix m = Matrix::open(path);
  CHECK(m.index_origin() == IndexOrigin::sidecar);
  const auto error = in_parallel([&](unsigned) {
    for (int i = 0; i < 50; ++i) {
      m.find_cover(2, 2);
      m.read<int>({{0, 4}, {0, 4}}, {.absent = Absent::zero});
    }
  });
  CHECK(!error);
}

TEST_CASE("threads: one writer takes blocks from many threads") {
  const test::TempDir dir;
  constexpr std::uint64_t kEdge = 8 * kThreads;
  std::vector<std::int32_t> all(kEdge * kEdge);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i % 3 == 0 ? static_cast<std::int32_t>(i) : 0;
  }
  WriteOptions options;
  options.tile = TileShape{4, 4};
  auto w = MatrixWriter::create(dir / "m", kEdge, kEdge, ValueType::i32, options);
  const auto error = in_parallel([&](unsigned t) {
    for (std::uint64_t r = 8 * t; r < 8 * t + 8; r += 4) {
      for (std::uint64_t c = 0; c < kEdge; c += 4) {
        w.put<std::int32_t>({r, c}, {all.data() + r * kEdge + c, 4, 4, kEdge});
      }
    }
  });
  CHECK(!error);
  w.finish();
  CHECK(Matrix::open(dir / "m").read<std::int32_t>({{0, kEdge}, {0, kEdge}}) == all);
}

TEST_CASE(
    "threads: sparse rows that turn out unsorted make room for others that are put meanwhile") {
  const test::TempDir dir;
  // Blocks of 8 rows and 72 KB, more than is put at once; of every third the last row is not
  // sorted.
  constexpr std::uint32_t kHeight = 8, kCols = 760, kBlocks = 6 * kThreads;
  std::vector<std::uint64_t> row_ptr;
  std::vector<std::uint32_t> sorted, unsorted;
  std::vector<double> values, swapped;
  for (std::uint32_t row = 0; row <= kHeight; ++row) row_ptr.push_back(row * kCols);
  for (std::uint32_t k = 0; k < kHeight * kCols; ++k) {
    sorted.push_back(k % kCols);
    values.push_back(k + 0.5);
  }
  unsorted = sorted;
  swapped = values;
  std::swap(*(unsorted.end() - 1), *(unsorted.end() - 2));
  std::swap(*(swapped.end() - 1), *(swapped.end() - 2));
  for (const bool plain : {false, true}) {
    WriteOptions options;
    options.kind = KindChoice::csr;
    options.narrow = false;
    options.sync = false;
    options.plain = plain;
    options.overwrite = true;
    auto w = test::writer<double>(dir / "m", kBlocks * kHeight, kCols, options);
    const auto error = in_parallel([&](unsigned t) {
      for (std::uint32_t n = t; n < kBlocks; n += kThreads) {
        const bool clean = n / kThreads % 3 != 1;
        w.put<double>({n * kHeight, 0},
                      CsrRef<double>{kHeight, kCols, row_ptr, clean ? sorted : unsorted,
                                     clean ? values : swapped});
      }
    });
    CHECK(!error);
    w.finish();
    const Matrix m = Matrix::open(dir / "m");
    CHECK(m.blocks().size() == kBlocks);
    for (std::uint64_t n = 0; n < kBlocks; ++n) {
      CHECK(m.read<double>({{n * kHeight, (n + 1) * kHeight}, {0, kCols}}) == values);
    }
    CHECK(verify(dir / "m", Level::payload).findings.empty());
    // A plain file has no padding: a header, and the blocks.
    constexpr std::uint64_t kBlockBytes = 16 + 18 + kHeight * 4 + kHeight * kCols * 12;
    if (plain) CHECK(std::filesystem::file_size(dir / "m") == 19 + kBlocks * kBlockBytes);
  }
}

TEST_CASE("threads: a file that is cut under many readers is an error in each that reads it") {
  constexpr std::uint64_t kEdge = 256;
  const test::TempDir dir;
  WriteOptions options;
  options.tile = TileShape{32, 32};
  options.narrow = false;
  const std::vector<double> cells(32 * 32, 1.5);
  auto w = MatrixWriter::create(dir / "m", kEdge, kEdge, ValueType::f64, options);
  for (std::uint64_t r = 0; r < kEdge; r += 32) {
    for (std::uint64_t c = 0; c < kEdge; c += 32) w.put<double>({r, c}, {cells.data(), 32, 32, 32});
  }
  w.finish();
  OpenOptions guard;
  guard.guard = true;
  const Matrix m = Matrix::open(dir / "m", guard);
  std::atomic<unsigned> reading{0}, told{0}, wrong{0};
  const auto error = in_parallel([&](unsigned t) {
    Rng rng(t);
    for (bool first = true;; first = false) {
      const std::uint64_t r = rng.below(kEdge), c = rng.below(kEdge);
      const auto failure = test::error_of([&] {
        for (const double cell : m.read<double>({{r, kEdge}, {c, kEdge}})) wrong += cell != 1.5;
      });
      if (first && ++reading == kThreads) std::filesystem::resize_file(dir / "m", 20000);
      if (!failure) continue;
      told += failure->code() == Errc::io;
      break;
    }
  });
  CHECK(!error);
  CHECK(told == kThreads);
  CHECK(wrong == 0);
}

TEST_CASE("threads: many that share an accessor of tiles see the same cells") {
  constexpr std::uint64_t kSide = 64;
  const test::TempDir dir;
  WriteOptions options;
  options.tile = {8, 8};
  options.narrow = false;
  options.kind = KindChoice::dense;
  auto w = test::writer<std::int32_t>(dir / "m.dbdf", kSide, kSide, options);
  std::vector<std::int32_t> cells(kSide * kSide);
  for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = static_cast<std::int32_t>(k);
  for (std::uint64_t r = 0; r < kSide; r += 8) {
    for (std::uint64_t c = 0; c < kSide; c += 8) {
      w.put<std::int32_t>({r, c}, {&cells[r * kSide + c], 8, 8, kSide});
    }
  }
  w.finish();
  const Matrix m = Matrix::open(dir / "m.dbdf");
  const auto tiles = m.tiles<std::int32_t>();
  std::array<std::uint64_t, 4> wrong{};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t& count : wrong) {
      threads.emplace_back([&] {
        for (std::uint64_t k = 0; k < 2 * cells.size(); ++k) {
          const std::uint64_t r = k * 37 % kSide, c = k * 11 % kSide;
          const auto tile = tiles(r / 8, c / 8);
          count += tile(r % 8, c % 8) != cells[r * kSide + c] || !tile.is_view();
        }
      });
    }
  }
  CHECK(wrong == std::array<std::uint64_t, 4>{});
}

TEST_CASE(
    "threads: many that gather from, multiply and search one matrix, from the first touch on") {
  Rng rng(67);
  for (const KindChoice kind : {KindChoice::csr, KindChoice::dense, KindChoice::automatic}) {
    const test::TempDir dir;
    WriteOptions options;
    options.kind = kind;
    const Stored s = store(dir, test::regular(300, 200, {64, 48}), options);
    std::vector<std::uint64_t> rows(500);
    for (auto& row : rows) row = rng.below(300);
    const auto ask = [&](const Matrix& m, unsigned workers) {
      std::vector<double> answers;
      Csr<std::int32_t> batch;
      gather_csr(m, rows, batch, {.threads = workers});
      answers.insert(answers.end(), batch.values.begin(), batch.values.end());
      std::vector<std::int32_t> cells(rows.size() * 200);
      gather_rows<std::int32_t>(m, rows, cells, 0, {.threads = workers});
      answers.insert(answers.end(), cells.begin(), cells.end());
      const std::vector<double> x(200, 2.0), z(300, 3.0);
      std::vector<double> y(300);
      multiply(m, x, y, 1, {.threads = workers});
      answers.insert(answers.end(), y.begin(), y.end());
      y.resize(200);
      multiply_transposed(m, z, y, 1, {.threads = workers});
      answers.insert(answers.end(), y.begin(), y.end());
      for (const Stats& column : column_stats(m, {.threads = workers}))
        answers.push_back(column.sum);
      answers.push_back(matrix_stats(m, {.threads = workers}).sum);
      answers.push_back(static_cast<double>(
          count_where(m, Condition::above(std::int32_t{1} << 20), {.threads = workers})));
      const auto all = m.read_csr<std::int32_t>({{0, 300}, {0, 200}}, {.threads = workers});
      answers.insert(answers.end(), all.values.begin(), all.values.end());
      return answers;
    };
    const auto want = ask(Matrix::open(s.path), 1);
    const Matrix m = Matrix::open(s.path);
    std::atomic<bool> same{true};
    const auto error = in_parallel([&](unsigned t) {
      if (ask(m, t % 2 == 0 ? kWorkers : 1) != want) same = false;
    });
    CHECK(!error);
    CHECK(same);
  }
}
