// The entries of a coordinate file, parsed once and sorted, strip after strip.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dapple/array.h"
#include "lib/foreign/mtx/mtx_text.h"
#include "lib/io/scratch.h"

namespace dapple::detail::mtx {

/// One entry; the row counts from its strip's first, unless said otherwise.
struct Record {
  std::uint32_t row, col;
  std::uint64_t bits;  // of the header's value type
};

/// How the rows are cut into strips, and how many entries each has.
struct Strips {
  unsigned shift = 0;                // a strip has 2^shift rows
  std::vector<std::uint64_t> first;  // number of each strip's first entry; then of all entries

  std::uint64_t count() const noexcept { return first.size() - 1; }
};

struct Entries {
  Strips strips;
  std::unique_ptr<Scratch> records;  // of all strips, each sorted by row and column
};

/// Goes through the text once. Leaves `records` to `sort_entries` when they would take more than
/// 256 MiB, or a value is wrong. Throws as `open_mtx`, but not for values; corrupt when a cell is
/// there twice. Memory: 16 bytes for each entry that is parsed, 8 bytes for each strip, of which
/// there are at most 4096, and some megabytes for each thread.
Entries read_entries(const Text& text, const Header& header, unsigned threads);

/// The records of all strips, from a second pass over the text. Throws as `open_mtx`, and corrupt
/// when a cell is there twice.
std::unique_ptr<Scratch> sort_entries(const Text& text, const Header& header, const Strips& strips,
                                      unsigned threads);

}  // namespace dapple::detail::mtx
