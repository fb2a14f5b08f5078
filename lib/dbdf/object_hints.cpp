#include "lib/dbdf/object_hints.h"

#include "lib/dbdf/attributes.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/names.h"
#include "lib/object/attributes.h"

namespace dapple::detail::dbdf {

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
