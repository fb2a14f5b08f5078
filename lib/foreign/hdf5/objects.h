// What an object in a file is opened as.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lib/foreign/arrays/annotated.h"
#include "lib/foreign/hdf5/data_set.h"
#include "lib/object/store.h"

namespace dapple::detail::hdf5 {

/// The data sets and groups of a file, for what anndata makes of several.
class FileObjects final : public arrays::Objects {
 public:
  explicit FileObjects(std::shared_ptr<const OpenFile> opened) : opened_(std::move(opened)) {}

  std::optional<arrays::Object> find(const std::string& path) const override;
  arrays::Vector open_vector(const std::string& path) const override;
  Error fault(Errc code, const std::string& path, const std::string& what) const override;

 private:
  std::shared_ptr<const OpenFile> opened_;
};

/// A data set as a matrix. Blocks are dense: they are chunks, several together where they are
/// small; strips of rows where there are none.
std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const DataSet> data);

/// What the group at `path` is, by its attributes, or by the data sets of Cell Ranger in it. None
/// for what is no group, too.
arrays::Encoding group_encoding(const FileObjects& objects, const std::string& path);

/// Indices, values and columns are read when rows are, or used in place. Throws corrupt,
/// unsupported.
std::shared_ptr<Store> open_group(std::shared_ptr<const OpenFile> opened,
                                  std::shared_ptr<ByteSource> file, const std::string& path,
                                  arrays::Encoding encoding);

}  // namespace dapple::detail::hdf5
