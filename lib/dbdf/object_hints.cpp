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
  if (attributes) schema.attributes = attributes_in(file, *attributes);
  if (row_names) schema.row_names = names_in(file, *row_names, kRowNamesTag, schema.rows);
  if (col_names && schema.kind == ObjectKind::matrix) {
    schema.col_names = names_in(file, *col_names, kColNamesTag, schema.cols);
  }
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
