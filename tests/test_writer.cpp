#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "tests/compare.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Partition;
using test::Rng;
using test::TempDir;
using test::writer;

namespace {

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  std::string s;
  for (const std::byte b : bytes) {
    s += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
    s += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
  }
  return s;
}

std::string zeros(std::size_t bytes) { return std::string(2 * bytes, '0'); }
std::string ff(std::size_t bytes) { return std::string(2 * bytes, 'f'); }

WriteOptions plain() {
  WriteOptions options;
  options.plain = true;
  return options;
}

}  // namespace

TEST_CASE("writer: the file of FORMAT.md has the bytes that stand there") {
  const TempDir dir;
  WriteOptions options;
  options.tile = TileShape{2, 4};
  auto w = writer<std::int16_t>(dir / "m", 4, 4, options);
  const std::array<std::int16_t, 8> first = {1, 2, 3, 4, 5, 6, 7, 300},
                                    second = {0, 0, 0, 0, 0, 0, -5, 0};
  w.put<std::int16_t>({0, 0}, {first.data(), 2, 4});
  w.put<std::int16_t>({2, 0}, {second.data(), 2, 4});
  w.finish();
  const auto pad = [](const std::string& cols, std::size_t n) {
    return ff(16) + "01000000" + cols + "000000" + "0101" + "44504c2d50414444" + zeros(n);
  };
  const std::string expected =
      "0101"
      "0400000000000000"
      "0400000000000000"
      "06" +
      pad("39", 49) + zeros(16) +
      "0200000004000000"
      "0106"
      "01000200030004000500060007002c01" +
      pad("3c", 52) + "0200000000000000" + zeros(8) +
      "0200000004000000"
      "0105"
      "000000000000fb00" +
      pad("44", 60) + ff(16) +
      "0400000040000000"
      "0101"
      "44504c2d494e4458" +
      zeros(8) + "0200000000000000" + zeros(16) +
      "1000000000000000"
      "adec017d818b8e93"
      "7c28fc3dff1048e9" +
      zeros(16) +
      "7600000000000000"
      "1a00000000000000"
      "0800000000000000"
      "8b36dd0be6201dbb"
      "0200000004000000"
      "0106000000000000"
      "0200000000000000" +
      zeros(8) +
      "f600000000000000"
      "1200000000000000"
      "0800000000000000"
      "6ab494aae2c36890"
      "0200000004000000"
      "0105000000000000"
      "15ddb5e6bb55c885"
      "0001000000000000"
      "0200000000000000" +
      zeros(8) +
      "0200000004000000"
      "0100000000000000"
      "2134a480b19ea50b"
      "44504c2d5441494c";
  CHECK(hexadecimal(test::read_bytes(dir / "m")) == expected);
}

TEST_CASE("writer: plain files of each kind of block have these bytes") {
  const TempDir dir;
  WriteOptions options = plain();
  const auto file = [&](KindChoice kind, std::uint64_t cols, std::vector<std::uint16_t> values) {
    options.kind = kind;
    options.overwrite = true;
    const auto rows = values.size() / cols;
    auto w = writer<std::uint16_t>(dir / "m", rows, cols, options);
    w.put<std::uint16_t>({0, 0}, {values.data(), static_cast<std::uint32_t>(rows),
                                  static_cast<std::uint32_t>(cols)});
    w.finish();
    CHECK(test::difference(dir / "m") == "");
    return hexadecimal(test::read_bytes(dir / "m")).substr(38);
  };
  const std::string at = zeros(16), two = "0200000002000000", column = "0200000001000000";
  CHECK(file(KindChoice::automatic, 2, {0, 0, 0, 0}) == at + two + "00");
  CHECK(file(KindChoice::dense, 2, {1, 2, 3, 256}) == at + two +
                                                          "0102"
                                                          "0100020003000001");
  CHECK(file(KindChoice::dense, 2, {1, 2, 3, 255}) == at + two +
                                                          "0101"
                                                          "010203ff");
  CHECK(file(KindChoice::csr, 2, {0, 7, 0, 0}) == at + two +
                                                      "0201"
                                                      "0100000000000000"
                                                      "01000000"
                                                      "01000000"
                                                      "07"
                                                      "00000000");
  CHECK(file(KindChoice::coo, 2, {0, 0, 9, 0}) == at + two +
                                                      "0301"
                                                      "01000000"
                                                      "01000000"
                                                      "00000000"
                                                      "09");
  CHECK(file(KindChoice::coo, 1, {0, 300}) == at + column +
                                                  "0302"
                                                  "01000000"
                                                  "01000000"
                                                  "2c01");
}

TEST_CASE("writer: every partition is read back, whatever the layout") {
  Rng rng(40);
  const TempDir dir;
  for (const Partition& p : test::partitions(rng, 8)) {
    for (int layout = 0; layout < 3; ++layout) {
      CAPTURE(p.name);
      CAPTURE(layout);
      WriteOptions options;
      options.plain = layout == 0;
      options.align = layout == 1 ? 64 : 2;
      options.kind = static_cast<KindChoice>(rng.below(4));
      options.narrow = rng.chance(50);
      options.overwrite = true;
      options.sync = false;
      auto w = writer<std::int32_t>(dir / "m", p.rows, p.cols, options);
      std::vector<std::int32_t> all(p.rows * p.cols);
      for (const Region& cells : p.blocks) {
        std::vector<std::int32_t> values(cells.rows.size() * cells.cols.size());
        const std::uint64_t limit = std::uint64_t{1} << rng.between(1, 31);
        std::size_t i = 0;
        for (std::uint64_t r = cells.rows.begin; r < cells.rows.end; ++r) {
          for (std::uint64_t c = cells.cols.begin; c < cells.cols.end; ++c) {
            if (rng.chance(40)) values[i] = static_cast<std::int32_t>(rng.below(limit)) - 100;
            all[r * p.cols + c] = values[i++];
          }
        }
        w.put<std::int32_t>({cells.rows.begin, cells.cols.begin},
                            {values.data(), static_cast<std::uint32_t>(cells.rows.size()),
                             static_cast<std::uint32_t>(cells.cols.size())});
      }
      const WriteSummary summary = w.finish();
      CHECK(test::difference(dir / "m") == "");
      const Matrix m = Matrix::open(dir / "m");
      CHECK(m.read<std::int32_t>({{0, p.rows}, {0, p.cols}}) == all);  // nothing is absent (R7)
      CHECK(m.index_origin() == (layout == 0 ? IndexOrigin::scanned : IndexOrigin::embedded));
      CHECK(summary.bytes == m.bytes());
      CHECK(summary.counts.total == m.blocks().size());
      CHECK(summary.counts.stored == m.counts().stored);
    }
  }
}

namespace {

// The fewest bytes for cells of type T, found by trying everything: value types that give back
// every bit, in the order declared type, then codes; kinds in the order dense, CSR, COO.
struct Choice {
  BlockKind kind = BlockKind::empty;
  ValueType type = ValueType::u8;
  friend bool operator==(const Choice&, const Choice&) = default;
};

template <Value T>
Choice best_choice(const std::vector<T>& cells, std::uint64_t rows, std::uint64_t cols) {
  const auto declared = static_cast<int>(value_type_of<T>());
  std::uint64_t stored = 0, best_size = ~std::uint64_t{0};
  std::array<bool, 11> holds{};
  holds.fill(true);
  for (const T& cell : cells) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &cell, sizeof(T));
    stored += bits != 0;
    for (int type = 1; type <= 10; ++type) {
      const auto narrow = reference::convert(declared, bits, type);
      if (declared < 9 && type >= 9) holds[static_cast<std::size_t>(type)] = false;
      holds[static_cast<std::size_t>(type)] &=
          narrow && reference::convert(type, *narrow, declared) == bits;
    }
    // A signalling NaN keeps its type: processors would silence it on the way.
    if constexpr (std::is_same_v<T, double>) {
      if (std::isnan(cell) && ((bits >> 51) & 1) == 0) holds[9] = false;
    }
  }
  if (stored == 0) return {};
  std::vector<int> types{declared};
  for (int type = 1; type <= 10; ++type) types.push_back(type);
  int type = declared;
  for (const int t : types) {
    if (holds[static_cast<std::size_t>(t)] && reference::size_of(t) < reference::size_of(type)) {
      type = t;
    }
  }
  Choice best;
  const std::uint64_t size = reference::size_of(type);
  const std::uint64_t sizes[] = {10 + rows * cols * size, 18 + 4 * rows + stored * (4 + size),
                                 14 + stored * ((cols == 1 ? 4 : 8) + size)};
  for (int kind = 1; kind <= 3; ++kind) {
    if (sizes[kind - 1] >= best_size) continue;
    best_size = sizes[kind - 1];
    best = {static_cast<BlockKind>(kind), static_cast<ValueType>(type)};
  }
  return best;
}

template <Value T>
T corner_value(Rng& rng) {
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    const T values[] = {T(-0.0),
                        Limits::quiet_NaN(),
                        Limits::signaling_NaN(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::denorm_min(),
                        Limits::max(),
                        T(0.5),
                        T(1) / T(3),
                        T(16777216),
                        T(16777217),
                        T(4294967295.0),
                        T(4294967296.0),
                        T(-2147483648.0),
                        T(1e300),
                        T(1e30F),
                        T(-1),
                        T(255),
                        T(-129),
                        T(65536)};
    return values[rng.below(std::size(values))];
  } else {
    const int bits = static_cast<int>(rng.below(8 * sizeof(T)));
    const auto power = static_cast<std::uint64_t>(1) << bits;
    return static_cast<T>(rng.chance(50) ? power - rng.below(2) : 0 - power - rng.below(2));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("writer: a block takes the fewest bytes that give back every bit", T,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, float, double) {
  Rng rng(41);
  const TempDir dir;
  WriteOptions options = plain();
  options.overwrite = true;
  options.sync = false;
  for (int round = 0; round < 150; ++round) {
    const auto rows = static_cast<std::uint32_t>(rng.between(1, 12));
    const auto cols = static_cast<std::uint32_t>(rng.between(1, 12));
    std::vector<T> cells(std::size_t{rows} * cols);
    const auto density = static_cast<unsigned>(rng.below(101));
    const bool corners = rng.chance(50);
    for (T& cell : cells) {
      if (rng.chance(density)) cell = static_cast<T>(rng.below(200));
      if (corners && rng.chance(density / 8)) cell = corner_value<T>(rng);
    }
    auto w = writer<T>(dir / "m", rows, cols, options);
    std::vector<Triplet<T>> entries;
    for (std::uint32_t i = 0; i < cells.size(); ++i) {
      entries.push_back({i / cols, i % cols, cells[i]});
    }
    test::shuffle(entries, rng);
    if (round % 2 == 0) w.template put<T>({0, 0}, {cells.data(), rows, cols});
    if (round % 2 == 1)
      w.template put<T>({0, 0}, {rows, cols}, std::span<const Triplet<T>>(entries));
    w.finish();
    const Matrix m = Matrix::open(dir / "m");
    const BlockInfo info = *m.blocks().begin();
    const Choice got{info.kind, info.value_type}, want = best_choice(cells, rows, cols);
    CAPTURE(round);
    CAPTURE(name(want.kind));
    CAPTURE(name(want.type));
    CAPTURE(name(got.kind));
    CAPTURE(name(got.type));
    CHECK(got == want);
    const auto back = m.read<T>({{0, rows}, {0, cols}});
    CHECK(std::memcmp(back.data(), cells.data(), cells.size() * sizeof(T)) == 0);
    CHECK(test::difference(dir / "m") == "");
  }
}

TEST_CASE("writer: dense payloads start at a multiple of every alignment that is allowed") {
  const TempDir dir;
  const std::vector<double> values(7, 0.1);
  for (std::uint32_t align = 1; align <= (2U << 20); align *= 2) {
    CAPTURE(align);
    WriteOptions options;
    options.align = align;
    options.tile = TileShape{1, 7};
    options.overwrite = true;
    options.sync = false;
    auto w = writer<double>(dir / "m", 3, 7, options);
    for (std::uint64_t r = 0; r < 3; ++r) w.put<double>({r, 0}, {values.data(), 1, 7});
    w.finish();
    const Matrix m = Matrix::open(dir / "m");
    for (const BlockInfo& info : m.blocks()) CHECK((info.offset + 10) % align == 0);
    CHECK(m.read<double>({{2, 3}, {0, 7}}) == values);
    if (align >= 8) CHECK(m.tile(1, 0).dense<double>().aligned().has_value());
    if (align <= 4096) CHECK(test::difference(dir / "m") == "");
  }
  for (const std::uint32_t align : {0U, 3U, 48U, 4U << 20}) {
    WriteOptions options;
    options.align = align;
    const auto error = test::error_of([&] { writer<double>(dir / "n", 1, 1, options); });
    REQUIRE(error);
    CHECK(error->code() == Errc::invalid_argument);
  }
  CHECK(dir.names() == std::vector<std::string>{"m"});
}

TEST_CASE("writer: equal input gives an equal file, and puts from several threads equal cells") {
  const TempDir dir;
  constexpr std::uint64_t kEdge = 64;
  std::vector<std::int64_t> all(kEdge * kEdge);
  Rng rng(42);
  for (auto& cell : all) {
    cell = rng.chance(30) ? static_cast<std::int64_t>(rng.bits() >> rng.below(64)) : 0;
  }
  WriteOptions options;
  options.tile = TileShape{8, 8};
  const auto put = [&](MatrixWriter& w, std::uint64_t i) {
    const std::uint64_t r = i / 8 * 8, c = i % 8 * 8;
    w.put<std::int64_t>({r, c}, {all.data() + r * kEdge + c, 8, 8, kEdge});
  };
  for (const char* name : {"a", "b"}) {
    auto w = writer<std::int64_t>(dir / name, kEdge, kEdge, options);
    for (std::uint64_t i = 0; i < 64; ++i) put(w, i);
    w.finish();
  }
  CHECK(test::read_bytes(dir / "a") == test::read_bytes(dir / "b"));
  auto w = writer<std::int64_t>(dir / "c", kEdge, kEdge, options);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 63 - t; i < 64; i -= 4) put(w, i);
    });
  }
  for (auto& thread : threads) thread.join();
  w.finish();
  CHECK(test::difference(dir / "c") == "");
  CHECK(Matrix::open(dir / "c").read<std::int64_t>({{0, kEdge}, {0, kEdge}}) == all);
}

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
    const auto error = test::error_of([&] {
      w.put<float>({0, 0}, {values.data(), 2, 2});
      w.put<float>(second, {values.data(), 2, 2});
      w.finish();
    });
    REQUIRE(error);
    CHECK(error->code() == Errc::invalid_argument);
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
  CHECK(early->detail() == "expected a new file, got one that exists; --force overwrites it");
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

TEST_CASE("writer: frames keep labels, types and cells, and blocks stay inside one type (R8)") {
  const TempDir dir;
  const std::string longest(65535, 'x');
  const std::vector<Column> columns = {{"", ValueType::u8},
                                       {longest, ValueType::u8},
                                       {"\xC3\xA4", ValueType::f32},
                                       {"last", ValueType::i64}};
  auto w = FrameWriter::create(dir / "f", 3, columns);
  CHECK(w.column_strips() == std::vector<Range>{{0, 2}, {2, 3}, {3, 4}});
  const std::vector<int> values = {1, 2, 3, 4, 5, 6};
  w.put<int>({0, 0}, {values.data(), 3, 2});
  w.put<int>({0, 3}, {values.data(), 3, 1});
  const auto error = test::error_of([&] { w.put<int>({0, 1}, {values.data(), 3, 2}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  w.finish();
  CHECK(test::difference(dir / "f") == "");
  const Frame f = Frame::open(dir / "f");
  CHECK(f.label(1) == longest);
  CHECK(f.find_column("\xC3\xA4") == 2);
  CHECK(f.column("last") == 3);
  CHECK(!f.find_column("LAST"));
  CHECK(test::error_of([&] { f.column("LAST"); })->code() == Errc::absent);
  CHECK(f.read_column<int>(1, {1, 3}) == std::vector<int>{4, 6});
  CHECK(f.read_column<float>(2, {0, 3}) == std::vector<float>{0, 0, 0});

  const std::vector<Column> too_long = {{longest + "x", ValueType::u8}};
  CHECK(test::error_of([&] { FrameWriter::create(dir / "g", 1, too_long); })->code() ==
        Errc::invalid_argument);
  FrameWriter::create(dir / "none", 7, {}).finish();
  CHECK(test::difference(dir / "none") == "");
  CHECK(dir.names() == std::vector<std::string>{"f", "none"});
}

TEST_CASE("writer: cells behind those that settle a tile's value type still count") {
  const TempDir dir;
  constexpr std::uint32_t kSide = 256;
  std::vector<double> cells(std::size_t{kSide} * kSide);
  const auto written = [&](const std::string& name) {
    auto w = writer<double>(dir / name, kSide, kSide);
    w.put<double>({0, 0}, {cells.data(), kSide, kSide});
    w.finish();
    CHECK(test::difference(dir / name) == "");
    const Matrix m = Matrix::open(dir / name);
    CHECK(m.read<double>({{0, kSide}, {0, kSide}}) == cells);
    return (*m.blocks().begin());
  };
  cells[1] = 0.1;  // nothing smaller gives this back, and few cells follow it
  cells[50'000] = 1e300;
  cells[60'000] = 7;
  CHECK(written("sparse").kind != BlockKind::dense);
  CHECK(written("sparse2").stored == 3);
  std::fill(cells.begin() + 5000, cells.end(), 3);
  CHECK(written("dense").kind == BlockKind::dense);
  cells.assign(cells.size(), 3);
  CHECK(written("narrow").value_type == ValueType::u8);
  cells.back() = 0.1;
  CHECK(written("wide").value_type == ValueType::f64);
}
