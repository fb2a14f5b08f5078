// Door: the embedded index. The input is a whole file; its index gets hashes that are right, so
// that a lie of the index gets past them. No lie may lead to a wrong cell, a read
// outside the file, or a long walk.
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/compare.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::index_target {

FUZZ_TARGET(index) {
  static fuzz::MemoryFile file;
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> bytes(input.begin(), input.end());
  fuzz::sign_index(bytes);
  file.set(std::span<const std::byte>(bytes));
  const OpenOptions options{.format = "dbdf", .check = Check::never};
  reference::Object truth;
  try {
    truth = reference::read(bytes, 1 << 12);
  } catch (const reference::TooLarge&) {
    return 0;
  } catch (const reference::Refused&) {
    truth.data_type = 1;  // an object without cells: nothing to compare, all of it still to open
    truth.types = {1};
  }
  const std::string wrong =
      test::difference(file.path(), truth, test::Demand::cells_or_error, options);
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  try {
    const auto object = open(file.path(), options);
    std::visit(
        [](const auto& o) {
          for (const BlockInfo& info : o.blocks()) {
            static_cast<void>(name(info.kind).size() + name(info.value_type).size());
          }
        },
        object);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::index_target
