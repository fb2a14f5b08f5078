// What the codec of delimited text keeps of an opened file beside schema and index.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/object/store.h"

namespace dapple::detail::csv {

struct State : CodecState {
  char delimiter = ',';
  bool missing_as_nan = false;
  std::uint64_t first_line = 1;    // line of row 0; every row is one line
  bool quoted_delimiters = false;  // some value has a delimiter in its quotes
  std::vector<ValueType> types;    // by which columns are read; none: as the schema says
};

/// Decodes strips of rows; each block's bytes are its rows' text.
extern const Codec kCodec;

}  // namespace dapple::detail::csv
