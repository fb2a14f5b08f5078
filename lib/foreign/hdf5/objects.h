// What an object in a file is opened as.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/foreign/hdf5/data_set.h"
#include "lib/object/store.h"

namespace dapple::detail::hdf5 {

/// A data set as a matrix. Blocks are dense: they are chunks, several together where they are
/// small; strips of rows where there are none.
std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const DataSet> data);

/// Groups that hold a sparse matrix: `data`, `indices` and `indptr`, as anndata and 10x Genomics'
/// Cell Ranger write them.
enum class SparseKind : std::uint8_t {
  csr,
  csc,
  cell_ranger,  // csc, with its shape and the names of its columns in data sets
};

/// What the group at `path` says it is: by anndata's attribute encoding-type, by h5sparse_format of
/// older files, or by the data sets of Cell Ranger in it. Nothing when it is no sparse matrix.
std::optional<SparseKind> sparse_kind(const Session& session, const OpenFile& opened,
                                      const std::string& path);

/// Indices and values are read when rows are, or used in place. Throws corrupt, unsupported.
std::shared_ptr<Store> open_sparse(std::shared_ptr<const OpenFile> opened,
                                   std::shared_ptr<ByteSource> file, const std::string& path,
                                   SparseKind kind);

}  // namespace dapple::detail::hdf5
