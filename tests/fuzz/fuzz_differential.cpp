// Door: opening a DAPHNE file, held against the reference reader. What the reference refuses for
// R1 to R4 is refused, and everything that it reads is read, cell for cell.
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "dapple/dapple.h"
#include "tests/compare.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::differential_target {

namespace {

// Where the index came from; nothing when the file is refused.
std::optional<IndexOrigin> open_as(const std::filesystem::path& path, const OpenOptions& options) {
  try {
    const auto object = open(path, options);
    return std::visit([](const auto& o) { return o.index_origin(); }, object);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

FUZZ_TARGET(differential) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  const OpenOptions options{.format = "dbdf", .check = Check::never};
  const auto origin = open_as(file.path(), options);
  try {
    const auto truth = reference::read(std::as_bytes(std::span(data, size)), 1 << 12);
    const auto demand =
        origin == IndexOrigin::embedded ? test::Demand::equal_or_error : test::Demand::equal;
    const std::string wrong = test::difference(file.path(), truth, demand, options);
    require(wrong.empty(), wrong);
  } catch (const reference::TooLarge&) {
  } catch (const reference::Refused& refused) {
    require(origin != IndexOrigin::scanned, std::string("accepted: ").append(refused.what()));
  }
  return 0;
}

}  // namespace dapple::fuzz::differential_target
