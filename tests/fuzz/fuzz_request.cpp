// Door: what a browser asks the viewer's server for. Any bytes name a resource or nothing, and the
// name of a resource reads back to it.
#include <cstdint>
#include <cstdlib>

#include "apps/viewer/request.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::request_target {

FUZZ_TARGET(request) {
  using namespace dapple::viewer;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto resource = parse_resource(text)) {
    if (name_of(*resource) != text) std::abort();
  }
  const auto target = parse_target(text, "0123");
  if (target && !text.starts_with("/0123/")) std::abort();
  return 0;
}

}  // namespace dapple::fuzz::request_target
