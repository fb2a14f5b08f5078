// dapple view: a page that zooms from the whole matrix to its cells, served to a browser on this
// machine or written as a file.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dapple/collection.h"
#include "ending.h"
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

std::unique_ptr<viewer::Resources> open_resources(const Input& input, const Console& console,
                                                  const std::string& name) {
  const viewer::ResourceOptions options{.threads = console.threads};
  if (input.is_stream()) {
    const auto object = open_input(input, console);
    return std::make_unique<viewer::Resources>(object, object, name, options);
  }
  Input looking = input;
  looking.options.read_ahead = false;
  return std::make_unique<viewer::Resources>(open_input(input, console),
                                             open_input(looking, console), name, options);
}

void read_all(viewer::Resources& resources, std::string_view name, const Console& console) {
  Progress progress(printable(name), console.quiet);
  resources.read_all(
      [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
}

/// The object itself, or every member of a collection of which none was chosen.
std::vector<viewer::Shown> all_shown(const Input& input, bool exact, const Console& console) {
  const auto shown = [&](const Input& one, const std::string& name, const std::string& path) {
    const auto open_it = [one, name, exact, &console] {
      auto resources = open_resources(one, console, name.empty() ? one.name() : name);
      if (exact) read_all(*resources, resources->name(), console);
      return resources;
    };
    return viewer::Shown{name, open_it, path};
  };
  std::vector<viewer::Shown> all;
  std::optional<Collection> choose;
  if (input.options.array.empty() && !input.is_stream()) {
    choose = Collection::find(input.file, input.options);
  }
  if (choose) {
    for (const std::string& member : choose->members()) {
      const auto place = find_member(input.file + '/' + member);
      Input one = input;
      one.options.array = member;
      all.push_back(shown(one, member, place ? place->first.string() : input.file));
    }
    for (const std::string& member : choose->json_members()) all.push_back({member, {}, {}});
  }
  if (all.empty()) all.push_back(shown(input, "", input.is_stream() ? "" : input.file));
  return all;
}

void serve(const Input& input, bool exact, std::uint16_t port, Console& console) {
  Ending ending;
  viewer::Server server(all_shown(input, exact, console), input.name());
  const std::string address = server.listen(port);
  ending.serve();
  console.out.print("{}\n", address);
  console.out.flush();
  if (!console.quiet) say("open this address in a browser on this machine; Ctrl-C ends it");
  server.run();
}

void write_page(const Input& input, const Destination& destination, const Console& console) {
  if (!has_ending(destination.path, ".html")) {
    throw UsageError("-o takes a name that ends in .html, for a page, not '" +
                     printable(destination.path) + "'");
  }
  require_replaceable(destination);
  const auto resources = open_resources(input, console, input.name());
  say_note(input, resources->object(), console);
  read_all(*resources, destination.path, console);
  const viewer::WholePage made = viewer::whole_page(*resources);
  publish(destination, made.html);
  if (!made.has_cells && !console.quiet) {
    const viewer::Pyramid& pyramid = resources->pyramid();
    const unsigned finest = std::max(resources->zooms(), 1U) - 1;
    say(
        fmt::format("the page has no single cells, which are too many: its finest pictures have a "
                    "pixel for {} x {} cells. To see them: dapple view {}",
                    pyramid.row_step(finest), pyramid.col_step(finest), printable(input.file)));
  }
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
      "a page that needs no server: a name that ends in .html. It has pictures, and the cells "
      "where they take at most 16 MiB");
  command.flag("--force", destination.force, "replace OUT if it exists");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  if (destination.path.empty()) {
    if (destination.force) throw UsageError("--force is about a file: name it with -o OUT");
    serve(input, exact, port, console);
    return kDone;
  }
  if (exact || port != 0) {
    throw UsageError("--exact and --port are for a server, and -o starts none: leave them out");
  }
  write_page(input, destination, console);
  return kDone;
}

}  // namespace

const Verb kViewVerb = {
    "view",
    "FILE",
    "a page in the browser, from the whole to single cells",
    "Prints the address of a page and serves it until it is interrupted: on this machine\n"
    "only, and only to those who have the address. A file that is replaced meanwhile is\n"
    "opened anew when the page is loaded again. Of a collection it shows the table of contents,\n"
    "and the members from there.\n"
    "\n"
    "Nothing is read before somebody looks at it. Where that would take long, the page shows\n"
    "what the index knows and some samples, and says so. --exact reads every cell once first.\n",
    "  dapple view ratings.dbdf\n"
    "  dapple view pbmc.dds\n"
    "  dapple view ratings.dbdf --exact --port 8080\n"
    "  dapple view ratings.dbdf -o ratings.html\n",
    run_view};

}  // namespace dapple::cli
