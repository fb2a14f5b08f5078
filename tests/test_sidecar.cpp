#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/io/descriptor.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;
using test::Rng;
using test::TempDir;

namespace {

namespace fs = std::filesystem;

Image pinwheel_image() {
  Rng rng(50);
  return test::random_matrix(rng, test::pinwheels(2), ValueType::i32);
}

IndexOrigin origin(const fs::path& path) {
  return std::visit([](const auto& o) { return o.index_origin(); }, open(path));
}

// Writes over a file's bytes without cutting it first, which would make the disk busy.
void overwrite(const fs::path& path, const std::vector<std::byte>& bytes) {
  std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

bool warns(const fs::path& path) {
  return std::visit([](const auto& o) { return !o.note().empty(); }, open(path));
}

}  // namespace

TEST_CASE("sidecar: it is used while the file stays as it is, and leads to the same cells") {
  Rng rng(51);
  for (const test::Partition& p : test::partitions(rng, 7)) {
    CAPTURE(p.name);
    const TempDir dir;
    const auto path = dir.write("m", test::random_matrix(rng, p, ValueType::f32).bytes());
    CHECK(origin(path) == IndexOrigin::scanned);
    write_sidecar(path);
    CHECK(dir.names() == std::vector<std::string>{"m", "m.dpx"});
    CHECK(sidecar_path(path) == dir / "m.dpx");
    CHECK(origin(path) == IndexOrigin::sidecar);
    CHECK(!warns(path));
    CHECK(test::difference(path) == "");
  }
  const TempDir dir;
  const auto frame = dir.write("f", test::random_frame(rng, test::pinwheels(2)).bytes());
  write_sidecar(frame);
  CHECK(origin(frame) == IndexOrigin::sidecar);
  CHECK(test::difference(frame) == "");
}

TEST_CASE("sidecar: a file that changed in any way is walked again") {
  const TempDir dir;
  Image image = pinwheel_image();
  const auto path = dir.write("m", image.bytes());
  write_sidecar(path);
  const auto time = fs::last_write_time(path);
  REQUIRE(origin(path) == IndexOrigin::sidecar);

  SUBCASE("touched") { fs::last_write_time(path, time + std::chrono::seconds(1)); }
  SUBCASE("touched and set back, which its change time tells") {
    fs::last_write_time(path, time + std::chrono::seconds(1));
    fs::last_write_time(path, time);
  }
  SUBCASE("longer") {
    test::write_bytes(path, image.empty({7, 7}, 0, 0).bytes());
    fs::last_write_time(path, time);
  }
  SUBCASE("replaced by a file of the same size and time") {
    const auto other = dir.write("other", image.bytes());
    fs::last_write_time(other, time);
    fs::rename(other, path);
  }
  SUBCASE("another header") {
    test::write_bytes(path, image.patch(2, std::uint64_t{7}).bytes());
    fs::last_write_time(path, time);
  }
  CHECK(origin(path) == IndexOrigin::scanned);
  CHECK(warns(path));
  CHECK(test::difference(path) == "");
  write_sidecar(path);
  CHECK(origin(path) == IndexOrigin::sidecar);
  CHECK(!warns(path));
  CHECK(test::difference(path) == "");
}

TEST_CASE("sidecar: one of another file, or a cut one, is not used") {
  const TempDir dir;
  const auto path = dir.write("m", pinwheel_image().bytes());
  const auto other = dir.write("other", pinwheel_image().empty({0, 0}, 0, 0).bytes());
  write_sidecar(other);
  fs::rename(sidecar_path(other), sidecar_path(path));
  CHECK(origin(path) == IndexOrigin::scanned);
  CHECK(warns(path));
  write_sidecar(path);
  const auto bytes = test::read_bytes(sidecar_path(path));
  for (std::size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 37) {
    test::write_bytes(sidecar_path(path), std::span(bytes).first(size));
    CHECK(origin(path) == IndexOrigin::scanned);
    CHECK(warns(path));
  }
  CHECK(test::difference(path) == "");
  fs::remove(sidecar_path(path));
  fs::create_directory(sidecar_path(path));
  CHECK(origin(path) == IndexOrigin::scanned);
  CHECK(test::difference(path) == "");
}

TEST_CASE("sidecar: any changed byte gives the truth, or an error") {
  Rng rng(52);
  for (const bool gaps : {false, true}) {
    const TempDir dir;
    const test::Partition p = gaps ? test::scattered(rng, 6, 6, 6) : test::pinwheels(1);
    const auto path = dir.write("m", test::random_matrix(rng, p, ValueType::i16).bytes());
    const reference::Object truth = reference::read(test::read_bytes(path));
    write_sidecar(path);
    const fs::path sidecar = sidecar_path(path);
    auto bytes = test::read_bytes(sidecar);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const std::byte old = bytes[at];
      for (const int change : {1, 2, 0x80, 0xFF}) {
        CAPTURE(at);
        CAPTURE(change);
        bytes[at] = old ^ static_cast<std::byte>(change);
        overwrite(sidecar, bytes);
        CHECK(test::difference(path, truth, test::Demand::equal_or_error) == "");
      }
      bytes[at] = old;
    }
    overwrite(sidecar, bytes);
    CHECK(origin(path) == IndexOrigin::sidecar);
  }
}

TEST_CASE("sidecar: verify finds any changed byte of it, and blames it, not the file") {
  Rng rng(53);
  bool gaps = false, statistics = false;
  SUBCASE("the index of all cells") {}
  SUBCASE("the index of some cells") { gaps = true; }
  SUBCASE("with statistics") { statistics = true; }
  const TempDir dir;
  const test::Partition p = gaps ? test::scattered(rng, 6, 6, 6) : test::pinwheels(1);
  const auto path = dir.write("m", test::random_matrix(rng, p, ValueType::i16).bytes());
  const auto found_before = verify(path, Level::payload).findings.size();  // absent cells
  write_sidecar(path, {}, {.statistics = statistics});
  CHECK(verify(path, Level::payload).findings.size() == found_before);
  const fs::path sidecar = sidecar_path(path);
  auto bytes = test::read_bytes(sidecar);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    CAPTURE(at);
    bytes[at] ^= std::byte{4};
    overwrite(sidecar, bytes);
    for (const Level level : {Level::structure, Level::payload}) {
      const auto findings = verify(path, level).findings;
      REQUIRE(findings.size() > found_before);
      CHECK(findings.back().file() == sidecar.string());
      CHECK(findings.back().offset().value_or(bytes.size()) < bytes.size());
    }
    bytes[at] ^= std::byte{4};
  }
}

TEST_CASE("sidecar: verify tells one that is stale from one that is damaged") {
  const TempDir dir;
  const auto path = dir.write("m", pinwheel_image().bytes());
  write_sidecar(path);
  const fs::path sidecar = sidecar_path(path);
  const auto only_finding = [&] {
    const auto findings = verify(path, Level::structure).findings;
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].file() == sidecar.string());
    return findings[0];
  };
  const auto bytes = test::read_bytes(sidecar);
  test::write_bytes(sidecar, std::span(bytes).first(bytes.size() - 1));
  CHECK(only_finding().code() == Errc::corrupt);
  test::write_bytes(sidecar, std::span(bytes).first(10));
  CHECK(only_finding().code() == Errc::corrupt);
  test::write_bytes(sidecar, bytes);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  CHECK(only_finding().code() == Errc::stale_index);
  CHECK(only_finding().offset().value_or(0) / 8 == 3);  // the time of the last change
}

TEST_CASE("sidecar: an entry that leads astray is an error that names the sidecar") {
  const TempDir dir;
  const auto path = dir.write("m", pinwheel_image().bytes());
  write_sidecar(path);
  const fs::path sidecar = sidecar_path(path);
  const auto sound = test::read_bytes(sidecar);
  const std::uint64_t entry = 2 * test::kLine;  // after the binding and the head
  // Position, offset, bytes, stored values, rows, columns, block type, value type.
  for (const std::uint64_t field : {0, 8, 16, 24, 32, 48, 52, 56, 57}) {
    CAPTURE(field);
    auto bytes = sound;
    bytes[entry + field] ^= std::byte{1};
    overwrite(sidecar, bytes);
    const Matrix m = Matrix::open(path);
    const auto error = test::error_of([&] { m.read<double>({{0, m.rows()}, {0, m.cols()}}); });
    if (!error) continue;  // it was walked again
    CHECK(error->code() == Errc::corrupt);
    CHECK(error->file() == sidecar.string());
  }
}

TEST_CASE("sidecar: a file that has an index of its own gets one only if that is asked for") {
  const TempDir dir;
  auto w = MatrixWriter::create(dir / "m", 2, 2, ValueType::u8);
  w.finish();
  CHECK(!write_sidecar(dir / "m"));
  CHECK(dir.names() == std::vector<std::string>{"m"});
  CHECK(write_sidecar(dir / "m", {}, {.even_if_indexed = true}));
  CHECK(dir.names() == std::vector<std::string>{"m", "m.dpx"});
  CHECK(origin(dir / "m") == IndexOrigin::embedded);
  CHECK(verify(dir / "m", Level::payload).findings.empty());
}

TEST_CASE("sidecar: it goes with the file that is replaced, and only if it is one") {
  const TempDir dir;
  const auto rewrite = [&] {
    WriteOptions options;
    options.overwrite = true;
    options.plain = true;
    MatrixWriter::create(dir / "m", 2, 2, ValueType::u8, options).finish();
  };
  rewrite();
  CHECK(write_sidecar(dir / "m"));
  rewrite();
  CHECK(dir.names() == std::vector<std::string>{"m"});
  CHECK(verify(dir / "m", Level::payload).findings.empty());
  CHECK(write_sidecar(dir / "m"));
  ConvertOptions options;
  options.write.overwrite = true;
  options.to = "csv";
  convert(open(dir / "m"), {}, dir / "m", options);
  CHECK(dir.names() == std::vector<std::string>{"m"});
  test::write_text(dir / "m.dpx", "what somebody else calls so");
  rewrite();
  CHECK(dir.names() == std::vector<std::string>{"m", "m.dpx"});
}

TEST_CASE("sidecar: files that need no index get none") {
  const TempDir dir;
  test::write_text(dir / "text", "no DAPHNE file");
  CHECK(test::error_of([&] { write_sidecar(dir / "text"); })->code() == Errc::not_recognised);
  CHECK(test::error_of([&] { write_sidecar(dir / "nothing"); })->code() == Errc::io);
  const auto damaged =
      dir.write("damaged",
                Image::matrix(2, 2, ValueType::u8).empty({0, 0}, 2, 2).empty({1, 1}, 1, 1).bytes());
  CHECK(test::error_of([&] { write_sidecar(damaged); })->code() == Errc::corrupt);
  CHECK(dir.names() == std::vector<std::string>{"damaged", "text"});
}

TEST_CASE("sidecar: a stream has none, whatever lies beside the file it is named after") {
  const test::TempDir dir;
  const auto bytes = test::Image::matrix(2, 2, ValueType::u8, 1)
                         .dense<std::uint8_t>({0, 0}, 2, 2, {1, 2, 3, 4})
                         .bytes();
  const auto path = dir.write("m.dbdf", bytes);
  write_sidecar(path);
  const detail::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(fd.is_open());
  const Matrix m = std::get<Matrix>(open_stream(fd.get(), path.string()));
  CHECK(m.note() == "");
  CHECK(m.index_origin() == IndexOrigin::scanned);
}

TEST_CASE("sidecar: what comes out of a pipe can be read, but has no index") {
  const TempDir dir;
  const auto pipe = dir / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto refused = [](const auto& f) { return test::required_error(test::error_of(f)).code(); };
  CHECK(refused([&] { write_sidecar(pipe); }) == Errc::unsupported);
  CHECK(refused([&] { write_column_copy(pipe); }) == Errc::unsupported);
  const std::vector<std::byte> bytes = pinwheel_image().bytes();
  // So few that they fit into the pipe: its writer may be gone before the first is read.
  std::thread writer([&] {
    std::ofstream(pipe, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  });
  const Matrix read = Matrix::open(pipe), kept = Matrix::open(dir.write("m", bytes));
  writer.join();
  const Region all{{0, kept.rows()}, {0, kept.cols()}};
  CHECK(read.read<std::int32_t>(all) == kept.read<std::int32_t>(all));
}
