// anndata's tables: a group of columns, each an array or a category of codes and words.
#pragma once

#include <memory>

#include "lib/foreign/zarr/hierarchy.h"
#include "lib/object/store.h"

namespace dapple::detail::zarr {

/// True for groups that say so: dataframe.
bool is_table(const Node& group) noexcept;

/// Columns that cannot be read are left out, which the store's note tells. Throws corrupt.
std::shared_ptr<Store> open_table(std::shared_ptr<ByteSource> file, const Hierarchy& hierarchy,
                                  const Node& group);

}  // namespace dapple::detail::zarr
