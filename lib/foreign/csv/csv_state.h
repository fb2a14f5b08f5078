// What the driver of delimited text keeps of an opened file beside schema and index.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/foreign/csv/csv_meaning.h"
#include "lib/object/store.h"

namespace dapple::detail::csv {

struct State : DriverState {
  char delimiter = ',';
  bool missing_as_nan = false;
  MissingWords missing{};
  std::uint64_t first_line = 1;    // line of row 0; every row is one line
  bool quoted_delimiters = false;  // some value has a delimiter in its quotes
  bool quoted_line_ends = false;   // or a line end
  std::vector<ValueType> types;    // by which columns are read; none: as the schema says
  /// Of each column that is no plain number; null, or none at all, for those that are.
  std::vector<std::shared_ptr<const FieldReader>> fields;
  std::shared_ptr<const ByteSource> sidecar;  // where their words are, if it is used
};

/// Decodes strips of rows; each block's bytes are its rows' text.
extern const Driver kDriver;

}  // namespace dapple::detail::csv
