// Which columns of an ML.NET file the columns of a source make.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/compute/source.h"
#include "lib/foreign/idv/idv_meaning.h"
#include "lib/foreign/idv/idv_metadata.h"
#include "lib/foreign/idv/idv_toc.h"

namespace dapple::detail::idv {

/// A column to write. Its cells come from neighbouring columns of the source: one for each slot of
/// a vector, for the first part of items and then for the second.
struct OutColumn {
  TocColumn toc{};
  Range cols{0, 0};
  TickScale scale{};                               // of times
  const Column* described = nullptr;               // words, times or truth values; null: numbers
  std::shared_ptr<const Dictionary> slot_names{};  // of a vector, if they have some
  std::shared_ptr<const Dictionary> key_values{};  // of a key, if they have names
  std::optional<MetadataBlock> key_block{};        // its values, where they are no texts
  bool own = false;                                // as ML.NET files have it

  bool vector() const noexcept { return toc.codec.vector; }
  /// A vector of items of one number, whose cells are wanted row by row.
  bool by_row() const noexcept { return vector() && cols.size() == toc.codec.size; }
  const ItemType& item() const noexcept { return *toc.codec.item; }
  /// How cells that the source stores as `type` are wanted.
  ValueType cell_type(ValueType type) const noexcept {
    return toc.codec.key_count > 0 ? item().value_type : type;
  }
};

/// A matrix is one vector. A frame is one column per column, but for those that an ML.NET file had
/// as one, for groups, which are vectors, and for columns "x.0", "x.1" and so on of plain numbers
/// of one type, which are the vector "x", unless another column has that name. Throws unsupported
/// for what the format has no place for; tells of columns that others hide.
std::vector<OutColumn> plan_columns(const Source& source, const ConvertOptions& options);

}  // namespace dapple::detail::idv
