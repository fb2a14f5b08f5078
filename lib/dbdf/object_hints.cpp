#include "lib/dbdf/object_hints.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dapple/open.h"
#include "lib/base/bytes.h"
#include "lib/dbdf/columns.h"
#include "lib/object/attributes.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAttributesHead = 32, kNamesHead = 16;

/// What a content starts with: the tag, and version 1.
template <std::size_t kSize>
std::array<std::byte, kSize> head_of(const char* tag) {
  std::array<std::byte, kSize> head{};
  std::memcpy(head.data(), tag, kTag);
  store_le(head.data() + kTag, std::uint64_t{1});
  return head;
}

/// Throws corrupt: `what` names the content, and what is wrong with it.
[[noreturn]] void fail(const ByteSource& file, const Hint& hint, const std::string& what) {
  throw Error(Errc::corrupt, file.name(), hint.offset,
              "the " + what + "; repair the file to get rid of them");
}

}  // namespace

std::vector<std::byte> emit_attributes(std::string_view json) {
  const auto head = head_of<kAttributesHead>(kAttributesTag);
  const auto text = std::as_bytes(std::span(json));
  std::vector<std::byte> content(head.size() + text.size());
  std::copy(text.begin(), text.end(), std::copy(head.begin(), head.end(), content.begin()));
  return content;
}

std::string read_attributes(const ByteSource& file, const Hint& hint) {
  if (hint.bytes < kAttributesHead || hint.bytes - kAttributesHead > kMostAttributes) {
    fail(file, hint, "attributes take " + std::to_string(hint.bytes) + " bytes");
  }
  const std::byte* const content = file.at(hint.offset, hint.bytes);
  if (!is_whole(file, hint)) fail(file, hint, "attributes do not match their hash");
  const auto head = head_of<kAttributesHead>(kAttributesTag);
  if (std::memcmp(content, head.data(), head.size()) != 0) {
    fail(file, hint, "attributes have another tag or version");
  }
  std::string text(reinterpret_cast<const char*>(content) + kAttributesHead,
                   hint.bytes - kAttributesHead);
  const std::string fault = fault_of_attributes(text);
  if (!fault.empty()) fail(file, hint, "attributes " + fault);
  return text;
}

std::vector<std::byte> emit_names(const char* tag, const Names& names) {
  const auto head = head_of<kNamesHead>(tag);
  std::vector<std::byte> content = pack_names(names);
  std::copy(head.begin(), head.end(), content.begin());
  return content;
}

std::shared_ptr<const NameTable> read_names(const std::shared_ptr<const ByteSource>& file,
                                            const Hint& hint, const char* tag,
                                            std::uint64_t count) {
  const std::string what = "names of rows or columns ";
  if (hint.bytes < kNamesHead) fail(*file, hint, what + "are cut off");
  const auto head = head_of<kNamesHead>(tag);
  if (std::memcmp(file->at(hint.offset, kNamesHead), head.data(), head.size()) != 0) {
    fail(*file, hint, what + "have another tag or version");
  }
  const Range at{hint.offset, hint.offset + hint.bytes};
  auto names = std::make_shared<NameTable>(file, at, hint.hash);
  if (names->size() != count) {
    fail(*file, hint,
         what + "are " + std::to_string(names->size()) + " for " + std::to_string(count) +
             " rows or columns");
  }
  if (file->check() != Check::never) names->require_whole();
  return names;
}

void FoundHints::see(const ByteSource& file, const Item& item) {
  if (!item.auxiliary) return;
  const auto note = [&](const char* tag, std::optional<Entry>& found) {
    if (may_be_hint(file, item.entry, tag)) found = item.entry;
  };
  note(kColumnsTag, columns);
  note(kAttributesTag, attributes);
  note(kRowNamesTag, row_names);
  note(kColNamesTag, col_names);
}

void FoundHints::give(const std::shared_ptr<const ByteSource>& file, Schema& schema) const {
  const auto find = [file, found = *this](std::string_view tag) -> std::optional<Hint> {
    const auto& block = tag == kAttributesTag ? found.attributes
                        : tag == kRowNamesTag ? found.row_names
                                              : found.col_names;
    if (!block) return std::nullopt;
    return hint_in(*file, *block);
  };
  give_hints(file, find, schema);
  if (!attributes) schema.attributes = nullptr;
  if (!row_names) schema.row_names = nullptr;
  if (!col_names) schema.col_names = nullptr;
}

void give_hints(std::shared_ptr<const ByteSource> file, FindHint find, Schema& schema) {
  schema.attributes = [file, find]() -> std::string {
    const auto hint = find(kAttributesTag);
    return hint ? read_attributes(*file, *hint) : "";
  };
  const auto names = [&](const char* tag, std::uint64_t count) {
    return read_once([file, find, tag, count] {
      return watched(*file, [&]() -> std::shared_ptr<const Names> {
        const auto hint = find(tag);
        return hint ? read_names(file, *hint, tag, count) : nullptr;
      });
    });
  };
  schema.row_names = names(kRowNamesTag, schema.rows);
  if (schema.kind == ObjectKind::matrix) schema.col_names = names(kColNamesTag, schema.cols);
}

void add_object_hints(const Schema& schema, HintWriter& hints) {
  const std::string json = schema.read_attributes();
  if (!json.empty() && !is_empty_object(json)) hints.add(emit_attributes(json));
  const auto add = [&](const char* tag, const std::shared_ptr<const Names>& names) {
    if (names != nullptr && names->size() > 0) hints.add(emit_names(tag, *names));
  };
  add(kRowNamesTag, schema.read_row_names());
  add(kColNamesTag, schema.read_col_names());
}

}  // namespace dapple::detail::dbdf
