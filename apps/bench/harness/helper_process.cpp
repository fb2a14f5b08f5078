#include "harness/helper_process.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

#include "harness/usage.h"

namespace dapple::bench {

namespace {

struct Report {
  double answer = 0, seconds = 0, cpu = 0;
  bool holds = true;
};

Report run_here(const Contender& contender) {
  Report report;
  Sample sample;
  const double cpu = own_cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  report.answer = contender.run(sample);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.cpu = own_cpu_seconds() - cpu;
  if (contender.holds) report.holds = contender.holds();
  return report;
}

/// The helper's life: a byte asks for a run, the end of the pipe for its end.
void serve(const Contender& contender, int from, int to) {
  for (char asked; ::read(from, &asked, 1) == 1;) {
    const Report report = run_here(contender);
    if (::write(to, &report, sizeof report) != sizeof report) return;
  }
}

class HelperProcess {
 public:
  explicit HelperProcess(const Contender& contender) {
    int down[2], up[2];
    if (::pipe(down) != 0 || ::pipe(up) != 0) throw std::runtime_error("pipe failed");
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ == 0) {
      ::close(down[1]);
      ::close(up[0]);
      try {
        serve(contender, down[0], up[1]);
      } catch (const std::exception& error) {
        fmt::print(stderr, "dapple-bench: {}: {}\n", contender.name, error.what());
      }
      ::_exit(0);
    }
    ::close(down[0]);
    ::close(up[1]);
    to_ = down[1];
    from_ = up[0];
  }
  ~HelperProcess() {
    ::close(to_);
    ::close(from_);
    ::kill(pid_, SIGKILL);  // a later helper may hold a copy of the pipe's end
    ::waitpid(pid_, nullptr, 0);
  }
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  double run(Sample& sample) {
    Report report;
    if (::write(to_, "r", 1) != 1 || ::read(from_, &report, sizeof report) != sizeof report) {
      throw std::runtime_error("expected an answer of a helper process, got none");
    }
    sample.set(report.seconds);
    sample.add_cpu_elsewhere(report.cpu);
    holds_ = report.holds;
    return report.answer;
  }
  bool holds() const { return holds_; }

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  bool holds_ = true;
};

}  // namespace

void move_to_helper(Contender& contender) {
  const auto helper = std::make_shared<HelperProcess>(contender);
  contender.how += "; in a process of its own";
  contender.run = [helper](Sample& sample) { return helper->run(sample); };
  contender.holds = [helper] { return helper->holds(); };
}

}  // namespace dapple::bench
