// FILE.csv.dpx: what scanning FILE.csv found, bound to one state of the file and to how it is read,
// so that opening it again need not go through the text.
#pragma once

#include <filesystem>
#include <optional>

#include "lib/foreign/csv/csv_scan.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::csv {

/// Where a scan starts: the first row, and the number of its line.
struct ScanStart {
  std::uint64_t offset;
  std::uint64_t line;
};

/// What a scan of `data` would find, if a sidecar for this state of it and for these options tells.
/// One that is damaged, stale or for other options counts as none. O(sidecar).
std::optional<Rows> find_saved_rows(const ByteSource& data, const ScanInput& input,
                                    ScanStart start);

/// What is wrong with the sidecar of `data`, if there is one: damaged, stale, or not what this scan
/// found. One for other options is only compared with its hash. O(sidecar).
std::optional<Error> fault_of_saved_rows(const ByteSource& data, const ScanInput& input,
                                         ScanStart start, const Rows& rows);

/// Publishes the sidecar of `data`, the file at `path`. Throws io; stale_index if the file changes
/// meanwhile.
void save_rows(const ByteSource& data, const std::filesystem::path& path, const ScanInput& input,
               ScanStart start, const Rows& rows);

}  // namespace dapple::detail::csv
