// Which columns of an ML.NET file the columns of a source make.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

  bool vector() const noexcept { return toc.codec.vector; }
  /// A vector of items of one number, whose cells are wanted row by row.
  bool by_row() const noexcept { return vector() && cols.size() == toc.codec.size; }
  const ItemType& item() const noexcept { return *toc.codec.item; }
};

/// A matrix is one vector. A frame is one column per column, but for those that an ML.NET file had
/// as one, for groups, which are vectors, and for columns "x.0", "x.1" and so on of plain numbers
/// of one type, which are the vector "x". Throws unsupported for what the format has no place for.
std::vector<OutColumn> plan_columns(const Source& source, const ConvertOptions& options);

}  // namespace dapple::detail::idv
