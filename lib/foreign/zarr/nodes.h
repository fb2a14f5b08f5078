// What a node of a Zarr hierarchy is opened as.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lib/foreign/arrays/annotated.h"
#include "lib/foreign/zarr/array_data.h"
#include "lib/foreign/zarr/hierarchy.h"
#include "lib/object/store.h"

namespace dapple::detail::zarr {

/// The nodes of a hierarchy, for what anndata makes of several.
class Nodes final : public arrays::Objects {
 public:
  explicit Nodes(std::shared_ptr<const Hierarchy> hierarchy) : hierarchy_(std::move(hierarchy)) {}

  std::optional<arrays::Object> find(const std::string& path) const override;
  arrays::Vector open_vector(const std::string& path) const override;
  Error fault(Errc code, const std::string& path, const std::string& what) const override;

 private:
  std::shared_ptr<const Hierarchy> hierarchy_;
};

/// A node as one of them.
arrays::Object object_of(Node node);

/// An array of numbers, as a matrix. Its names are those of the tables beside it, if `beside` knows
/// of some.
std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const ArrayData> data, const Node& node,
                                  const std::shared_ptr<const arrays::Objects>& beside);

}  // namespace dapple::detail::zarr
