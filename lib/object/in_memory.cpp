#include "lib/object/in_memory.h"

namespace dapple::detail {

void fail_memory(const Store& store, const std::string& what) {
  throw Error(Errc::no_memory, store.known_as(), std::nullopt, what + " do not fit in memory");
}

}  // namespace dapple::detail
