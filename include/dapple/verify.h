// Checking a file against the rules R1..R8 of its format, and saving what can still be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dapple/error.h"
#include "dapple/open.h"
#include "dapple/writer.h"

namespace dapple {

/// How much of the file is read.
enum class Level : std::uint8_t {
  structure,  // headers, extents, overlaps, index entries; no payload
  payload,    // also every index, value and hash
};

struct VerifyReport {
  std::vector<Error> findings;  // in file order; empty: sound
  std::uint64_t blocks = 0;     // blocks examined
};

/// All findings, not only the first. Throws only io, and not_recognised when `path` is of no
/// known format. O(n log n) in blocks, and the file's bytes at Level::payload.
VerifyReport verify(const std::filesystem::path& path, Level level, const OpenOptions& options = {},
                    const TakeProgress& progress = {});

struct RepairReport {
  std::vector<Error> lost;  // what is wrong with blocks that could not be kept
  std::uint64_t blocks_kept = 0;
  std::uint64_t blocks_lost = 0;  // known to have been there, and not kept
  WriteSummary written;
};

/// Writes every intact block of a DAPHNE file into a sound file at `out`; cells of lost blocks
/// become absent, never invented. Throws io, not_recognised when not even the header can be read,
/// unsupported for other formats.
RepairReport repair(const std::filesystem::path& in, const std::filesystem::path& out,
                    const WriteOptions& options = {}, const OpenOptions& reading = {},
                    const TakeProgress& progress = {});

}  // namespace dapple
