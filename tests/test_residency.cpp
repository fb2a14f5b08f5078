#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/io/descriptor.h"
#include "lib/io/local/local_file.h"
#include "lib/io/local/memory_limit.h"
#include "lib/io/local/residency.h"
#include "lib/object/make_object.h"
#include "lib/object/row_access.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using detail::Descriptor;
using detail::Residency;

namespace {

// Not in memory, where other tests' files may be.
const std::filesystem::path kStorage = "/var/tmp";

// A file on storage, and its map.
class Mapped {
 public:
  Mapped(const std::filesystem::path& path, std::size_t size) : size_(size) {
    test::write_bytes(path, std::vector<std::byte>(size, std::byte{7}));
    fd_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(fd_.is_open());
    ::fsync(fd_.get());
    map_ = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_.get(), 0);
    REQUIRE(map_ != MAP_FAILED);
  }
  ~Mapped() { ::munmap(map_, size_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  const std::byte* data() const { return static_cast<const std::byte*>(map_); }

  // Drops these pages from memory; false where the file system keeps the one at `byte`.
  bool drop(std::size_t offset, std::size_t n, std::size_t byte) const {
    ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                    POSIX_FADV_DONTNEED);
    unsigned char in_memory = 1;
    ::mincore(static_cast<std::byte*>(map_) + byte, 1, &in_memory);
    return (in_memory & 1) == 0;
  }

 private:
  std::size_t size_;
  Descriptor fd_;
  void* map_ = nullptr;
};

/// Of 4 KiB, of a file.
std::ptrdiff_t pages_in_memory(const std::filesystem::path& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::size_t size = std::filesystem::file_size(path);
  void* const map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  REQUIRE(map != MAP_FAILED);
  std::vector<unsigned char> in_memory(size / 4096 + 1);
  ::mincore(map, size, in_memory.data());
  ::munmap(map, size);
  return std::count_if(in_memory.begin(), in_memory.end(), [](unsigned char p) { return p & 1; });
}

constexpr std::size_t kLookedAt = 256 << 10, kSize = 3 * kLookedAt + 100;

}  // namespace

TEST_CASE("residency: a file that was just written is in memory, to its last byte") {
  const test::TempDir dir(kStorage);
  const Mapped file(dir / "m", kSize);
  Residency residency(file.data(), kSize);
  for (int look = 0; look < 2; ++look) {
    CHECK(residency.holds(0, 1));
    CHECK(residency.holds(kLookedAt - 5, 10));
    CHECK(residency.holds(kSize - 1, 1));
    CHECK(residency.holds(0, kSize));
  }
}

TEST_CASE("residency: what has left memory is not held, and what is far from it is") {
  // The system may drop no less than some 2 MiB.
  constexpr std::size_t kMiB = 1 << 20, kMiddle = 12 * kMiB;
  const test::TempDir dir(kStorage);
  const Mapped file(dir / "m", 24 * kMiB);
  Residency residency(file.data(), 24 * kMiB);
  CHECK(residency.holds(23 * kMiB, 100));
  if (!file.drop(8 * kMiB, 8 * kMiB, kMiddle)) {
    return test::skip("this file system keeps pages in memory");
  }
  CHECK(!residency.holds(kMiddle, 100));
  CHECK(!residency.holds(kMiddle, 100));
  CHECK(!residency.holds(kMiddle - 5, 10));
  CHECK(residency.holds(kMiB, 100));
  CHECK(residency.holds(23 * kMiB, 100));
  // A large piece is judged by its middle.
  CHECK(!residency.holds(kMiddle - kLookedAt, 2 * kLookedAt));
  CHECK(residency.holds(0, 4 * kMiB));
}

TEST_CASE("residency: after many large pieces in memory, one that is not is found before long") {
  constexpr std::size_t kMiB = 1 << 20;
  const test::TempDir dir(kStorage);
  const Mapped file(dir / "m", 24 * kMiB);
  Residency residency(file.data(), 24 * kMiB);
  for (unsigned look = 0; look < 160; ++look) CHECK(residency.holds(0, kMiB));
  if (!file.drop(8 * kMiB, 8 * kMiB, 12 * kMiB)) {
    return test::skip("this file system keeps pages in memory");
  }
  unsigned looks = 0;
  while (looks < 100 && residency.holds(11 * kMiB, 2 * kMiB)) ++looks;
  CHECK(looks <= 16);
  // From then on each is asked about, as at first.
  CHECK(!residency.holds(11 * kMiB, 2 * kMiB));
  CHECK(residency.holds(0, kMiB));
  CHECK(!residency.holds(11 * kMiB, 2 * kMiB));
}

TEST_CASE("residency: after many small pieces that were not in memory, one that is is found") {
  constexpr std::size_t kMiB = 1 << 20;
  const test::TempDir dir(kStorage);
  const Mapped file(dir / "m", 24 * kMiB);
  if (!file.drop(8 * kMiB, 8 * kMiB, 12 * kMiB)) {
    return test::skip("this file system keeps pages in memory");
  }
  Residency residency(file.data(), 24 * kMiB);
  for (unsigned look = 0; look < 160; ++look) {
    CHECK(!residency.holds(12 * kMiB, 100));
  }
  unsigned looks = 0;
  while (looks < 100 && !residency.holds(kMiB, 100)) ++looks;
  CHECK(looks <= 16);
  // From then on each is asked about, as at first.
  CHECK(!residency.holds(12 * kMiB, 100));
  CHECK(residency.holds(23 * kMiB, 100));
}

TEST_CASE("residency: a look at a cell reads single pages when nothing is to be read ahead") {
  // One dense block of zeros, which the file system stores as a hole that is in no memory yet.
  constexpr std::uint64_t kColdSide = 4096;
  const test::TempDir dir(kStorage);
  const auto path = dir / "m.dbdf";
  test::write_bytes(path, test::Image::matrix(kColdSide, kColdSide, ValueType::f64)
                              .block_header({0, 0}, kColdSide, kColdSide, BlockKind::dense)
                              .value_type(ValueType::f64)
                              .bytes());
  const std::uint64_t header = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, header + kColdSide * kColdSide * 8);
  const auto pages_after_a_look = [&](bool read_ahead, std::uint64_t row) {
    const auto m = Matrix::open(path, {.read_ahead = read_ahead});
    CHECK(m.read<double>({{row, row + 1}, {5, 6}}) == std::vector<double>{0});
    return pages_in_memory(path);
  };
  const auto few = pages_after_a_look(false, 1000);
  CHECK(few <= 40);
  CHECK(pages_after_a_look(true, 3000) > few);
}

TEST_CASE("residency: of rows at random of a data set no more is read than their pages") {
  constexpr std::uint64_t kRows = 4096, kCols = 1024;  // 32 MiB, and 8 KiB a row
  const test::TempDir dir(kStorage);
  std::vector<double> cells(kRows * kCols);
  std::iota(cells.begin(), cells.end(), 0.0);
  auto writer = MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::f64);
  writer.put_region<double>({0, 0}, {cells.data(), kRows, kCols});
  writer.finish();
  dataset::append(dir / "set", Matrix::open(dir / "m.dbdf"));
  const std::filesystem::path part = [&] {
    for (const auto& file : std::filesystem::directory_iterator(dir / "set")) {
      if (file.path().extension() == ".dbdf") return file.path();
    }
    return dir / "none";
  }();
  const Descriptor fd(::open(part.c_str(), O_RDONLY | O_CLOEXEC));
  ::fsync(fd.get());
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (pages_in_memory(part) > 600) return test::skip("this file system keeps pages in memory");
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t i = 0; i < 24; ++i) wanted.push_back((i * 2654435761) % kRows);
  const Matrix set = Matrix::open(dir / "set");
  std::vector<double> rows(wanted.size() * kCols);
  gather_rows<double>(set, wanted, rows);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    REQUIRE(rows[i * kCols + 7] == static_cast<double>(wanted[i] * kCols + 7));
  }
  // A row is on three pages, and there are the headers of blocks; a megabyte would be 256.
  CHECK(pages_in_memory(part) < 1500);
  // What a part has in its map takes no memory.
  CHECK(detail::store_of(set)->row_access().bytes() < 100'000);
}

namespace {

/// Whether the system was told that bytes of the map at `byte` are read in random order.
bool is_random(const std::byte* byte) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      const auto at = reinterpret_cast<std::uintptr_t>(byte);
      here = begin <= at && at < end;
    } else if (here && line.starts_with("VmFlags:")) {
      return (line + ' ').find(" rr ") != std::string::npos;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("residency: pages are read one by one as long as somebody reads at random") {
  const test::TempDir dir;
  test::write_bytes(dir / "f", std::vector<std::byte>(100'000));
  const auto file = detail::LocalFile::open((dir / "f").string());
  file->expect_single_looks(90'000, 10'000);
  file->expect_random(true);  // before there is a map
  file->expect_reads();
  const std::byte* const begin = file->at(0, 1);
  const std::byte* const last = file->at(99'999, 1);
  CHECK(is_random(begin));
  file->expect_random(true);
  file->expect_random(false);
  CHECK(is_random(begin));
  file->expect_random(false);
  CHECK_FALSE(is_random(begin));
  CHECK(is_random(last));
  file->expect_random(true);
  CHECK(is_random(begin));
  file->expect_random(false);
  CHECK_FALSE(is_random(begin));
}

TEST_CASE(
    "residency: what outgrows memory is asked for each time, reads the same, and is used in "
    "place") {
  const test::TempDir dir;
  test::Rng rng(9);
  constexpr std::uint64_t kRows = 300, kCols = 200;
  std::vector<double> cells(kRows * kCols);
  for (double& cell : cells) cell = rng.chance(50) ? 0 : static_cast<double>(rng.below(1000)) / 8;
  WriteOptions options;
  options.tile = TileShape{32, 32};
  options.kind = KindChoice::dense;
  options.narrow = false;
  auto w = MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::f64, options);
  w.put_region<double>({0, 0}, {cells.data(), kRows, kCols});
  w.finish();
  auto file = detail::LocalFile::open((dir / "m.dbdf").string());
  CHECK_FALSE(file->outgrows_memory());
  file->set_outgrows_memory(true);
  const auto object = detail::make_object(detail::dbdf::open_dbdf(file, {}));
  const auto& m = std::get<Matrix>(object);
  for (int round = 0; round < 2; ++round) {  // the second time all blocks are known
    CHECK(m.read<double>({{0, kRows}, {0, kCols}}) == cells);
    for (std::uint64_t i = 0; i < 10; ++i) {
      const auto tile = m.tile(i, 3).dense_view<double>();
      CHECK(tile.row(0)[5] == cells[i * 32 * kCols + 3 * 32 + 5]);
    }
    const auto tiles = m.tiles<double>();
    double sum = 0;
    for (std::uint64_t i = 0; i < tiles.rows(); ++i) {
      for (std::uint64_t j = 0; j < tiles.cols(); ++j) {
        auto tile = tiles(i, j);
        const auto values = tile.span();
        sum = std::accumulate(values.begin(), values.end(), sum);
      }
    }
    CHECK(sum == std::accumulate(cells.begin(), cells.end(), 0.0));
    const std::vector<std::uint64_t> cols = {150, 2};
    Csr<double> columns;
    gather_columns(m, cols, columns);
    REQUIRE(columns.row_ptr.size() == 3);
    for (std::size_t k = 0; k < columns.col_idx.size(); ++k) {
      const std::size_t slot = k < columns.row_ptr[1] ? 0 : 1;
      CHECK(columns.values[k] == cells[columns.col_idx[k] * kCols + cols[slot]]);
    }
    CHECK(matrix_stats(m).sum == doctest::Approx(sum));
  }
}

TEST_CASE("residency: the memory of this process is known, and small files fit") {
  CHECK(detail::memory_limit() > (std::uint64_t{64} << 20));
  CHECK_FALSE(detail::outgrows_memory(1000));
  CHECK(detail::outgrows_memory(~std::uint64_t{0}));
}
