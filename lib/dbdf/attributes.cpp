#include "lib/dbdf/attributes.h"

#include <array>
#include <cstring>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/object/attributes.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAttributesHead = 32;
constexpr std::uint64_t kAttributesVersion = 1;

std::array<std::byte, kAttributesHead> attributes_head() {
  std::array<std::byte, kAttributesHead> head{};
  std::memcpy(head.data(), kAttributesTag, kTag);
  store_le(head.data() + kTag, kAttributesVersion);
  return head;
}

[[noreturn]] void fail_attributes(const ByteSource& file, const Hint& hint,
                                  const std::string& what) {
  throw Error(Errc::corrupt, file.name(), hint.offset,
              "the attributes " + what + "; repair the file to get rid of them");
}

}  // namespace

std::vector<std::byte> emit_attributes(std::string_view json) {
  const auto head = attributes_head();
  const auto text = std::as_bytes(std::span(json));
  std::vector<std::byte> content(head.size() + text.size());
  std::copy(text.begin(), text.end(), std::copy(head.begin(), head.end(), content.begin()));
  return content;
}

std::string read_attributes(const ByteSource& file, const Hint& hint) {
  if (hint.bytes < kAttributesHead || hint.bytes - kAttributesHead > kMostAttributes) {
    fail_attributes(file, hint, "take " + std::to_string(hint.bytes) + " bytes");
  }
  const std::byte* const content = file.at(hint.offset, hint.bytes);
  if (!is_whole(file, hint)) fail_attributes(file, hint, "do not match their hash");
  if (std::memcmp(content, attributes_head().data(), kAttributesHead) != 0) {
    fail_attributes(file, hint, "have another tag or version");
  }
  std::string text(reinterpret_cast<const char*>(content) + kAttributesHead,
                   hint.bytes - kAttributesHead);
  const std::string fault = fault_of_attributes(text);
  if (!fault.empty()) fail_attributes(file, hint, fault);
  return text;
}

}  // namespace dapple::detail::dbdf
