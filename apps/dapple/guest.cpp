#include "guest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "text.h"

namespace dapple::cli {

namespace {

constexpr FormatInfo kGuest{"parquet", "Parquet and Arrow's files, by pydapple",
                            ".parquet .feather .arrow"};
/// How kScript ends: the last two after the system's number of the reason.
constexpr int kNotInstalled = 3, kRefusedRead = 4, kRefusedWrite = 5;
/// How often a signal is looked for while the child is silent.
constexpr int kLookMilliseconds = 100;

/// Says on standard output what was wrong. Modules are not looked for in the working folder. A
/// signal lets it clean up.
constexpr const char* kScript = R"(
import signal, sys

ended = []

def end(*_):
    if not ended:
        ended.append(True)
        sys.exit(1)

for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(one) != signal.SIG_IGN:
        signal.signal(one, end)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
sys.path = [folder for folder in sys.path if folder]
try:
    import pyarrow, pydapple, warnings
except ImportError:
    sys.exit(3)
warnings.showwarning = lambda message, *_, **__: print("dapple:", message, file=sys.stderr)
try:
    pydapple.convert(sys.argv[1], sys.argv[2], overwrite=True)
except Exception as error:
    detail = getattr(error, "detail", None) or error
    if not isinstance(error, OSError) or not error.errno:
        print(detail, end="")
        sys.exit(1)
    print(error.errno, detail, end="")
    sys.exit(5 if error.filename == sys.argv[2] else 4)
)";

bool is_guest(const std::string& name) {
  for (const std::string_view ending : {".parquet", ".feather", ".arrow"}) {
    if (has_ending(name, ending)) return true;
  }
  return false;
}

std::string python() {
  const char* const chosen = ::getenv("DAPPLE_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

std::string temporary_place() {
  const char* const chosen = ::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

std::string of_temporary() { return "; that is a temporary file in " + temporary_place(); }

/// All that the child says. Ends it first when a signal asks this process to end.
std::string read_all(int pipe, pid_t child) {
  std::string said;
  std::array<char, 4096> buffer{};
  bool ended = false;
  for (;;) {
    if (!ended && LateEnding::asked()) ended = ::kill(child, SIGTERM) == 0;
    pollfd wanted{pipe, POLLIN, 0};
    if (::poll(&wanted, 1, kLookMilliseconds) <= 0) continue;  // a signal, or the time
    const ssize_t n = ::read(pipe, buffer.data(), buffer.size());
    if (n == 0 || (n < 0 && errno != EINTR)) return said;
    if (n > 0) said.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

/// Runs pydapple's convert; what it printed, and its exit status.
std::pair<std::string, int> run_convert(const std::string& in, const std::string& out) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return {std::strerror(errno), -1};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  std::array<std::string, 5> words{python(), "-c", kScript, in, out};
  std::array<char*, 6> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  std::string said = failed == 0 ? read_all(pipe[0], child) : "";
  ::close(pipe[0]);
  int status = 0;
  if (failed != 0) return {"", kNotInstalled};
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  LateEnding::check();
  return {std::move(said), WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

/// `file` is the one that the user named.
void convert_by_pydapple(const std::string& in, const std::string& out, const std::string& file) {
  auto [said, status] = run_convert(in, out);
  if (status == 0) return;
  if (status == kNotInstalled) {
    throw Error(
        Errc::unsupported, file, std::nullopt,
        fmt::format("Parquet and Arrow's files are converted by pydapple and pyarrow, which "
                    "{} has not: 'pip install pydapple pyarrow', or name a Python that has "
                    "them in DAPPLE_PYTHON",
                    python()));
  }
  if (status == kRefusedRead || status == kRefusedWrite) {
    const int reason = std::atoi(said.c_str());
    said.erase(0, said.find(' ') + 1);
    if (status == kRefusedWrite && out != file) said += of_temporary();
    throw Error(Errc::io, file, std::nullopt, said, {}, reason);
  }
  throw Error(Errc::unsupported, file, std::nullopt,
              "pydapple says: " + (said.empty() ? "it was ended" : said));
}

}  // namespace

bool Guest::takes(const Destination& destination) {
  return destination.to.empty() && is_guest(destination.path);
}

const FormatInfo& Guest::format() noexcept { return kGuest; }

Guest::Guest(Input& input, Destination& destination) {
  std::error_code none;
  if (is_guest(input.file) && input.options.format.empty() &&
      std::filesystem::exists(input.file, none)) {
    const std::string made = folder_.file("in.dbdf", input.file);
    convert_by_pydapple(input.file, made, input.file);
    in_ = std::exchange(input.file, made);
  }
  if (!takes(destination)) return;
  stand_in_ = folder_.file("out.dbdf", destination.path);
  out_ = std::exchange(destination.path, stand_in_);
}

Guest::Folder::~Folder() {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove_all(path, ignored);
}

std::string Guest::Folder::file(const char* name, const std::string& user_file) {
  if (path.empty()) {
    std::string made = temporary_place() + "/dapple-XXXXXX";
    if (::mkdtemp(made.data()) == nullptr) {
      throw Error(Errc::io, user_file, std::nullopt,
                  fmt::format("cannot create a temporary folder in {}: {}", temporary_place(),
                              std::strerror(errno)),
                  {}, errno);
    }
    ending.emplace();
    path = std::move(made);
  }
  return path + "/" + name;
}

void Guest::finish(Destination& destination, std::optional<WriteSummary>& written) {
  if (out_.empty()) return;
  destination.path = out_;
  convert_by_pydapple(stand_in_, out_, out_);
  written = WriteSummary{};
  written->bytes = std::filesystem::file_size(out_);
}

Error Guest::named(const Error& error) const {
  const bool ours = !folder_.path.empty() && error.file().starts_with(folder_.path);
  if (!ours) return error;
  std::string detail = error.detail();
  if (error.code() == Errc::io) detail += of_temporary();
  return error.retold(error.file() == stand_in_ ? out_ : in_, std::nullopt, std::move(detail));
}

}  // namespace dapple::cli
