// The payload of a CSR or COO block in the DAPHNE binary format, and what can be wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/index/entry.h"
#include "lib/io/byte_source.h"
#include "lib/layout/part.h"

namespace dapple::detail {

/// The stored entries of one block.
struct SparsePayload {
  const ByteSource& file;
  const Entry& entry;
  HeldBytes held;
  std::uint64_t offset;   // in the file, if they are in the map
  const std::byte* data;  // after the block's header

  SparsePayload(const ByteSource& source, const Entry& e, HeldBytes bytes, std::uint64_t at)
      : file(source), entry(e), held(std::move(bytes)), offset(at), data(held.data()) {}

  // Not inlined into the loops over entries, which are compiled for every size of value.
  [[noreturn]] void fail(const std::byte* at, const std::string& detail) const;
  [[noreturn]] void fail_row(const std::byte* at, std::uint32_t row) const;
  [[noreturn]] void fail_col(const std::byte* at, std::uint32_t col) const;
  [[noreturn]] void fail_count(const std::byte* at, std::uint32_t row, std::uint32_t count,
                               std::uint64_t left) const;
  [[noreturn]] void fail_sum(std::uint64_t sum) const;

  /// Throw when the entries of a row (of a COO block, in `part`) that are not in ascending order
  /// contain a column (a cell) twice.
  void require_distinct_columns(const std::byte* entries, std::uint32_t count, std::size_t stride,
                                std::uint32_t row) const;
  void require_distinct_cells(const Part& part, std::size_t stride, bool with_col) const;
};

}  // namespace dapple::detail
