// The command `dapple`, for wheels, which have no program.
#include "../../dapple/command.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "core.h"

namespace pydapple {

void bind_command(nb::module_& m) {
  m.def(
      "run_command",
      [](std::vector<std::string> arguments) {
        std::vector<char*> pointers;
        for (std::string& argument : arguments) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        const nb::gil_scoped_release release;
        return dapple::cli::run_command(static_cast<int>(arguments.size()), pointers.data());
      },
      nb::arg("arguments"), "The command `dapple`; `arguments` start with its name.");
}

}  // namespace pydapple
