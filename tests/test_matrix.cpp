#include <cstring>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/fuzz/memory_file.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;
using test::Partition;
using test::Rng;

TEST_CASE("matrix: files of other programs are read as the reference reads them") {
  for (const auto& file : test::golden_files("dbdf/valid", ".dbdf")) {
    CAPTURE(file);
    CHECK(test::difference(file) == "");
  }
}

TEST_CASE("matrix: every partition, kind and value type is read as the reference reads it") {
  Rng rng(31);
  fuzz::MemoryFile file;
  for (const ValueType declared : kValueTypes) {
    for (const Partition& p : test::partitions(rng, 9)) {
      const Image image = test::random_matrix(rng, p, declared, 5);
      CAPTURE(name(declared));
      CAPTURE(p.name);
      file.set(image.bytes());
      CHECK(test::difference(file.path()) == "");
    }
  }
}

namespace {

// The cells of `region` as values of type T: from the reference, or the code of the error that
// the library must give.
template <Value T>
struct Expected {
  std::vector<T> cells;
  std::optional<Errc> error;
};

template <Value T>
Expected<T> expected(const reference::Object& object, const Region& region, Absent absent) {
  Expected<T> e;
  for (std::uint64_t r = region.rows.begin; r < region.rows.end; ++r) {
    for (std::uint64_t c = region.cols.begin; c < region.cols.end; ++c) {
      const reference::Cell& cell = object.cell(r, c);
      if (cell.state == reference::State::absent && absent == Absent::error) {
        return {{}, Errc::absent};
      }
      const auto bits =
          reference::convert(object.type_of(c), cell.bits, static_cast<int>(value_type_of<T>()));
      if (!bits) e.error = Errc::type_mismatch;
      T value{};
      if (bits) std::memcpy(&value, &*bits, sizeof value);
      e.cells.push_back(value);
    }
  }
  return e;
}

template <Value T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

Region random_region(Rng& rng, std::uint64_t rows, std::uint64_t cols) {
  const std::uint64_t r = rng.below(rows + 1), c = rng.below(cols + 1);
  return {{r, rng.between(r, rows)}, {c, rng.between(c, cols)}};
}

}  // namespace

TEST_CASE_TEMPLATE("matrix: a region as another type gives its cells, or says why not", T,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, float, double) {
  Rng rng(32);
  fuzz::MemoryFile file;
  for (const ValueType declared : kValueTypes) {
    for (const Partition& p : test::partitions(rng, 8)) {
      const Image image = test::random_matrix(rng, p, declared);
      const reference::Object object = reference::read(image.bytes());
      file.set(image.bytes());
      const Matrix m = Matrix::open(file.path());
      for (int i = 0; i < 8; ++i) {
        const Region region = random_region(rng, p.rows, p.cols);
        const Absent absent = rng.chance(50) ? Absent::zero : Absent::error;
        const unsigned threads = i == 0 ? 2 : 1;
        const Expected<T> want = expected<T>(object, region, absent);
        std::vector<T> got;
        const auto error = test::error_of(
            [&] { got = m.read<T>(region, {.absent = absent, .threads = threads}); });
        CAPTURE(name(declared));
        CAPTURE(p.name);
        if (error) CAPTURE(error->what());
        REQUIRE(error.has_value() == want.error.has_value());
        if (error) CHECK(error->code() == *want.error);
        if (!error) REQUIRE(same_bits(got, want.cells));
      }
    }
  }
}

TEST_CASE("matrix: rows go to memory of any stride, and nothing between them is touched") {
  Rng rng(33);
  fuzz::MemoryFile file;
  for (const Partition& p : test::partitions(rng, 9)) {
    const Image image = test::random_matrix(rng, p, ValueType::i16);
    const reference::Object object = reference::read(image.bytes());
    file.set(image.bytes());
    const Matrix m = Matrix::open(file.path());
    const Region region = random_region(rng, p.rows, p.cols);
    const std::size_t cols = region.cols.size(), stride = cols + rng.below(4);
    std::vector<std::int32_t> out(region.rows.size() * stride + 3, -7);
    m.read<std::int32_t>(region, std::span(out), stride, {.absent = Absent::zero});
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t row = stride == 0 ? region.rows.size() : i / stride, col = i - row * stride;
      if (row >= region.rows.size() || col >= cols) {
        CHECK(out[i] == -7);
      } else {
        const auto bits = object.cell(region.rows.begin + row, region.cols.begin + col).bits;
        CHECK(out[i] == static_cast<std::int16_t>(bits));
      }
    }
  }
}

TEST_CASE(
    "matrix: memory that is too small or rows that overlap are refused before any is written") {
  fuzz::MemoryFile file;
  file.set(Image::matrix(2, 3, ValueType::u8)
               .dense<std::uint8_t>({0, 0}, 2, 3, {1, 2, 3, 4, 5, 6})
               .bytes());
  const Matrix m = Matrix::open(file.path());
  const Region all{{0, 2}, {0, 3}};
  const auto read = [&](std::size_t size, std::size_t stride) {
    std::vector<std::uint8_t> out(size, 99);
    const auto error = test::error_of([&] { m.read<std::uint8_t>(all, std::span(out), stride); });
    if (error) CHECK(out == std::vector<std::uint8_t>(size, 99));
    return error ? std::optional(error->code()) : std::nullopt;
  };
  CHECK(read(6, 0) == std::nullopt);
  CHECK(read(6, 3) == std::nullopt);
  CHECK(read(7, 4) == std::nullopt);
  CHECK(read(5, 0) == Errc::invalid_argument);
  CHECK(read(6, 4) == Errc::invalid_argument);
  CHECK(read(6, 2) == Errc::invalid_argument);
  CHECK(read(0, 0) == Errc::invalid_argument);
  CHECK(read(100, ~std::size_t{0}) == Errc::invalid_argument);
  std::vector<std::uint8_t> large(100);
  const auto error = test::error_of([&] { m.read<std::uint8_t>(all, std::span(large), 2); });
  CHECK(test::told(*error) ==
        "invalid_argument: rows of 3 values overlap when they are 2 values apart");
  const Block block = m.block({0, 0});
  std::vector<std::uint8_t> out(5);
  CHECK(test::error_of([&] { block.decode(std::span(out)); })->code() == Errc::invalid_argument);
}

TEST_CASE("matrix: what lies outside is out of range, and a frame is no matrix") {
  fuzz::MemoryFile file;
  file.set(Image::matrix(2, 3, ValueType::u8).empty({0, 0}, 2, 3).bytes());
  const Matrix m = Matrix::open(file.path());
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  for (const Region& region :
       {Region{{0, 3}, {0, 3}}, Region{{0, 2}, {0, 4}}, Region{{2, 1}, {0, 1}},
        Region{{kMax, kMax}, {0, 1}}, Region{{0, 1}, {3, 2}}, Region{{0, kMax}, {0, kMax}}}) {
    CHECK(test::error_of([&] { m.read<double>(region); })->code() == Errc::out_of_range);
    CHECK(test::error_of([&] { m.read_csr<double>(region); })->code() == Errc::out_of_range);
    CHECK(test::error_of([&] { m.prefetch(region); })->code() == Errc::out_of_range);
  }
  CHECK(m.read<double>({{2, 2}, {3, 3}}).empty());
  CHECK(test::error_of([&] { m.find_cover(2, 0); })->code() == Errc::out_of_range);
  CHECK(test::error_of([&] { m.find_cover(0, 3); })->code() == Errc::out_of_range);
  CHECK(test::error_of([&] { m.tile(0, 1); })->code() == Errc::out_of_range);
  CHECK(test::error_of([&] { m.tile(1, 0); })->code() == Errc::out_of_range);
  CHECK(test::error_of([&] { m.column_type(3); })->code() == Errc::out_of_range);
  CHECK(test::error_of([&] { m.block({0, 1}); })->code() == Errc::absent);
  CHECK(test::error_of([&] { m.block({kMax, kMax}); })->code() == Errc::absent);
  CHECK(!m.find_block({1, 0}));
  const auto error = test::error_of([&] { Frame::open(file.path()); });
  REQUIRE(error);
  CHECK(error->code() == Errc::type_mismatch);
}

TEST_CASE("matrix: copies share one open file, and the last one keeps blocks alive") {
  const test::TempDir dir;
  const auto path = dir.write(
      "m", Image::matrix(1, 2, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, 2, {7, 8}).bytes());
  std::optional<Matrix> first = Matrix::open(path);
  const Matrix copy = *first;
  const Block block = first->block({0, 0});
  first.reset();
  std::filesystem::remove(path);
  CHECK(block.dense_view<std::uint8_t>()(0, 1) == 8);
  CHECK(copy.read<int>({{0, 1}, {0, 2}}) == std::vector<int>{7, 8});
}

TEST_CASE("matrix: 2^60 x 2^60 cells cost nothing, and their far corner is read") {
  constexpr std::uint64_t kEdge = std::uint64_t{1} << 60;
  fuzz::MemoryFile file;
  file.set(Image::matrix(kEdge, kEdge, ValueType::f64)
               .empty({0, 0}, ~0U, ~0U)
               .coo<std::int32_t>({kEdge - 2, kEdge - 4}, 2, 4, {{1, 3, -5}})
               .bytes());
  const Matrix m = Matrix::open(file.path());
  CHECK(m.rows() == kEdge);
  CHECK(!m.grid());
  CHECK(m.read<double>({{kEdge - 1, kEdge}, {kEdge - 2, kEdge}}) == std::vector<double>{0, -5});
  CHECK(m.read<double>({{0xFFFFFFFE, 0xFFFFFFFF}, {7, 9}}) == std::vector<double>{0, 0});
  const Region all{{0, kEdge}, {0, kEdge}};
  const Region beyond{{kEdge / 2, kEdge / 2 + 1}, {5, 7}};
  CHECK(test::error_of([&] { m.read<double>(beyond); })->code() == Errc::absent);
  CHECK(m.read<double>(beyond, {.absent = Absent::zero}) == std::vector<double>{0, 0});
  CHECK(test::error_of([&] { m.read<double>(all); })->code() == Errc::no_memory);
  const auto csr = test::error_of([&] { m.read_csr<double>(all, {.absent = Absent::zero}); });
  REQUIRE(csr);
  CHECK(csr->code() == Errc::no_memory);
  const auto mask =
      test::error_of([&] { rows_where(m, Condition::above(1), {.absent = Absent::zero}); });
  REQUIRE(mask);
  CHECK(mask->code() == Errc::no_memory);
  CHECK(!m.find_cover(kEdge / 2, 3));
  CHECK(m.counts().stored == 1);
  CHECK(m.blocks().size() == 2);
}

TEST_CASE("matrix: a fetch that fails throws, also where nobody uses what it gives") {
  const test::TempDir dir;
  Image image = Image::matrix(2, 4, ValueType::u8);
  image.dense<std::uint8_t>({0, 0}, 2, 2, {1, 2, 3, 4}).empty({0, 2}, 2, 2);
  const Matrix m = Matrix::open(dir.write("m.dbdf", image.bytes()));
  CHECK_THROWS_AS(m.tile(0, 2), Error);
  CHECK_THROWS_AS(m.tile(0, 0).dense_view<double>(), Error);
  CHECK_THROWS_AS(m.tile(0, 1).dense_view<std::uint8_t>(), Error);
  m.prefetch({{0, 2}, {0, 4}});  // maps the file, so that fetches are hot
  CHECK_NOTHROW(m.tile(0, 0));
  CHECK_THROWS_AS(m.tile(1, 0), Error);
  CHECK_THROWS_AS(m.tile(0, 0).dense_view<float>(), Error);
}
