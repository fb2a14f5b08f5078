// The entries of a coordinate file, parsed once and sorted, strip after strip.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/foreign/mtx/mtx_records.h"
#include "lib/foreign/mtx/mtx_text.h"

namespace dapple::detail::mtx {

/// How the rows are cut into strips, and how many entries each has.
struct Strips {
  unsigned shift = 0;                  // a strip has 2^shift rows
  std::vector<std::uint64_t> entries;  // of each strip

  std::uint64_t count() const noexcept { return entries.size(); }
};

struct Entries {
  Strips strips;
  std::unique_ptr<StripRecords> records;  // each strip's sorted by row and column
};

/// Goes through the text once. Leaves `records` to `sort_entries` when they may take more than
/// 256 MiB, or a value is wrong. Throws as `open_mtx`, but not for values; corrupt when a cell is
/// there twice. Memory: that of `StripRecords`, 8 bytes for each strip, of which there are at most
/// 4096, and for each thread some megabytes and twice the entries of a strip.
Entries read_entries(const Text& text, const Header& header, unsigned threads);

/// The records of all strips, from a second pass over the text. Throws as `open_mtx`, and corrupt
/// when a cell is there twice.
std::unique_ptr<StripRecords> sort_entries(const Text& text, const Header& header,
                                           const Strips& strips, unsigned threads);

}  // namespace dapple::detail::mtx
