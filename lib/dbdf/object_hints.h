// The hints that say more of an object than its cells: the user's attributes, and the names of rows
// and columns (FORMAT.md, "Attributes" and "Names").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/dbdf/hints.h"
#include "lib/dbdf/walk.h"
#include "lib/io/byte_source.h"
#include "lib/object/names.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

inline constexpr char kAttributesTag[9] = "DPL-ATTR";
inline constexpr char kRowNamesTag[9] = "DPL-RNAM";
inline constexpr char kColNamesTag[9] = "DPL-CNAM";

/// The content for this JSON text.
std::vector<std::byte> emit_attributes(std::string_view json);
/// The JSON text in a hint with that tag. Throws corrupt when it does not match its hash, or is no
/// JSON object within the bounds. O(bytes).
std::string read_attributes(const ByteSource& file, const Hint& hint);

/// The content with this tag. Throws corrupt. O(bytes).
std::vector<std::byte> emit_names(const char* tag, const Names& names);
/// The names in a hint with this tag, `count` of them. Throws corrupt. O(1); unless
/// hashes are to be looked at, O(bytes) then.
std::shared_ptr<const NameTable> read_names(const std::shared_ptr<const ByteSource>& file,
                                            const Hint& hint, const char* tag, std::uint64_t count);

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
