// The JSON file that DAPHNE keeps beside a data file X as X.meta: shape, value types and labels.
//   matrix: {"numCols":3,"numRows":2,"valueType":"f64"}, with "numNonZeros" when it is sparse
//   frame:  {"numCols":1,"numRows":2,"schema":[{"label":"a","valueType":"si64"}]}
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail {

inline constexpr char kMetaEnding[] = ".meta";

struct DaphneMeta {
  ObjectKind kind = ObjectKind::matrix;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ValueType value_type = ValueType::f64;  // of a matrix
  std::vector<Column> columns;            // of a frame: cols of them; text has no words yet
  std::optional<std::uint64_t> stored;    // values that are not zero, where the file says
};

/// What `text`, the content of `file`, says. Keys other than DAPHNE's are skipped. Throws
/// corrupt when it is no such JSON, unsupported for another value type, and for str in a matrix.
DaphneMeta parse_daphne_meta(std::string_view text, const std::string& file);

/// Where the .meta file of a data file is.
std::filesystem::path daphne_meta_path(const std::filesystem::path& data);

/// False for a file that another program keeps under that name, as Unity and Git tools do: it has
/// neither of the members that DAPHNE always writes.
bool may_be_daphne_meta(std::string_view text) noexcept;

/// The .meta file beside a data file, or nothing when there is none of DAPHNE's, as beside a
/// stream. Far away, only text is asked whether it has one. Throws also io.
std::optional<DaphneMeta> find_daphne_meta(const ByteSource& data);

/// True when there is a .meta file beside a data file that may be DAPHNE's. Throws io.
bool has_daphne_meta(const std::filesystem::path& data);

/// Throws invalid_argument when the .meta file of `data`, which is about to be replaced or removed
/// with it, is the file that is read.
void require_meta_unread(const std::filesystem::path& data, const ByteSource& read);

/// The text of a .meta file, byte for byte as DAPHNE writes it. Throws unsupported for a type
/// that DAPHNE has not (u16, i16) and for a label that is not UTF-8.
std::string daphne_meta_text(const Schema& schema, std::optional<std::uint64_t> stored = {});

/// "si64" for i64, "ui8" for u8, "f32", ...; "" where DAPHNE has no such type.
std::string_view daphne_type_name(ValueType type) noexcept;
/// The other way round; nothing for other names.
std::optional<ValueType> find_daphne_type(std::string_view name) noexcept;

}  // namespace dapple::detail
