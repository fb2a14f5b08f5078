// dapple view: a page that zooms from the whole matrix to its cells, served to a browser on this
// machine or written as a file.
#include <signal.h>

#include <thread>

#include "input.h"
#include "page.h"
#include "progress.h"
#include "publish.h"
#include "report.h"
#include "server.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

/// Blocks the signals that end a program, so that one thread can wait for them; those started later
/// block them as well.
sigset_t blocked_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void serve(const Input& input, bool exact, std::uint16_t port, Console& console) {
  const auto open_it = [&] {
    auto resources = std::make_unique<viewer::Resources>(
        open_input(input), input.name(), viewer::ResourceOptions{.threads = console.threads});
    if (exact && resources->zooms() > 0) {
      Progress progress(printable(input.name()), console.quiet);
      resources->read_all(
          [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
    }
    return resources;
  };
  const sigset_t signals = blocked_signals();
  viewer::Server server(open_it, input.file == "-" ? "" : input.file);
  const std::string address = server.listen(port);
  console.out.print("{}\n", address);
  console.out.flush();
  if (!console.quiet) say("open this address in a browser on this machine; Ctrl-C ends it");
  std::jthread waiting([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    server.stop();
  });
  server.run();
  // The server may have ended by itself: wakes who waits.
  ::pthread_kill(waiting.native_handle(), SIGTERM);
}

int run_view(const Arguments& arguments, Console& console) {
  Input input;
  Destination destination;
  bool exact = false;
  std::uint16_t port = 0;
  Command command(kViewVerb);
  add_input(command, input);
  command.section("serving a page");
  command.flag("--exact", exact,
               "read every cell once before anything is shown; without it, parts that hold many "
               "values are shown by what the index tells of them and by samples");
  command.option(
      "--port", "N",
      [&port](const std::string& text) {
        port = static_cast<std::uint16_t>(parse_number("--port", text, 1, 65535));
      },
      "use this port; without it, any that is free");
  command.section("writing a page");
  command.option(
      "-o,--output", "OUT", [&](const std::string& text) { take_output(text, destination); },
      "write a page that needs no server; its name ends in .html");
  command.flag("--force", destination.force, "replace OUT if it exists");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  if (destination.path.empty()) {
    if (destination.force) throw UsageError("--force is about a file: name it with -o OUT");
    serve(input, exact, port, console);
    return kDone;
  }
  if (!destination.path.ends_with(".html")) {
    throw UsageError("-o takes a name that ends in .html, not '" + printable(destination.path) +
                     "'");
  }
  if (exact || port != 0)
    throw UsageError("--exact and --port are about a server, -o about a file");
  require_replaceable(destination);
  viewer::Resources resources(open_input(input), input.name(), {.threads = console.threads});
  say_note(input, resources.object(), console);
  Progress progress(printable(destination.path), console.quiet);
  publish(destination, viewer::whole_page(resources, [&](std::uint64_t done, std::uint64_t total) {
            progress.update(done, total);
          }));
  return kDone;
}

}  // namespace

const Verb kViewVerb = {
    "view",
    "FILE",
    "a page in the browser, from the whole to single cells",
    "Prints the address of a page and serves it until it is interrupted: on this machine\n"
    "only, and only to those who have the address. A file that is replaced meanwhile is\n"
    "opened anew when the page is loaded again.\n",
    "  dapple view ratings.dbdf\n"
    "  dapple view ratings.dbdf --exact --port 8080\n"
    "  dapple view ratings.dbdf -o ratings.html\n",
    run_view};

}  // namespace dapple::cli
