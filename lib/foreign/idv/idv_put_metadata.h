// Key values and slot names on their way to a file.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/foreign/idv/idv_deflate.h"
#include "lib/foreign/idv/idv_plan.h"
#include "lib/io/output_file.h"

namespace dapple::detail::idv {

/// Appends the column's metadata blocks to the file; returns the table of them, empty when there
/// are none. `deflater` may be null: not compressed.
std::vector<std::byte> put_metadata(const OutColumn& column, Deflater* deflater, OutputFile& out);

}  // namespace dapple::detail::idv
