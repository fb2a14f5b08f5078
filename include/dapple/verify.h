// Checking a file against rules R1 to R8 of its format, and saving what can still be read.
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
  std::vector<Error> findings;  // in file order; empty: the file is sound
  std::uint64_t blocks = 0;     // blocks examined
};

/// Returns all findings, not only the first; of a file with several arrays and of a collection,
/// those about all of them, unless `OpenOptions::array` names one. Throws io, and not_recognised
/// when the file is in no known format. O(n log n) in blocks; Level::payload also reads the whole
/// file.
VerifyReport verify(const std::filesystem::path& path, Level level, const OpenOptions& options = {},
                    const TakeProgress& progress = {});

struct RepairReport {
  std::vector<Error> lost;  // why blocks, cells, or what columns mean could not be kept
  std::uint64_t blocks_kept = 0;
  std::uint64_t blocks_lost = 0;    // that are known to have existed
  std::uint64_t meanings_lost = 0;  // entries of `lost` about what columns mean
  WriteSummary written;
};

/// Writes every intact block of a dbdf file to a sound file at `out`; without a sound index, those
/// before the first damage, since nothing tells where others start. Cells of lost blocks become
/// absent; none are invented. A column whose words or meaning are lost becomes one of numbers, in
/// which missing cells stay missing. Throws io, not_recognised when the header cannot be read,
/// invalid_argument for other formats.
RepairReport repair(const std::filesystem::path& in, const std::filesystem::path& out,
                    const WriteOptions& options = {}, const OpenOptions& reading = {},
                    const TakeProgress& progress = {});

}  // namespace dapple
