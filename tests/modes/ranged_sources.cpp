// In place of lib/catalog/sources.cpp: no file has a map.
#include "lib/catalog/sources.h"
#include "tests/modes/ranged_file.h"

namespace dapple::detail {

std::shared_ptr<ByteSource> open_source(const std::string& name, const OpenOptions&) {
  return std::make_shared<test::RangedFile>(name);
}

}  // namespace dapple::detail
