// Saving every sound block of a damaged dbdf file.
#pragma once

#include <filesystem>
#include <memory>

#include "dapple/verify.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// Throws not_recognised, naming the byte, when the header itself is damaged. O(header).
void require_repairable(const ByteSource& file);

/// Implements `dapple::repair`. REQUIRES a file that passed `require_repairable`.
RepairReport repair_dbdf(const std::shared_ptr<ByteSource>& file, const std::filesystem::path& out,
                         const WriteOptions& options, const TakeProgress& progress);

}  // namespace dapple::detail::dbdf
