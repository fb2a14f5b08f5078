#include "peers/python_peers.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace dapple::bench {

using nlohmann::json;

/// A child with a pipe to its standard input and one from its standard output.
struct PythonPeers::Process {
  std::FILE* to = nullptr;
  std::FILE* from = nullptr;
  pid_t pid = -1;

  Process() {
    std::array<int, 2> down{}, up{};
    if (::pipe(down.data()) != 0 || ::pipe(up.data()) != 0) throw std::runtime_error("pipe failed");
    pid = ::fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) {
      ::dup2(down[0], STDIN_FILENO);
      ::dup2(up[1], STDOUT_FILENO);
      for (const int fd : {down[0], down[1], up[0], up[1]}) ::close(fd);
      ::execlp(DAPPLE_BENCH_PYTHON, DAPPLE_BENCH_PYTHON, DAPPLE_BENCH_PEERS,
               static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(down[0]);
    ::close(up[1]);
    to = ::fdopen(down[1], "w");
    from = ::fdopen(up[0], "r");
  }
  ~Process() {
    std::fclose(to);
    std::fclose(from);
    ::waitpid(pid, nullptr, 0);
  }

  /// The next line of the child; "" when it has ended.
  std::string read_line() const {
    std::string line;
    for (int c = std::fgetc(from); c != EOF && c != '\n'; c = std::fgetc(from)) {
      line += static_cast<char>(c);
    }
    return line;
  }
};

PythonPeers::PythonPeers() : process_(std::make_unique<Process>()) {
  try {
    versions_ = ask({{"do", "hello"}}).at("versions").get<std::map<std::string, std::string>>();
  } catch (const std::runtime_error&) {  // no Python, or no numpy: there is nothing to compare with
  }
}

PythonPeers::~PythonPeers() = default;

json PythonPeers::ask(const json& request) {
  const std::string line = request.dump() + '\n';
  std::fwrite(line.data(), 1, line.size(), process_->to);
  std::fflush(process_->to);
  const json reply = json::parse(process_->read_line(), nullptr, false);
  if (reply.is_discarded()) throw std::runtime_error("expected an answer of Python, got none");
  if (reply.contains("error")) {
    throw std::runtime_error("Python: " + reply["error"].get<std::string>());
  }
  return reply;
}

double PythonPeers::run(const json& request, Sample& sample) {
  const json reply = ask(request);
  sample.set(reply.at("seconds").get<double>());
  sample.add_cpu_elsewhere(reply.at("cpu").get<double>());
  return reply.at("answer").get<double>();
}

void PythonPeers::forget() {
  if (!versions_.empty()) ask({{"do", "forget"}});
}

Contender PythonPeers::contender(Contender contender, json request) {
  contender.run = [this, request = std::move(request)](Sample& sample) {
    return run(request, sample);
  };
  return contender;
}

}  // namespace dapple::bench
