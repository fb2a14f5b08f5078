// The payload of a sparse block of a store, and its values.
#pragma once

#include "lib/layout/sparse_cells.h"
#include "lib/object/misfit.h"
#include "lib/object/row_access.h"
#include "lib/object/store.h"

namespace dapple::detail {

inline SparsePayload sparse_payload(const Store& store, const Entry& entry) {
  return {store.blocks(), entry, store.payload(entry), store.payload_offset(entry)};
}

/// A cursor at `row` of a CSR block, or above it.
inline RowCursor cursor_at(const Store& store, const Entry& entry, std::uint64_t row) {
  if (row < RowAccess::kNear || entry.kind != BlockKind::csr) return {};
  return store.row_access().cursor(entry, row);
}

/// The value as `type`, in the low bytes of a word. Throws when it does not fit.
inline std::uint64_t value_as(const Store& store, const Entry& entry, CellInBlock cell,
                              const std::byte* value, ValueType type) {
  std::uint64_t bits = 0;
  const ValueType stored = entry.value_type;
  if (!convert_cell(stored, load_bits(stored, value), type, bits)) {
    fail_misfit(store, entry, cell, value, type);
  }
  return bits;
}

}  // namespace dapple::detail
