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

/// The nodes of a hierarchy for later. Where it can be read again at once nothing is kept of it,
/// since it tells of all nodes, and each of these may be open.
arrays::FindObjects nodes_later(const std::shared_ptr<const Hierarchy>& hierarchy);

/// An array of numbers, as a matrix. Its names are those of the tables beside it, if `beside` gives
/// some.
std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const ArrayData> data, const Node& node,
                                  const arrays::FindObjects& beside);

}  // namespace dapple::detail::zarr
