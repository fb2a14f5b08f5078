// dapple serve: files as a Zarr hierarchy, over HTTP.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dapple/collection.h"
#include "ending.h"
#include "input.h"
#include "report.h"
#include "text.h"
#include "verbs.h"
#include "zarr_server.h"

namespace dapple::cli {

namespace {

/// The name of a file or folder, without its ending.
std::string stem_of(std::string path) {
  path.erase(path.find_last_not_of('/') + 1);
  return std::filesystem::path(path).stem().string();
}

serve::ZarrTree open_tree(const std::vector<std::string>& paths, const OpenOptions& options,
                          const Console& console) {
  std::vector<std::pair<std::string, serve::ZarrTree::Object>> objects;
  for (const std::string& path : paths) {
    const Input input{path, options};
    if (input.is_stream()) {
      throw UsageError("serve takes files that have names, not '" + printable(path) + "'");
    }
    const std::string name = paths.size() == 1 ? "" : stem_of(input.name());
    std::optional<Collection> collection;
    if (options.array.empty()) collection = Collection::find(path, options);
    if (!collection) {
      objects.emplace_back(name, open_input(input, console));
      say_note(input, base(objects.back().second), console);
      continue;
    }
    for (const std::string& member : collection->members()) {
      objects.emplace_back(name.empty() ? member : name + '/' + member, collection->open(member));
    }
  }
  if (objects.empty()) {
    throw Error(Errc::invalid_argument, paths.front(), std::nullopt, "there is nothing to serve");
  }
  return serve::ZarrTree(std::move(objects));
}

int run_serve(const Arguments& arguments, Console& console) {
  std::vector<std::string> paths;
  OpenOptions options{.guard = true};
  bool any_address = false;
  std::uint16_t port = 0;
  Command command(kServeVerb);
  command.operands("PATH", paths, "the files to serve, of any formats");
  command.section("serving");
  command.option(
      "--port", "N",
      [&port](const std::string& text) {
        port = static_cast<std::uint16_t>(parse_number("--port", text, 1, 65535));
      },
      "use this port; without it, any that is free");
  command.flag("--any-address", any_address,
               "answer other machines, too; without it, only programs on this one");
  add_reading_flags(command, options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  Ending ending;
  serve::ZarrServer server(open_tree(paths, options, console), any_address);
  const std::string address = server.listen(port);
  ending.serve();
  console.out.print("{}\n", address);
  console.out.flush();
  if (!console.quiet) say("this address is that of a Zarr hierarchy; Ctrl-C ends it");
  server.run();
  return kDone;
}

}  // namespace

const Verb kServeVerb = {
    "serve",
    "PATH...",
    "files as a Zarr hierarchy, over HTTP",
    "Prints an address and serves what the files hold as Zarr, version 3, until it is\n"
    "interrupted: to programs on this machine, and only to those that have the address.\n"
    "One matrix is the array 'data', beside those of the names of its rows and columns, a frame\n"
    "a group of its columns, a collection one of its members; several files are arrays and groups\n"
    "by their names. Chunks are decoded when somebody asks for them.\n",
    "  dapple serve ratings.dbdf\n"
    "  dapple serve X.dbdf obs.csv --port 8080\n"
    "  dapple serve pbmc.dds\n",
    run_serve};

}  // namespace dapple::cli
