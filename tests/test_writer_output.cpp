// What a writer refuses, and when and where its file appears.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/support.h"

using namespace dapple;
using test::TempDir;
using test::writer;

TEST_CASE("writer: what cannot be put is refused, and what was put stays") {
  const TempDir dir;
  auto w = writer<std::uint8_t>(dir / "m", 4, 4);
  const std::vector<int> fits = {1, 2, 3, 4}, misfit = {1, 2, 256, 4};
  const auto code = [](const auto& f) {
    const auto error = test::error_of(f);
    return error ? std::optional(error->code()) : std::nullopt;
  };
  w.put<int>({0, 0}, {fits.data(), 2, 2});
  CHECK(code([&] { w.put<int>({0, 2}, {misfit.data(), 2, 2}); }) == Errc::type_mismatch);
  CHECK(code([&] { w.put<int>({3, 0}, {fits.data(), 2, 2}); }) == Errc::out_of_range);
  CHECK(code([&] { w.put<int>({0, ~0ULL}, {fits.data(), 2, 2}); }) == Errc::out_of_range);
  CHECK(code([&] { w.put<int>({0, 0}, {fits.data(), 0, 2}); }) == Errc::invalid_argument);
  CHECK(code([&] { w.put<int>({2, 2}, {nullptr, 2, 2}); }) == Errc::invalid_argument);
  CHECK(code([&] { w.put_region<int>({2, 2}, {nullptr, 2, 2}); }) == Errc::invalid_argument);
  CHECK(code([&] { w.put_region<int>({2, 2}, {nullptr, 0, 2}); }) == std::nullopt);
  const std::vector<Triplet<int>> twice = {{0, 1, 5}, {0, 1, 5}}, outside = {{2, 0, 1}};
  CHECK(code([&] { w.put<int>({2, 2}, {2, 2}, std::span(twice)); }) == Errc::invalid_argument);
  CHECK(code([&] { w.put<int>({2, 2}, {2, 2}, std::span(outside)); }) == Errc::out_of_range);
  const std::vector<std::uint64_t> falling = {0, 2, 1}, shifted = {1, 1, 1}, shorter = {0, 1, 1},
                                   far = {0, ~0ULL, 2};
  const std::vector<std::uint32_t> cols = {0, 1};
  const std::vector<int> values = {1, 1};
  for (const auto& row_ptr : {falling, shifted, shorter, far}) {
    CHECK(code([&] {
            w.put<int>({2, 2}, CsrRef<int>{2, 2, row_ptr, cols, values});
          }) == Errc::invalid_argument);
  }
  w.finish();
  const Matrix m = Matrix::open(dir / "m");
  CHECK(m.read<int>({{0, 2}, {0, 4}}) == std::vector<int>{1, 2, 0, 0, 3, 4, 0, 0});
  CHECK(m.counts().stored == 4);
  CHECK(test::difference(dir / "m") == "");
}

TEST_CASE("writer: blocks that share a cell are refused, and no file appears (R3)") {
  const TempDir dir;
  const std::vector<float> values(16, 1.5F);
  for (const BlockPos second : {BlockPos{0, 0}, BlockPos{1, 1}, BlockPos{0, 1}}) {
    auto w = writer<float>(dir / "m", 9, 9);
    w.put<float>({0, 0}, {values.data(), 2, 2});
    w.put<float>(second, {values.data(), 2, 2});
    const auto error = test::error_of([&] { w.finish(); });
    REQUIRE(error);
    CHECK(error->code() == Errc::invalid_argument);
    CHECK(error->file() == (dir / "m").string());
    const auto again = test::error_of([&] { w.finish(); });
    REQUIRE(again);
    CHECK(again->detail() == "the file was finished before");
  }
  CHECK(dir.names().empty());
}

TEST_CASE("writer: nothing appears without finish, and nothing is replaced without being told to") {
  const TempDir dir;
  const std::uint8_t one = 1, two = 2;
  {
    auto w = writer<std::uint8_t>(dir / "m", 1, 1);
    w.put<std::uint8_t>({0, 0}, {&one, 1, 1});
    CHECK(dir.names().empty());
  }
  CHECK(dir.names().empty());
  test::write_text(dir / "m", "precious");
  const auto early = test::error_of([&] { writer<std::uint8_t>(dir / "m", 1, 1); });
  REQUIRE(early);
  CHECK(early->code() == Errc::invalid_argument);
  CHECK(early->detail() == "the file exists already");
  CHECK(early->option() == "overwrite");
  auto late = writer<std::uint8_t>(dir / "n", 1, 1);
  test::write_text(dir / "n", "precious");
  CHECK(test::error_of([&] { late.finish(); })->code() == Errc::invalid_argument);
  CHECK(test::read_text(dir / "m") == "precious");
  CHECK(test::read_text(dir / "n") == "precious");

  WriteOptions options;
  options.overwrite = true;
  std::filesystem::permissions(
      dir / "m", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  auto w = writer<std::uint8_t>(dir / "m", 1, 1, options);
  w.put<std::uint8_t>({0, 0}, {&two, 1, 1});
  CHECK(test::read_text(dir / "m") == "precious");
  w.finish();
  CHECK(Matrix::open(dir / "m").read<int>({{0, 1}, {0, 1}}) == std::vector<int>{2});
  CHECK(std::filesystem::status(dir / "m").permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK(dir.names() == std::vector<std::string>{"m", "n"});
  CHECK(test::error_of([&] { writer<int>(dir / "none" / "m", 1, 1); })->code() == Errc::io);
}

TEST_CASE("writer: no file takes the place of a folder, a pipe, or a name of an open file") {
  const TempDir dir;
  namespace fs = std::filesystem;
  fs::create_directory(dir / "folder");
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  // As /dev/stdout is one, and a link to that.
  const fs::path open = dir.write("open", std::vector<std::byte>(1));
  const int fd = ::open(open.c_str(), O_RDONLY | O_CLOEXEC);
  fs::create_symlink("/proc/self/fd/" + std::to_string(fd), dir / "stdout");
  fs::create_symlink("stdout", dir / "link");
  WriteOptions options;
  options.overwrite = true;
  for (const std::string name : {"folder", "pipe", "stdout", "link"}) {
    CAPTURE(name);
    const auto before = fs::symlink_status(dir / name);
    for (const bool overwrite : {false, true}) {
      options.overwrite = overwrite;
      const auto error = test::error_of([&] { writer<float>(dir / name, 1, 1, options).finish(); });
      REQUIRE(error);
      CHECK(error->code() == Errc::invalid_argument);
      CHECK(fs::symlink_status(dir / name).type() == before.type());
    }
  }
  close(fd);
}

TEST_CASE("writer: a finished writer takes no more blocks") {
  const TempDir dir;
  const std::uint8_t one = 1;
  auto w = writer<std::uint8_t>(dir / "m", 2, 1);
  w.put<std::uint8_t>({0, 0}, {&one, 1, 1});
  w.finish();
  const auto before = test::read_bytes(dir / "m");
  const auto put = test::error_of([&] { w.put<std::uint8_t>({1, 0}, {&one, 1, 1}); });
  REQUIRE(put);
  CHECK(put->code() == Errc::invalid_argument);
  const auto finish = test::error_of([&] { w.finish(); });
  REQUIRE(finish);
  CHECK(finish->code() == Errc::invalid_argument);
  CHECK(test::read_bytes(dir / "m") == before);
}

TEST_CASE("writer: a shape that empty blocks cannot fill is refused without much memory") {
  const TempDir dir;
  constexpr std::uint64_t kEdge = std::uint64_t{1} << 60;
  const std::uint8_t one = 1;
  const auto error = test::error_of([&] {
    auto w = writer<std::uint8_t>(dir / "m", kEdge, kEdge);
    w.put<std::uint8_t>({kEdge - 1, kEdge - 1}, {&one, 1, 1});
    w.finish();
  });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  auto tall = writer<std::uint8_t>(dir / "tall", std::uint64_t{1} << 40, 10);
  tall.put_empty({0, 0}, {~0U, 10});
  tall.put<std::uint8_t>({(std::uint64_t{1} << 40) - 1, 9}, {&one, 1, 1});
  tall.finish();
  const Matrix m = Matrix::open(dir / "tall");
  CHECK(m.read<int>({{(1ULL << 40) - 1, 1ULL << 40}, {8, 10}}) == std::vector<int>{0, 1});
}

TEST_CASE("writer: what was not put in a large matrix is filled by few empty blocks") {
  const TempDir dir;
  for (const unsigned bits : {17u, 21u, 24u, 25u}) {
    CAPTURE(bits);
    const std::uint64_t side = std::uint64_t{1} << bits;
    const auto path = dir / std::to_string(bits);
    auto w = writer<double>(path, side, side);
    const std::vector<Triplet<double>> one = {{3, 5, 2.5}};
    w.put<double>({side - 256, side - 512}, {256, 256}, std::span(one));
    CHECK(w.finish().counts.stored == 1);
    const Matrix m = Matrix::open(path);
    CHECK(m.read<double>({{side - 253, side - 252}, {side - 509, side - 505}}) ==
          std::vector<double>{0, 0, 2.5, 0});
    CHECK(m.read<double>({{0, 1}, {0, 2}}) == std::vector<double>{0, 0});
  }
}

TEST_CASE("writer: gaps between blocks of a frame are filled without mixing types (R8)") {
  const TempDir dir;
  const std::vector<Column> columns = {{"a", ValueType::i64},
                                       {"b", ValueType::i64},
                                       {"c", ValueType::f64},
                                       {"d", ValueType::u8},
                                       {"e", ValueType::u8}};
  auto w = FrameWriter::create(dir / "f", 10, columns, {.off_grid = true});
  const std::uint8_t two[] = {7, 8};
  w.put<std::uint8_t>({3, 4}, {two, 2, 1});  // no tile of the tiling
  w.finish();
  CHECK(test::difference(dir / "f") == "");
  const Frame f = Frame::open(dir / "f");
  CHECK(f.counts().stored == 2);
  CHECK(f.read_column<int>(4, {2, 6}) == std::vector<int>{0, 7, 8, 0});
  CHECK(f.read_column<int>(2, {2, 6}) == std::vector<int>{0, 0, 0, 0});
}

TEST_CASE("writer: rows that lie apart are written as those side by side") {
  const TempDir dir;
  constexpr std::uint32_t kRows = 70'000;
  for (const std::uint32_t cols : {1u, 3u, 600u}) {
    const std::uint32_t rows = cols == 600 ? 1000 : kRows, step = cols + 2;
    std::vector<double> apart(std::size_t{rows} * step, -1), packed;
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < cols; ++c) {
        apart[std::size_t{r} * step + c] = r + 0.25 * c;
        packed.push_back(r + 0.25 * c);
      }
    }
    WriteOptions options;
    options.kind = KindChoice::dense;
    options.narrow = false;
    const auto write = [&](const char* name, const DenseRef<double>& cells) {
      const auto path = dir / (name + std::to_string(cols));
      auto w = writer<double>(path, rows, cols, options);
      w.put<double>({0, 0}, cells);
      w.finish();
      return test::read_bytes(path);
    };
    CHECK(write("apart", {apart.data(), rows, cols, step}) ==
          write("packed", {packed.data(), rows, cols}));
  }
}

TEST_CASE("writer: a cell that is given twice is refused, whatever the values are") {
  const TempDir dir;
  auto w = writer<double>(dir / "m", 1, 4);
  const std::vector<std::uint64_t> row_ptr{0, 3};
  for (const auto& values : {std::vector<double>{1, 2, 3}, {1, 0, 3}, {0, 1, 3}, {0, 0, 3}}) {
    for (const auto& cols : {std::vector<std::uint32_t>{1, 1, 2}, {1, 2, 1}, {2, 1, 1}}) {
      CAPTURE(cols);
      const auto csr = test::error_of([&] {
        w.put<double>({0, 0}, CsrRef<double>{1, 4, row_ptr, cols, values});
      });
      REQUIRE(csr);
      CHECK(csr->code() == Errc::invalid_argument);
      CHECK(csr->detail().find("given twice (R5)") != std::string::npos);
      std::vector<Triplet<double>> entries;
      for (std::size_t i = 0; i < 3; ++i) entries.push_back({0, cols[i], values[i]});
      const auto coo = test::error_of([&] {
        w.put<double>({0, 0}, {1, 4}, std::span<const Triplet<double>>(entries));
      });
      REQUIRE(coo);
      CHECK(coo->code() == Errc::invalid_argument);
    }
  }
}

TEST_CASE("writer: a single row may have any stride, since no second one exists") {
  const TempDir dir;
  const std::vector<int> values{1, 2, 3, 4};
  auto w = writer<int>(dir / "m", 1, 4);
  w.put<int>({0, 0}, {values.data(), 1, 4, 1});
  w.finish();
  const Matrix m = Matrix::open(dir / "m");
  std::vector<int> row(4);
  m.read<int>({{0, 1}, {0, 4}}, std::span(row), 1);
  CHECK(row == values);
}

TEST_CASE("writer: what is no value type is refused, and options with a wrong value are named") {
  const TempDir dir;
  const auto none = static_cast<ValueType>(99);
  const auto refused = [&](const auto& call) {
    const auto error = test::error_of(call);
    REQUIRE(error);
    CHECK(error->code() == Errc::invalid_argument);
    return *error;
  };
  for (const ValueType type : {none, static_cast<ValueType>(0), static_cast<ValueType>(11)}) {
    refused([&] { MatrixWriter::create(dir / "m", 2, 2, type); });
    refused([&] { FrameWriter::create(dir / "m", 2, std::vector<Column>{{"a", type}}); });
  }
  const double cells[4] = {1, 2, 3, 4};
  auto w = MatrixWriter::create(dir / "m", 2, 2, ValueType::f64);
  const auto bytes = std::as_bytes(std::span(cells));
  CHECK(refused([&] {
          w.put_region({{0, 2}, {0, 2}}, none, bytes);
        }).detail() == "there is no value type 99; they are 1, u8, to 10, f64");
  w.put_region({{0, 2}, {0, 2}}, ValueType::f64, bytes);
  w.finish();
  CHECK(Matrix::open(dir / "m").read<double>({{0, 2}, {0, 2}}) == std::vector<double>{1, 2, 3, 4});
  const auto option = [&](const WriteOptions& options) {
    return refused([&] { MatrixWriter::create(dir / "n", 2, 2, ValueType::f64, options); })
        .option();
  };
  CHECK(option({.tile = TileShape{0, 2}}) == "tile");
  CHECK(option({.align = 3}) == "align");
  CHECK(option({.attributes = "[]"}) == "attributes");
  CHECK(dir.names() == std::vector<std::string>{"m"});
}

TEST_CASE("writer: a writer that is assigned to leaves no file of its own") {
  const TempDir dir;
  auto w = MatrixWriter::create(dir / "a", 1, 1, ValueType::f64);
  w = MatrixWriter::create(dir / "b", 1, 1, ValueType::f64);
  MatrixWriter moved = std::move(w);
  moved.finish();
  w = MatrixWriter::create(dir / "c", 1, 1, ValueType::f64);
  w.finish();
  CHECK(dir.names() == std::vector<std::string>{"b", "c"});
}

TEST_CASE("writer: an alignment that would make a file of little but padding is refused") {
  const TempDir dir;
  WriteOptions options;
  options.tile = TileShape{1, 1};
  options.align = 2 << 20;
  options.sync = false;
  options.kind = KindChoice::dense;
  auto w = MatrixWriter::create(dir / "m", 64, 64, ValueType::f64, options);
  const double value = 0.1;
  const auto error = test::error_of([&] {
    for (std::uint64_t r = 0; r < 64; ++r) {
      for (std::uint64_t c = 0; c < 64; ++c) w.put<double>({r, c}, {&value, 1, 1});
    }
  });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  CHECK(error->detail().find("choose larger tiles or a smaller alignment") != std::string::npos);
  CHECK(dir.names().empty());
}

TEST_CASE("writer: a user's own file that is named like a temporary one stays") {
  const TempDir dir;
  const std::vector<std::string> own{".m.dapple-0", ".m.dapple-1", ".m.dapple-0-0123456789abcdef"};
  for (const std::string& name : own) test::write_text(dir / name, "mine");
  writer<int>(dir / "m", 2, 2).finish();
  WriteOptions options;
  options.overwrite = true;
  MatrixWriter::create(dir / "m", 2, 2, ValueType::u8, options).finish();
  for (const std::string& name : own) CHECK(test::read_text(dir / name) == "mine");
}
