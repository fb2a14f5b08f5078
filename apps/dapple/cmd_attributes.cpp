// dapple attributes: the user's attributes of an object, as JSON.
#include <string>

#include "attributes.h"
#include "input.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

int run_attributes(const Arguments& arguments, Console& console) {
  Input input;
  Command command(kAttributesVerb);
  add_input(command, input);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "on one line; errors as JSON, too");
  command.parse(arguments);

  const auto object = open_input(input, console);
  std::string json = base(object).attributes();
  if (console.json) json = on_one_line(std::move(json));
  if (console.out.is_terminal()) json = printable(on_one_line(std::move(json)));
  console.out.write(json + '\n');
  return kDone;
}

}  // namespace

const Verb kAttributesVerb = {
    "attributes",
    "FILE",
    "what the user noted about the object, as JSON",
    "Only dbdf files have attributes; 'dapple convert --attribute' gives them some.\n"
    "Of other files, and of those without any, this prints {}.\n",
    "  dapple convert scan.npy scan.dbdf --attribute 'units=\"mm\"' --attribute run=12\n"
    "  dapple attributes scan.dbdf | jq .run\n",
    run_attributes};

}  // namespace dapple::cli
