// What a node of a Zarr hierarchy is opened as.
#pragma once

#include <memory>
#include <string_view>

#include "lib/foreign/zarr/array_data.h"
#include "lib/foreign/zarr/hierarchy.h"
#include "lib/object/names.h"
#include "lib/object/store.h"

namespace dapple::detail::zarr {

/// Of the rows and columns of a matrix.
struct AxisNames {
  ReadNames rows, cols;

  /// Those of which there are as many as rows and columns. REQUIRES the shape.
  void give_to(Schema& schema) const;
};

/// What the tables beside a matrix at this path call its rows and columns, read when they are asked
/// for: their indexes, where these have as many words.
AxisNames names_beside(const std::shared_ptr<const Hierarchy>& hierarchy, std::string_view path);

/// An array of numbers, as a matrix.
std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const ArrayData> data, const Node& node,
                                  AxisNames names);

/// True for groups of anndata's that are one sparse matrix: csr_matrix, csc_matrix.
bool is_sparse(const Node& group) noexcept;

/// Throws corrupt, unsupported.
std::shared_ptr<Store> open_sparse(std::shared_ptr<ByteSource> file, const Hierarchy& hierarchy,
                                   const Node& group, AxisNames names);

/// True for anndata's tables: a group of columns, each an array or a category of codes and words.
bool is_table(const Node& group) noexcept;

/// Columns that cannot be read are left out, which the store's note tells. Throws corrupt.
std::shared_ptr<Store> open_table(std::shared_ptr<ByteSource> file, const Hierarchy& hierarchy,
                                  const Node& group);

}  // namespace dapple::detail::zarr
