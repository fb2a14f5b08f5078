// The hints that say more of an object than its cells: attributes and names.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "lib/dbdf/hints.h"
#include "lib/dbdf/walk.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// The last auxiliary block of each kind that a walk over a file came across; what is in it may be
/// damaged.
struct FoundHints {
  std::optional<Entry> columns, attributes, row_names, col_names;

  void see(const ByteSource& file, const Item& item);
  /// As `give_hints`, of these.
  void give(const std::shared_ptr<const ByteSource>& file, Schema& schema) const;
};

/// Finds the hint with this tag, when it is asked for.
using FindHint = std::function<std::optional<Hint>(const char* tag)>;

/// Gives the object its attributes and names, which are found and read when they are asked for.
void give_hints(std::shared_ptr<const ByteSource> file, FindHint find, Schema& schema);

/// Adds the hints for what the schema has. Throws corrupt for what is damaged in another file.
void add_object_hints(const Schema& schema, HintWriter& hints);

}  // namespace dapple::detail::dbdf
