#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/children.h"
#include "tests/guarded_file.h"

using namespace dapple;
using namespace dapple::test;

namespace {

namespace fs = std::filesystem;

void require_told(const std::optional<Error>& error, const std::string& part) {
  REQUIRE(error);
  const std::string told = error->what();
  CAPTURE(told);
  CAPTURE(part);
  CHECK(error->code() == Errc::io);
  CHECK(told.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("guard: a file that is cut while it is open is an error that names the block") {
  for (const bool plain : {false, true}) {
    CAPTURE(plain);
    const TempDir dir;
    const fs::path path = write_tile_file(dir, plain);
    const Matrix m = Matrix::open(path, guarded());
    const Block last = m.block({3 * kTileEdge, 3 * kTileEdge});
    const auto view = last.dense_view<double>();
    CHECK(view(kTileEdge - 1, kTileEdge - 1) == 4.0 * kTileEdge * 4 * kTileEdge);
    const auto size = fs::file_size(path);
    std::vector<double> cells(kTileEdge * kTileEdge);

    cut_file(path, 5000);
    // What the view shows now is zero, and the object tells.
    CHECK(view(kTileEdge / 2, 0) == 0);
    require_told(error_of([&] { m.require_intact(); }), "truncated to 5000 bytes");
    require_told(error_of([&] { last.decode(std::span(cells)); }), "block (192, 192)");
    require_told(error_of([&] { m.read<double>(region_of(m)); }), "truncated to 5000 bytes");
    require_told(error_of([&] { m.block({kTileEdge, kTileEdge}); }), "truncated to 5000 bytes");
    require_told(error_of([&] { m.find_cover(5, 5); }), "truncated to 5000 bytes");
    require_told(error_of([&] { m.read_csr<double>(region_of(m)); }), "truncated to 5000 bytes");
    require_told(error_of([&] { last.payload(); }), "truncated to 5000 bytes");
    require_told(error_of([&] { m.tile(0, 0).info(); }), "truncated to 5000 bytes");
    require_told(error_of([&] { last.to_csr<double>(); }), "truncated to 5000 bytes");
    require_told(error_of([&] {
                   ConvertOptions options;
                   convert(m, {}, dir / "out.npy", options);
                 }),
                 "truncated to 5000 bytes");
    CHECK(dir.names() == std::vector<std::string>{"m.dbdf"});

    cut_file(path, size);  // zeros where cells were
    require_told(error_of([&] { m.read<double>({{0, 1}, {0, 1}}); }), "changed in place");
  }
}

TEST_CASE(
    "guard: other cells of the same size within one tick of the clock are told by the index") {
  const TempDir dir;
  const std::vector<double> old_cells(100, 1.5), new_cells(100, 2.5);
  const auto write = [&](const char* name, const std::vector<double>& cells) {
    MatrixWriter writer = MatrixWriter::create(dir / name, 10, 10, ValueType::f64);
    writer.put<double>({0, 0}, {cells.data(), 10, 10});
    writer.finish();
    return read_bytes(dir / name);
  };
  const auto before = write("m.dbdf", old_cells), after = write("n.dbdf", new_cells);
  REQUIRE(before.size() == after.size());
  const auto time = fs::last_write_time(dir / "m.dbdf");
  const Matrix m = Matrix::open(dir / "m.dbdf", guarded());
  CHECK(m.read<double>(region_of(m)) == old_cells);
  std::fstream file(dir / "m.dbdf", std::ios::in | std::ios::out | std::ios::binary);
  file.write(reinterpret_cast<const char*>(after.data()),
             static_cast<std::streamsize>(after.size()));
  file.close();
  fs::last_write_time(dir / "m.dbdf", time);  // as if the clock had not gone on
  require_told(error_of([&] { m.read<double>(region_of(m)); }), "changed in place");
  require_told(error_of([&] { m.require_intact(); }), "changed in place");
}

TEST_CASE("guard: a cut inside the last page, which raises no signal, is an error too") {
  const TempDir dir;
  const auto path = dir.write("m", Image::matrix(2, 3, ValueType::u8)
                                       .dense<std::uint8_t>({0, 0}, 2, 3, {1, 2, 3, 4, 5, 6})
                                       .bytes());
  const Matrix m = Matrix::open(path, guarded());
  m.prefetch(region_of(m));  // maps the file
  const auto view = m.block({0, 0}).dense_view<std::uint8_t>();
  CHECK(m.read<int>(region_of(m)) == std::vector<int>{1, 2, 3, 4, 5, 6});
  cut_file(path, 48);
  CHECK(view(1, 2) == 0);
  require_told(error_of([&] { m.require_intact(); }), "truncated to 48 bytes");
  require_told(error_of([&] { m.read<int>(region_of(m)); }), "block (0, 0)");
}

TEST_CASE("guard: a file that is written over in place is an error") {
  const TempDir dir;
  const fs::path path = write_tile_file(dir);
  const Matrix m = Matrix::open(path, guarded());
  CHECK(m.read<double>({{0, 1}, {0, 2}}) == std::vector<double>{1, 2});
  auto bytes = read_bytes(path);
  write_bytes(path, bytes);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  require_told(error_of([&] { m.read<double>({{0, 1}, {0, 2}}); }), "changed in place");
}

TEST_CASE("guard: replacing, linking, renaming or removing the file disturbs nobody") {
  const TempDir dir;
  const fs::path path = write_tile_file(dir);
  const Matrix m = Matrix::open(path, guarded());
  const auto cells = m.read<double>(region_of(m));
  fs::create_hard_link(path, dir / "link");
  fs::permissions(path, fs::perms::owner_read);
  CHECK(m.read<double>(region_of(m)) == cells);
  fs::rename(path, dir / "other");
  fs::remove(dir / "other");
  fs::remove(dir / "link");
  write_tile_file(dir);
  CHECK(m.read<double>(region_of(m)) == cells);
  m.require_intact();
}

TEST_CASE("guard: without it a cut ends the process, with it the process lives") {
  const TempDir dir;
  for (const bool guard : {false, true}) {
    CAPTURE(guard);
    fs::remove(dir / "m.dbdf");
    const fs::path path = write_tile_file(dir);
    const pid_t child = start_child([&] {
      struct sigaction fatal = {};
      fatal.sa_handler = SIG_DFL;
      sigaction(SIGBUS, &fatal, nullptr);  // the address sanitizer has one of its own
      OpenOptions options;
      options.guard = guard;
      const Matrix m = Matrix::open(path, options);
      m.prefetch(region_of(m));
      cut_file(path, 4096);
      const auto error = error_of([&] { m.read<double>(region_of(m)); });
      return error && error->code() == Errc::io ? 0 : 1;
    });
    const int status = status_of(child);
    if (guard) {
      CHECK(status == 0);
    } else {
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == SIGBUS);
    }
  }
}

TEST_CASE("guard: every format tells that its file was cut") {
  const TempDir dir;
  const fs::path path = write_tile_file(dir);
  for (const std::string name : {"m.npy", "m.csv", "m.mtx", "m.btable", "m.idv", "m.fut", "m.d"}) {
    CAPTURE(name);
    ConvertOptions to;
    if (name == "m.fut") to.to = "futhark";
    if (name == "m.d") to.to = "daphne";
    convert(open(path), {}, dir / name, to);
    OpenOptions options = guarded();
    if (!to.to.empty()) options.format = to.to;
    const auto object = open(dir / name, options);
    const auto read = [&] {
      std::visit(
          [](const auto& o) {
            if constexpr (std::is_same_v<std::decay_t<decltype(o)>, Matrix>) {
              o.template read<double>({{0, o.rows()}, {0, o.cols()}});
            } else {
              for (std::uint64_t c = 0; c < o.cols(); ++c) {
                o.template read_column<double>(c, {0, o.rows()});
              }
            }
          },
          object);
    };
    read();
    const auto size = fs::file_size(dir / name);
    // Text was parsed when it was opened, and is needed no more.
    const bool parsed = name == "m.csv" || name == "m.mtx" || name == "m.btable";
    for (const std::uint64_t left : {size - 1, size / 2, std::uint64_t{4096}, std::uint64_t{0}}) {
      cut_file(dir / name, left);
      if (parsed) {
        CHECK(!error_of(read));
      } else {
        require_told(error_of(read), "truncated to " + std::to_string(left) + " bytes");
      }
    }
  }
}

TEST_CASE("guard: files that are verified, indexed or repaired tell as well") {
  const TempDir dir;
  const fs::path path = write_tile_file(dir, true);
  const auto told = [&](const std::function<void(const TakeProgress&)>& work) {
    fs::remove(path);
    write_tile_file(dir, true);
    bool done = false;
    const auto error = error_of([&] {
      work([&](std::uint64_t, std::uint64_t) {
        if (!done) cut_file(path, 300000);
        done = true;
      });
    });
    REQUIRE(done);
    require_told(error, "truncated to 300000 bytes");
  };
  told([&](const TakeProgress& tell) { verify(path, Level::payload, guarded(), tell); });
  told([&](const TakeProgress& tell) { repair(path, dir / "out", {}, guarded(), tell); });
  CHECK(dir.names() == std::vector<std::string>{"m.dbdf"});
}
