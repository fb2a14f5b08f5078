// Objects opened from what the caller reads in ranges, and readers that fail in every way.

#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "dapple/concat.h"
#include "dapple/gather.h"
#include "dapple/open.h"
#include "dapple/range_reader.h"
#include "dapple/writer.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// What a reader of somebody else's throws.
struct Lost : std::runtime_error {
  Lost() : std::runtime_error("the connection is lost") {}
};

class Blob final : public RangeReader {
 public:
  explicit Blob(std::vector<std::byte> bytes) : bytes_(std::move(bytes)), size_(bytes_.size()) {}

  std::uint64_t size() const override { return size_; }
  std::uint64_t read(std::span<const RangeRequest> requests) const override {
    ++calls;
    if (fails_after-- <= 0) throw Lost();
    std::uint64_t done = 0;
    for (const auto& [offset, to] : requests) {
      REQUIRE_FALSE(to.empty());
      REQUIRE(offset <= size_);
      REQUIRE(to.size() <= size_ - offset);
      if (offset >= bytes_.size()) continue;
      const std::size_t n = std::min(to.size(), bytes_.size() - offset);
      std::memcpy(to.data(), bytes_.data() + offset, n);
      done += n;
    }
    return done + added;
  }
  void pretend_size(std::uint64_t size) { size_ = size; }

  mutable std::atomic<std::uint64_t> calls{0};
  mutable std::atomic<int> fails_after{1 << 20};  // calls
  std::atomic<std::uint64_t> added{0};            // to what it says it has read

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t size_;
};

std::vector<std::byte> striped_file() {
  return test::Image::matrix(3, 4, ValueType::i32)
      .dense<std::int32_t>({0, 0}, 2, 4, {0, 1, 2, 3, 4, 5, 6, 7})
      .dense<std::int8_t>({2, 0}, 1, 4, {8, 9, 10, 11})
      .bytes();
}

constexpr std::uint32_t kExtent = 600, kTileEdge = 100;

float cell(std::uint64_t row, std::uint64_t col) {
  return static_cast<float>(row) * 1000 + static_cast<float>(col) + 0.5f;
}

/// 1.4 MiB in 36 tiles, with an index.
std::vector<std::byte> large_file(const test::TempDir& dir) {
  auto writer = MatrixWriter::create(dir / "m.dbdf", kExtent, kExtent, ValueType::f32,
                                     {.tile = TileShape{kTileEdge, kTileEdge}, .narrow = false});
  std::vector<float> cells(kTileEdge * kTileEdge);
  for (std::uint32_t row = 0; row < kExtent; row += kTileEdge) {
    for (std::uint32_t col = 0; col < kExtent; col += kTileEdge) {
      for (std::uint32_t i = 0; i < kTileEdge * kTileEdge; ++i) {
        cells[i] = cell(row + i / kTileEdge, col + i % kTileEdge);
      }
      writer.put<float>({row, col}, {cells.data(), kTileEdge, kTileEdge});
    }
  }
  writer.finish();
  return test::read_bytes(dir / "m.dbdf");
}

void check_region(const Matrix& matrix, const Region& region) {
  const auto got = matrix.read<float>(region);
  std::size_t i = 0;
  for (std::uint64_t row = region.rows.begin; row < region.rows.end; ++row) {
    for (std::uint64_t col = region.cols.begin; col < region.cols.end; ++col) {
      REQUIRE(got[i++] == cell(row, col));
    }
  }
}

std::optional<Error> error_of_open(const std::shared_ptr<Blob>& blob) {
  return test::error_of([&] { (void)open(blob, "blob 7"); });
}

}  // namespace

TEST_CASE("range reader: a small object is opened with one call, and read with none") {
  const auto blob = std::make_shared<Blob>(striped_file());
  const Matrix matrix = Matrix::open(blob, "blob 7");
  CHECK(blob->calls == 1);
  CHECK(matrix.bytes() == striped_file().size());
  CHECK(matrix.read<int>({{0, 3}, {0, 4}}) ==
        std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(blob->calls == 1);
  CHECK(test::error_of([&] { (void)Frame::open(blob, "blob 7"); })->code() == Errc::type_mismatch);
}

TEST_CASE("range reader: regions and rows equal the cells that were written") {
  const test::TempDir dir;
  const auto blob = std::make_shared<Blob>(large_file(dir));
  const Matrix matrix = Matrix::open(blob, "blob 7");
  CHECK(blob->calls == 1);
  check_region(matrix, {{150, 350}, {90, 310}});
  CHECK(blob->calls <= 3);  // the tiles of a region at once
  check_region(matrix, {{0, kExtent}, {0, kExtent}});
  std::vector<float> rows(3 * kExtent);
  const std::vector<std::uint64_t> wanted = {599, 0, 301};
  gather_rows<float>(matrix, wanted, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(rows[i] == cell(wanted[i / kExtent], i % kExtent));
  }
}

TEST_CASE("range reader: objects that are put together are asked for their own bytes") {
  const test::TempDir dir;
  const auto small = std::make_shared<Blob>(test::Image::matrix(1, kExtent, ValueType::f32)
                                                .dense<float>({0, 0}, 1, 1, {7})
                                                .empty({0, 1}, 1, kExtent - 1)
                                                .bytes());
  const auto blob = std::make_shared<Blob>(large_file(dir));
  const std::vector<std::variant<Matrix, Frame>> parts = {
      open(small, "small"), open(blob, "blob 7"), open(dir / "m.dbdf")};
  const auto whole = std::get<Matrix>(concat(parts, Axis::rows));
  const std::uint64_t calls = blob->calls;
  std::vector<float> rows(4 * kExtent);
  const std::vector<std::uint64_t> wanted = {1200, 600, 301, 1};
  gather_rows<float>(whole, wanted, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(rows[i] == cell((wanted[i / kExtent] - 1) % kExtent, i % kExtent));
  }
  CHECK(blob->calls - calls <= 3);  // all tiles of the rows at once
  CHECK(small->calls == 1);
  whole.prefetch({{0, whole.rows()}, {0, kExtent}});
  CHECK(whole.read<float>({{0, 2}, {0, 1}}) == std::vector<float>{7, cell(0, 0)});
}

TEST_CASE("range reader: what is read once comes into place with one call, and is not kept") {
  const test::TempDir dir;
  const auto blob = std::make_shared<Blob>(large_file(dir));
  const Matrix matrix = Matrix::open(blob, "blob 7");
  test::Rng rng(3);
  for (int run = 0; run < 200; ++run) {
    const Region region{rng.range(kExtent), rng.range(kExtent)};
    const std::uint64_t calls = blob->calls, stride = region.cols.size() + rng.below(3);
    std::vector<float> found(region.rows.size() * stride, -1);
    matrix.read<float>(region, found, stride, {.keep = false});
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      const std::uint64_t r = i / stride, c = i % stride;
      const bool inside = c < region.cols.size();
      wrong += found[i] != (inside ? cell(region.rows.begin + r, region.cols.begin + c) : -1);
    }
    REQUIRE(wrong == 0);
    CHECK(blob->calls - calls <= 2);  // narrow parts of tiles are decoded, and kept
  }
}

TEST_CASE("range reader: many threads read one object") {
  const test::TempDir dir;
  const Matrix matrix = Matrix::open(std::make_shared<Blob>(large_file(dir)), "blob 7");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      test::Rng random(t);
      for (int round = 0; round < 50; ++round) {
        const std::uint64_t row = random.below(kExtent), col = random.below(kExtent);
        wrong += matrix.read<float>({{row, row + 1}, {col, col + 1}})[0] != cell(row, col);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("range reader: other formats are read the same way") {
  const std::string text = "a,b\n1,0.5\n2,1.5\n";
  const auto bytes = std::as_bytes(std::span(text));
  const auto blob = std::make_shared<Blob>(std::vector<std::byte>(bytes.begin(), bytes.end()));
  const Frame frame = Frame::open(blob, "t.csv");
  CHECK(frame.label(1) == "b");
  CHECK(frame.read_column<double>(1, {0, 2}) == std::vector<double>{0.5, 1.5});
}

TEST_CASE("range reader: what it throws is thrown as it is, and the object goes on afterwards") {
  const test::TempDir dir;
  const auto blob = std::make_shared<Blob>(large_file(dir));
  blob->fails_after = 0;
  CHECK_THROWS_AS((void)Matrix::open(blob, "blob 7"), Lost);
  blob->fails_after = 1;
  const Matrix matrix = Matrix::open(blob, "blob 7");
  std::vector<float> out(kExtent * kExtent);
  CHECK_THROWS_AS(matrix.read<float>({{0, kExtent}, {0, kExtent}}, out), Lost);
  CHECK_THROWS_AS(matrix.read<float>({{0, kExtent}, {0, kExtent}}, out, 0, {.threads = 3}), Lost);
  blob->fails_after = 1 << 20;
  check_region(matrix, {{0, kExtent}, {0, kExtent}});
}

TEST_CASE("range reader: each call of a whole life fails once") {
  const test::TempDir dir;
  const auto bytes = large_file(dir);
  const Region region{{80, 420}, {80, 420}};
  int failed = 0;
  for (int fails_after = 0; fails_after < 100; ++fails_after) {
    const auto blob = std::make_shared<Blob>(bytes);
    blob->fails_after = fails_after;
    try {
      const Matrix matrix = Matrix::open(blob, "blob 7");
      check_region(matrix, region);
      break;
    } catch (const Lost&) {
      ++failed;
    }
  }
  CHECK(failed > 0);
  CHECK(failed < 100);
}

TEST_CASE("range reader: fewer or more bytes than were asked for are an error") {
  const test::TempDir dir;
  const auto bytes = large_file(dir);
  auto cut = bytes;
  cut.resize(cut.size() / 2);
  auto blob = std::make_shared<Blob>(cut);
  blob->pretend_size(bytes.size());
  auto error = error_of_open(blob);
  REQUIRE(error);
  CHECK(error->code() == Errc::io);
  CHECK(error->file() == "blob 7");
  CHECK(error->detail() == "its reader gave 65536 bytes, and was asked for 131072");

  blob = std::make_shared<Blob>(bytes);
  const Matrix matrix = Matrix::open(blob, "blob 7");
  blob->added = 1;
  error = test::error_of([&] { (void)matrix.read<float>({{300, 301}, {300, 301}}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::io);
  CHECK(error->offset());
}

TEST_CASE("range reader: sizes that cannot be are errors") {
  auto blob = std::make_shared<Blob>(std::vector<std::byte>());
  CHECK(error_of_open(blob)->code() == Errc::not_recognised);
  CHECK(blob->calls == 0);
  blob = std::make_shared<Blob>(striped_file());
  for (const std::uint64_t size : {(std::uint64_t{1} << 46) + 1, ~std::uint64_t{0}}) {
    blob->pretend_size(size);
    CHECK(error_of_open(blob)->code() == Errc::io);
  }
  blob->pretend_size(striped_file().size() - 1);
  CHECK(error_of_open(blob)->code() == Errc::corrupt);
  CHECK(error_of_open(nullptr)->code() == Errc::invalid_argument);
}
