#include <doctest/doctest.h>

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;
using test::TempDir;

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kEdge = 64;  // a tile of f64 is 32 KiB: eight pages

// 4 x 4 tiles; cell (r, c) is 1 + r * 256 + c, so that no cell is zero.
fs::path write_tiles(const TempDir& dir, bool plain = false) {
  WriteOptions options;
  options.tile = TileShape{kEdge, kEdge};
  options.narrow = false;
  options.plain = plain;
  constexpr std::uint64_t side = 4 * kEdge;
  std::vector<double> cells(side * side);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = 1.0 + static_cast<double>(i);
  auto w = MatrixWriter::create(dir / "m.dbdf", side, side, ValueType::f64, options);
  for (std::uint64_t r = 0; r < side; r += kEdge) {
    for (std::uint64_t c = 0; c < side; c += kEdge) {
      w.put<double>({r, c}, {cells.data() + r * side + c, kEdge, kEdge, side});
    }
  }
  w.finish();
  return dir / "m.dbdf";
}

OpenOptions guarded() {
  OpenOptions options;
  options.guard = true;
  return options;
}

Region all_of(const Matrix& m) { return {{0, m.rows()}, {0, m.cols()}}; }

// Cuts the file to `size` bytes, as a careless writer would.
void cut(const fs::path& path, std::uint64_t size) { fs::resize_file(path, size); }

void require_told(const std::optional<Error>& error, const std::string& part) {
  REQUIRE(error);
  const std::string told = error->what();
  CAPTURE(told);
  CAPTURE(part);
  CHECK(error->code() == Errc::io);
  CHECK(told.find(part) != std::string::npos);
}

struct sigaction current_handler() {
  struct sigaction action = {};
  sigaction(SIGBUS, nullptr, &action);
  return action;
}

// A page of a file that was cut off: touching it raises SIGBUS, and is none of the library's
// business.
class LostPage {
 public:
  LostPage() : fd_(memfd_create("lost", MFD_CLOEXEC)) {
    REQUIRE(ftruncate(fd_, 4096) == 0);
    page_ = static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd_, 0));
    REQUIRE(ftruncate(fd_, 0) == 0);
  }
  ~LostPage() {
    munmap(page_, 4096);
    close(fd_);
  }
  volatile char* page() const { return page_; }

 private:
  int fd_;
  char* page_;
};

sigjmp_buf back;
volatile int host_signals = 0;

void host_handler(int, siginfo_t*, void*) {
  host_signals = host_signals + 1;
  siglongjmp(back, 1);
}

// Touches a lost page of the host's own; true when its handler got the signal.
bool host_gets_its_signal() {
  const LostPage lost;
  const int before = host_signals;
  if (sigsetjmp(back, 1) == 0) static_cast<void>(*lost.page());
  return host_signals == before + 1;
}

// Puts a handler there, and the old one back.
class HostHandler {
 public:
  HostHandler() {
    struct sigaction action = {};
    action.sa_sigaction = &host_handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, &old_);
  }
  ~HostHandler() { sigaction(SIGBUS, &old_, nullptr); }

 private:
  struct sigaction old_;
};

}  // namespace

TEST_CASE("guard: a file that is cut while it is open is an error that names the block") {
  for (const bool plain : {false, true}) {
    CAPTURE(plain);
    const TempDir dir;
    const fs::path path = write_tiles(dir, plain);
    const Matrix m = Matrix::open(path, guarded());
    const Block last = m.block({3 * kEdge, 3 * kEdge});
    const auto view = last.dense_view<double>();
    CHECK(view(kEdge - 1, kEdge - 1) == 4.0 * kEdge * 4 * kEdge);
    const auto size = fs::file_size(path);
    std::vector<double> cells(kEdge * kEdge);

    cut(path, 5000);
    // What the view shows now is zero, and the object tells.
    CHECK(view(kEdge / 2, 0) == 0);
    require_told(test::error_of([&] { m.require_intact(); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] { last.decode(std::span(cells)); }), "block (192, 192)");
    require_told(test::error_of([&] { m.read<double>(all_of(m)); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] { m.block({kEdge, kEdge}); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] { m.find_cover(5, 5); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] { m.read_csr<double>(all_of(m)); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] { last.payload(); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] { m.tile(0, 0).info(); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] { last.to_csr<double>(); }), "truncated to 5000 bytes");
    require_told(test::error_of([&] {
                   ConvertOptions options;
                   convert(m, {}, dir / "out.npy", options);
                 }),
                 "truncated to 5000 bytes");
    CHECK(dir.names() == std::vector<std::string>{"m.dbdf"});

    cut(path, size);  // zeros where cells were
    require_told(test::error_of([&] { m.read<double>({{0, 1}, {0, 1}}); }), "changed in place");
  }
}

TEST_CASE("guard: a cut inside the last page, which raises no signal, is an error too") {
  const TempDir dir;
  const auto path = dir.write("m", Image::matrix(2, 3, ValueType::u8)
                                       .dense<std::uint8_t>({0, 0}, 2, 3, {1, 2, 3, 4, 5, 6})
                                       .bytes());
  const Matrix m = Matrix::open(path, guarded());
  m.prefetch(all_of(m));  // maps the file
  const auto view = m.block({0, 0}).dense_view<std::uint8_t>();
  CHECK(m.read<int>(all_of(m)) == std::vector<int>{1, 2, 3, 4, 5, 6});
  cut(path, 48);
  CHECK(view(1, 2) == 0);
  require_told(test::error_of([&] { m.require_intact(); }), "truncated to 48 bytes");
  require_told(test::error_of([&] { m.read<int>(all_of(m)); }), "block (0, 0)");
}

TEST_CASE("guard: a file that is written over in place is an error") {
  const TempDir dir;
  const fs::path path = write_tiles(dir);
  const Matrix m = Matrix::open(path, guarded());
  CHECK(m.read<double>({{0, 1}, {0, 2}}) == std::vector<double>{1, 2});
  auto bytes = test::read_bytes(path);
  test::write_bytes(path, bytes);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  require_told(test::error_of([&] { m.read<double>({{0, 1}, {0, 2}}); }), "changed in place");
}

TEST_CASE("guard: replacing, linking, renaming or removing the file disturbs nobody") {
  const TempDir dir;
  const fs::path path = write_tiles(dir);
  const Matrix m = Matrix::open(path, guarded());
  const auto cells = m.read<double>(all_of(m));
  fs::create_hard_link(path, dir / "link");
  fs::permissions(path, fs::perms::owner_read);
  CHECK(m.read<double>(all_of(m)) == cells);
  fs::rename(path, dir / "other");
  fs::remove(dir / "other");
  fs::remove(dir / "link");
  write_tiles(dir);
  CHECK(m.read<double>(all_of(m)) == cells);
  m.require_intact();
}

TEST_CASE("guard: it is there while an object that was opened with it lives") {
  const auto before = current_handler();
  const TempDir dir;
  const fs::path path = write_tiles(dir);
  {
    const Matrix plain = Matrix::open(path);
    plain.read<double>(all_of(plain));
    CHECK((current_handler().sa_sigaction == before.sa_sigaction));
    std::optional<Matrix> first = Matrix::open(path, guarded());
    first->read<double>(all_of(*first));
    CHECK((current_handler().sa_sigaction != before.sa_sigaction));
    const Matrix second = Matrix::open(path, guarded());
    second.read<double>(all_of(second));
    const Matrix copy = second;
    first.reset();
    CHECK((current_handler().sa_sigaction != before.sa_sigaction));
  }
  CHECK((current_handler().sa_sigaction == before.sa_sigaction));
}

TEST_CASE("guard: signals of the host program reach the host program") {
  const HostHandler host;
  const TempDir dir;
  const fs::path path = write_tiles(dir);
  CHECK(host_gets_its_signal());
  {
    const Matrix m = Matrix::open(path, guarded());
    m.prefetch(all_of(m));
    CHECK(host_gets_its_signal());
    cut(path, 4096);
    const int seen = host_signals;
    CHECK(test::error_of([&] { m.read<double>(all_of(m)); })->code() == Errc::io);
    CHECK(host_signals == seen);  // ours were none of its business
    CHECK(host_gets_its_signal());
  }
  CHECK(host_gets_its_signal());
  CHECK((current_handler().sa_sigaction == &host_handler));
}

TEST_CASE("guard: a handler that the host puts over it stays, and leads to it") {
  static struct sigaction under;
  struct sigaction before = current_handler();
  const TempDir dir;
  const fs::path path = write_tiles(dir);
  static int passed_on = 0;
  passed_on = 0;
  {
    const Matrix m = Matrix::open(path, guarded());
    m.prefetch(all_of(m));
    struct sigaction over = {};
    over.sa_flags = SA_SIGINFO;
    over.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      ++passed_on;
      under.sa_sigaction(signal, info, context);
    };
    sigaction(SIGBUS, &over, &under);
    cut(path, 4096);
    CHECK(test::error_of([&] { m.read<double>(all_of(m)); })->code() == Errc::io);
    CHECK(passed_on > 0);
  }
  CHECK((current_handler().sa_sigaction != under.sa_sigaction));
  passed_on = 0;
  {
    fs::remove(path);
    const Matrix again = Matrix::open(write_tiles(dir), guarded());
    again.prefetch(all_of(again));
    cut(path, 4096);
    CHECK(test::error_of([&] { again.read<double>(all_of(again)); })->code() == Errc::io);
    CHECK(passed_on > 0);
  }
  sigaction(SIGBUS, &before, nullptr);
}

TEST_CASE("guard: a handler over it that reports, puts it back and raises again ends nothing") {
  const TempDir dir;
  const fs::path path = write_tiles(dir);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    static struct sigaction under;
    static volatile int reports = 0;
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(SIGBUS, &action, nullptr);  // the address sanitizer has one of its own
    const Matrix m = Matrix::open(path, guarded());
    m.prefetch(all_of(m));
    action.sa_handler = [](int signal) {  // as Python's faulthandler does
      reports = reports + 1;
      sigaction(signal, &under, nullptr);
      raise(signal);
    };
    action.sa_flags = SA_NODEFER;
    sigaction(SIGBUS, &action, &under);
    cut(path, 4096);
    const auto error = test::error_of([&] { m.read<double>(all_of(m)); });
    _exit(error && error->code() == Errc::io && reports == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("guard: without it a cut ends the process, with it the process lives") {
  const TempDir dir;
  for (const bool guard : {false, true}) {
    CAPTURE(guard);
    fs::remove(dir / "m.dbdf");
    const fs::path path = write_tiles(dir);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      struct sigaction fatal = {};
      fatal.sa_handler = SIG_DFL;
      sigaction(SIGBUS, &fatal, nullptr);  // the address sanitizer has one of its own
      OpenOptions options;
      options.guard = guard;
      const Matrix m = Matrix::open(path, options);
      m.prefetch(all_of(m));
      cut(path, 4096);
      const auto error = test::error_of([&] { m.read<double>(all_of(m)); });
      _exit(error && error->code() == Errc::io ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (guard) {
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 0);
    } else {
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == SIGBUS);
    }
  }
}

TEST_CASE("guard: every format tells that its file was cut") {
  const TempDir dir;
  const fs::path path = write_tiles(dir);
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
    for (const std::uint64_t left : {size - 1, size / 2, std::uint64_t{4096}, std::uint64_t{0}}) {
      cut(dir / name, left);
      require_told(test::error_of(read), "truncated to " + std::to_string(left) + " bytes");
    }
  }
}

TEST_CASE("guard: files that are verified, indexed or repaired tell as well") {
  const TempDir dir;
  const fs::path path = write_tiles(dir, true);
  const auto told = [&](const std::function<void(const TakeProgress&)>& work) {
    fs::remove(path);
    write_tiles(dir, true);
    bool done = false;
    const auto error = test::error_of([&] {
      work([&](std::uint64_t, std::uint64_t) {
        if (!done) cut(path, 300000);
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

TEST_CASE("guard: a thread that blocks SIGBUS is protected like any other") {
  const TempDir dir;
  for (const unsigned threads : {1U, 2U}) {
    CAPTURE(threads);
    fs::remove(dir / "m.dbdf");
    const fs::path path = write_tiles(dir);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      const Matrix m = Matrix::open(path, guarded());
      m.prefetch(all_of(m));
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      const auto view = m.block({3 * kEdge, 3 * kEdge}).dense_view<double>();
      cut(path, 4096);
      if (view(kEdge - 1, 0) != 0) _exit(1);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      ReadOptions options;
      options.threads = threads;
      const auto error = test::error_of([&] { m.read<double>(all_of(m), options); });
      _exit(error && error->code() == Errc::io ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}
