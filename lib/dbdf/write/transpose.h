// Writing a matrix with rows as columns, in bounded memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "dapple/writer.h"
#include "lib/compute/source.h"

namespace dapple::detail::dbdf {

/// Publishes the transpose of `source`, a matrix, in blocks of some of its columns and all of its
/// rows; of bands of its rows where there are many entries, and of at most 2^21 rows where a column
/// has more entries than that. `hint`, if not empty, is added to the file; `before_publishing` is
/// called when all of it is written. `options.tile` is not used. Throws what reading and writing
/// throw. Memory: see `write_column_copy`.
WriteSummary write_transposed(const Source& source, const std::filesystem::path& path,
                              const WriteOptions& options, std::vector<std::byte> hint = {},
                              const std::function<void()>& before_publishing = {});

}  // namespace dapple::detail::dbdf
