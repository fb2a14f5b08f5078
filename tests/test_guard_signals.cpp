#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/children.h"
#include "tests/guarded_file.h"

using namespace dapple;
using namespace dapple::test;

namespace {

namespace fs = std::filesystem;

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

TEST_CASE("guard: it is there while an object that was opened with it lives") {
  const auto before = current_handler();
  const TempDir dir;
  const fs::path path = write_tile_file(dir);
  {
    const Matrix plain = Matrix::open(path);
    plain.read<double>(region_of(plain));
    CHECK((current_handler().sa_sigaction == before.sa_sigaction));
    std::optional<Matrix> first = Matrix::open(path, guarded());
    first->read<double>(region_of(*first));
    CHECK((current_handler().sa_sigaction != before.sa_sigaction));
    const Matrix second = Matrix::open(path, guarded());
    second.read<double>(region_of(second));
    const Matrix copy = second;
    first.reset();
    CHECK((current_handler().sa_sigaction != before.sa_sigaction));
  }
  CHECK((current_handler().sa_sigaction == before.sa_sigaction));
}

TEST_CASE("guard: signals of the host program reach the host program") {
  const HostHandler host;
  const TempDir dir;
  const fs::path path = write_tile_file(dir);
  CHECK(host_gets_its_signal());
  {
    const Matrix m = Matrix::open(path, guarded());
    m.prefetch(region_of(m));
    CHECK(host_gets_its_signal());
    cut_file(path, 4096);
    const int seen = host_signals;
    CHECK(error_of([&] { m.read<double>(region_of(m)); })->code() == Errc::io);
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
  const fs::path path = write_tile_file(dir);
  static int passed_on = 0;
  passed_on = 0;
  {
    const Matrix m = Matrix::open(path, guarded());
    m.prefetch(region_of(m));
    struct sigaction over = {};
    over.sa_flags = SA_SIGINFO;
    over.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      ++passed_on;
      under.sa_sigaction(signal, info, context);
    };
    sigaction(SIGBUS, &over, &under);
    cut_file(path, 4096);
    CHECK(error_of([&] { m.read<double>(region_of(m)); })->code() == Errc::io);
    CHECK(passed_on > 0);
  }
  CHECK((current_handler().sa_sigaction != under.sa_sigaction));
  passed_on = 0;
  {
    fs::remove(path);
    const Matrix again = Matrix::open(write_tile_file(dir), guarded());
    again.prefetch(region_of(again));
    cut_file(path, 4096);
    CHECK(error_of([&] { again.read<double>(region_of(again)); })->code() == Errc::io);
    CHECK(passed_on > 0);
  }
  sigaction(SIGBUS, &before, nullptr);
}

TEST_CASE("guard: a handler over it that reports, puts it back and raises again ends nothing") {
  const TempDir dir;
  const fs::path path = write_tile_file(dir);
  const pid_t child = start_child([&] {
    static struct sigaction under;
    static volatile int reports = 0;
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(SIGBUS, &action, nullptr);  // the address sanitizer has one of its own
    const Matrix m = Matrix::open(path, guarded());
    m.prefetch(region_of(m));
    action.sa_handler = [](int signal) {  // as Python's faulthandler does
      reports = reports + 1;
      sigaction(signal, &under, nullptr);
      raise(signal);
    };
    action.sa_flags = SA_NODEFER;
    sigaction(SIGBUS, &action, &under);
    cut_file(path, 4096);
    const auto error = error_of([&] { m.read<double>(region_of(m)); });
    return error && error->code() == Errc::io && reports == 1 ? 0 : 1;
  });
  CHECK(status_of(child) == 0);
}

TEST_CASE("guard: a thread that blocks SIGBUS is protected like any other") {
  const TempDir dir;
  for (const unsigned threads : {1U, 2U}) {
    CAPTURE(threads);
    fs::remove(dir / "m.dbdf");
    const fs::path path = write_tile_file(dir);
    const pid_t child = start_child([&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      const Matrix m = Matrix::open(path, guarded());
      m.prefetch(region_of(m));
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      const auto view = m.block({3 * kTileEdge, 3 * kTileEdge}).dense_view<double>();
      cut_file(path, 4096);
      if (view(kTileEdge - 1, 0) != 0) return 1;
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      ReadOptions options;
      options.threads = threads;
      const auto error = error_of([&] { m.read<double>(region_of(m), options); });
      return error && error->code() == Errc::io ? 0 : 1;
    });
    CHECK(status_of(child) == 0);
  }
}
