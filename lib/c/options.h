// Options of opening and writing, from a list of "name=value" (dapple_c.h).
#pragma once

#include <cstdint>

#include "dapple/dapple_c.h"
#include "dapple/names.h"
#include "dapple/open.h"
#include "dapple/writer.h"

namespace dapple::detail::c {

enum class Creates : std::uint8_t { matrix, frame };

/// What `dapple_create` can be told, and `dapple_create_frame` in part.
struct CreateOptions {
  WriteOptions write{};
  Storage storage = Storage::dense;
  NamesBuilder row_names{}, col_names{};
};

/// A list that ends with a null; null: no options. Throw invalid_argument.
OpenOptions open_options(const char* const* list);
CreateOptions create_options(const char* const* list, Creates what);

/// How cells are read.
ReadOptions read_options(const dapple_read_options* given);

}  // namespace dapple::detail::c
