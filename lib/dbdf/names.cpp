#include "lib/dbdf/names.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "dapple/open.h"
#include "lib/base/bytes.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kNamesHead = 16;
constexpr std::uint64_t kNamesVersion = 1;

std::array<std::byte, kNamesHead> names_head(const char* tag) {
  std::array<std::byte, kNamesHead> head;
  std::memcpy(head.data(), tag, kTag);
  store_le(head.data() + kTag, kNamesVersion);
  return head;
}

[[noreturn]] void fail_names(const ByteSource& file, const Hint& hint, const std::string& what) {
  throw Error(Errc::corrupt, file.name(), hint.offset,
              "the names of rows or columns " + what + "; repair the file to get rid of them");
}

}  // namespace

std::vector<std::byte> emit_names(const char* tag, const Names& names) {
  const auto head = names_head(tag);
  std::vector<std::byte> content = pack_names(names);
  std::copy(head.begin(), head.end(), content.begin());
  return content;
}

std::shared_ptr<const NameTable> read_names(const std::shared_ptr<const ByteSource>& file,
                                            const Hint& hint, const char* tag,
                                            std::uint64_t count) {
  if (hint.bytes < kNamesHead) fail_names(*file, hint, "are cut off");
  if (std::memcmp(file->at(hint.offset, kNamesHead), names_head(tag).data(), kNamesHead) != 0) {
    fail_names(*file, hint, "have another tag or version");
  }
  const Range at{hint.offset, hint.offset + hint.bytes};
  auto names = std::make_shared<NameTable>(file, at, hint.hash);
  if (names->size() != count) {
    fail_names(*file, hint,
               "are " + std::to_string(names->size()) + " for " + std::to_string(count) +
                   " rows or columns");
  }
  if (file->check() != Check::never) names->require_whole();
  return names;
}

}  // namespace dapple::detail::dbdf
